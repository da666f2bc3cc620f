/** Checks of the target and its sign-in, and that no secret stands in the file. */
import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { isSecretName, replaceSecretArguments } from '../../base/secrets';
import { isThisMachine } from '../../base/endpoint';
import { azureServices, isAzure, findServiceByHost, services } from '../../base/serviceTraits';
import { configKeys, type UpstreamSpec } from '../keys/configKeys';
import { secretPaths } from '../keys/keySpec';
import { sendsByRest } from '../../usecases/useCase';
import type { ScenarioFile } from '../read/buildScenario';
import { isEmptyNode, scalarText, partOf, type Written } from '../read/readValue';
import type { Scenario } from '../scenario';
import {
  connectionStringProblem,
  endpointHost,
  isLocalEndpoint,
  readConnectionString,
  isPlaceholderKey,
  targetRole,
  connectionStringOf,
  urlsOf,
} from '../target/targetKinds';
import { classicHubNeeded, classicHubOf, classicHubsDiffer, hostOf } from '../target/hubUrl';
import { referencesIn } from '../target/references';
import { scalarContent, type Place, type Reading } from '../text/scenarioReading';

export function checkTarget(file: ScenarioFile): void {
  const { error, at, entries, scenario, targetKey } = file;
  if (scenario.kind === 'resultparser') return;
  const place = targetKey?.place ?? at();
  const isReported = targetKey !== undefined && scenario.target === undefined;
  if (!isReported) checkKind(file, place);
  for (const { isKnown, useCase, at: entryAt } of entries) {
    if (!isKnown || useCase.services.includes(scenario.service)) continue;
    const message = `${useCase.name} does not exist on ${services[scenario.service].name}.`;
    error('use-case-service', entryAt(), message);
  }
  checkClassic(file, place);
  checkConnectionString(file, place);
  const certificate = 'keyFile is given without certFile, the certificate it belongs to.';
  const keyFile = scenario.certFile === undefined ? file.config.at('keyFile') : undefined;
  error('client-certificate', keyFile, certificate);
  reportLiterals(file);
}

function checkKind(file: ScenarioFile, place: Place): void {
  const { error, info, config, entries, scenario } = file;
  const { target, service } = scenario;
  const behind = targetRole(target);
  if (behind === 'service' || behind === 'ownServer') return;
  const rest = entries.find(({ useCase, isKnown }) => isKnown && sendsByRest(useCase));
  const { name, speaksHub } = services[service];
  if (rest !== undefined || !speaksHub) {
    const message =
      rest === undefined
        ? `${name} needs a connection string: write connectionString, for example \${secret:${service}}, or target: local for the emulator.`
        : `${rest.useCase.name} sends through the REST API of a service: write its connectionString, for example \${secret:signalr}, or target: local for the emulator.`;
    const cause = target === undefined ? (rest?.at() ?? config.at('service')) : undefined;
    error('connection-string-needed', cause ?? place, message);
  } else if (target === undefined) {
    const used = isAzure(service) ? `the emulator of ${name}` : 'the embedded local hub';
    const message = `The file names no target, so ${used} is used. Write target: local to say so, or a hub URL.`;
    info('no-target', place, message);
  }
}

/** The last part of a URL is the name of the hub, as in the Azure SignalR benchmark; all connections call the same one. */
function checkClassic({ error, info, config, scenario }: ScenarioFile, place: Place): void {
  if (scenario.connectionType !== 'AspNet') return;
  const names = urlsOf(scenario.target).flatMap(classicHubOf);
  if (names.includes('')) error('target-url', place, classicHubNeeded);
  else if (new Set(names).size > 1) error('target-url', place, classicHubsDiffer(names));
  if (scenario.protocol !== 'json')
    info(
      'no-effect',
      config.at('protocol'),
      'ASP.NET SignalR has one protocol, JSON: protocol has no effect.',
    );
}

function checkConnectionString(file: ScenarioFile, place: Place): void {
  const { error, config, scenario } = file;
  const text = connectionStringOf(scenario.target);
  if (text === undefined) return;
  const host = endpointHost(text);
  const other = findServiceByHost(host ?? '');
  if (other !== undefined && other !== scenario.service) {
    const written = config.at('service');
    const message = `The connection string belongs to ${services[other].name}: write service: ${other}, or another connection string.`;
    error('service-host', written ?? place, message, written && other);
  }
  if (scenario.upstream !== undefined && host !== undefined && !isLocalEndpoint(text)) {
    const message = upstreamProblem(scenario.upstream);
    if (message !== undefined) error('upstream-url', config.written.get('upstream')!.key, message);
  }
  checkSignIn(file, text, place);
}

/** Undefined where a service elsewhere can reach the handler. */
export function upstreamProblem({ port, publicUrl }: UpstreamSpec): string | undefined {
  const missing = [
    port === 0 && 'upstream.port, such as 7071, where the handler listens on this machine',
    publicUrl === undefined &&
      'upstream.publicUrl, the URL of a tunnel or a gateway that leads to that port',
  ].filter((text) => text !== false);
  if (missing.length === 0) return undefined;
  return `The service cannot reach a handler on this machine by itself: write ${missing.join(', and ')}.`;
}

export const signInHostsVariable = 'SIGNALR_BENCH_SIGN_IN_HOSTS';

interface SignInRefusal {
  readonly why: 'http' | 'insecureTls' | 'caFile' | 'host';
  readonly message: string;
}

export function signInRefusal(
  endpoint: string,
  { insecureTls, caFile }: Pick<Scenario, 'insecureTls' | 'caFile'>,
): SignInRefusal | undefined {
  if (!/^https:/i.test(endpoint)) {
    const message =
      'AuthType needs an Endpoint with https: a token of Microsoft Entra ID must not be read on the way.';
    return { why: 'http', message };
  }
  if (insecureTls || caFile !== undefined) {
    const why = insecureTls ? 'insecureTls' : 'caFile';
    const message = `AuthType does not go with ${why}: whoever stands in between could take the token of Microsoft Entra ID. Name a certificate authority of your own in the environment variable NODE_EXTRA_CA_CERTS.`;
    return { why, message };
  }
  const host = hostOf(endpoint) ?? '';
  if (findServiceByHost(host) !== undefined) return undefined;
  const names = azureServices.map((service) => services[service].name).join(' or ');
  const message = `${host} is not a host of ${names}, so the sign-in is not shown to it. If it is a gateway or a domain of yours, name it in the environment variable ${signInHostsVariable}.`;
  return { why: 'host', message };
}

function checkSignIn(file: ScenarioFile, value: string, target: Place): void {
  const { config, scenario } = file;
  // A reference has no value yet.
  if (referencesIn(value).length > 0 || connectionStringProblem(value) !== undefined) return;
  const { signIn, serverEndpoint } = readConnectionString(value);
  if (signIn === undefined || isThisMachine(hostOf(serverEndpoint) ?? '')) return;
  const refusal = signInRefusal(serverEndpoint, scenario);
  if (refusal === undefined) return;
  const { why, message } = refusal;
  // The environment may allow the host.
  const report = why === 'host' ? file.warning : file.error;
  report('connection-string', config.at(why) ?? target, message);
}

export const secretInFileCode = 'secret-in-file';
const maximumFindings = 20;
const longestString = 2000;

const secretWords = (what: string): string =>
  `${what} stands in this file. Keep it outside and write a reference: \${env:NAME} or \${secret:name}.`;

/** Access keys, also in comments; they are never part of a message. */
export function reportSecrets({ text, warning }: Reading): void {
  let findings = 0;
  for (const match of text.matchAll(/\baccesskey\s*=\s*([^\s;"',]+)/gi)) {
    const key = match[1]!;
    const start = match.index + match[0].length - key.length;
    if (key.startsWith('${') || isPlaceholderKey(key)) continue;
    const before = text.slice(Math.max(0, start - longestString), start);
    const line = before.slice(before.lastIndexOf('\n') + 1);
    const endpoint = line.toLowerCase().lastIndexOf('endpoint=');
    if (endpoint !== -1 && isLocalEndpoint(line.slice(endpoint))) continue;
    findings += 1;
    if (findings > maximumFindings) return;
    // Inside a flow map the braces of a reference would end the value.
    const instead = line.includes('{') ? undefined : '${secret:accessKey}';
    const place = { offset: start, length: key.length };
    warning(secretInFileCode, place, secretWords('An access key'), instead);
  }
}

/** At the text itself, without quotes, so that it can be moved elsewhere. */
function reportLiterals(file: ScenarioFile): void {
  const { config, scenario, targetKey } = file;
  const warn = (place: Place, what: string): void => {
    if (place.override === undefined) file.warning(secretInFileCode, place, secretWords(what));
  };
  let looks = 0;
  const visit = (node: Node | null | undefined, keys: readonly string[], words?: string): void => {
    const value = file.resolve(node);
    if (file.isFull() || keys.length > deepestSecret || (looks += 1) > mostLooks) return;
    if (isMap(value))
      for (const pair of value.items) {
        if (!isScalar(pair.key)) continue;
        const name = scalarText(pair.key);
        visit(pair.value as Node | null, [...keys, name], wordsFor([...keys, name]) ?? words);
      }
    else if (isSeq(value)) {
      const items = value.items as (Node | null)[];
      const isCommand = keys.join('.') === 'identities.command';
      const open = isCommand ? replaceSecretArguments(items.map(String), () => '') : [];
      for (const [at, item] of items.entries())
        visit(item, keys, isCommand && open[at] !== String(item) ? 'A secret' : words);
    } else if (isScalar(value) && words !== undefined && isLiteral(scalarText(value)))
      warn(contentPlace(file, value), words);
  };
  for (const name of ['accessToken', 'keyPassword', 'headers', 'query', 'identities', 'observe'])
    visit(config.written.get(name)?.value, [name], wordsFor([name]));
  if (!urlsOf(scenario.target).some(carriesSecret)) return;
  for (const place of urlPlaces(file, targetKey).slice(0, maximumFindings))
    warn(place, 'A token or password');
}

/** Claims of an identity lie that deep. */
const deepestSecret = 5;
/** Aliases may make a few lines stand for any number of values. */
const mostLooks = 100_000;
const secretKeys = new Map(secretPaths(configKeys));
const ownNames = ['headers', 'query', 'env', 'claims'];

function wordsFor(keys: readonly string[]): string | undefined {
  const ours = secretKeys.get(keys.join('.'));
  const name = keys.at(-1)!;
  const isOwn = ownNames.includes(keys.at(-2) ?? '') || keys.at(-2) === 'identities';
  if (ours !== undefined || !isOwn || !isSecretName(name)) return ours;
  if (keys[0] !== 'identities' && name.toLowerCase() === 'authorization')
    return 'An authorization header';
  return keys.at(-2) === 'identities' ? 'A secret of an identity' : 'A secret';
}

const isLiteral = (text: string): boolean =>
  text !== '' && referencesIn(text).length === 0 && !/\{(?:identity|data)\./.test(text);

function carriesSecret(url: string): boolean {
  if (/[?&]access_token=(?!\$\{)/i.test(url)) return true;
  const user = /^[a-z]+:\/\/([^/?#]*)@/i.exec(url)?.[1];
  return user !== undefined && /:(?!\$\{)/.test(user);
}

function urlPlaces(reading: Reading, target: Written | undefined): Place[] {
  const node = reading.resolve(target?.value);
  const nodes = isSeq(node) ? (node.items as (Node | null)[]) : [node];
  return nodes.flatMap((value) => {
    const scalar = reading.resolve(value);
    if (!isScalar(scalar) || isEmptyNode(scalar)) return [];
    const whole = scalarText(scalar);
    const parts = whole.split(',');
    let offset = 0;
    return parts.flatMap((part) => {
      const url = part.trim();
      const start = offset + part.indexOf(url);
      offset += part.length + 1;
      if (!carriesSecret(url)) return [];
      return parts.length === 1
        ? [contentPlace(reading, scalar)]
        : [partOf(reading, reading.placeOf(scalar), whole, { offset: start, length: url.length })];
    });
  });
}

function contentPlace(reading: Reading, scalar: Scalar): Place {
  const place = reading.placeOf(scalar);
  return place.override === undefined ? scalarContent(reading.text, scalar) : place;
}
