import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import type {
  ClientCertificate,
  Endpoint,
  PersonalEndpoint,
  ProxySettings,
} from '../base/endpoint';
import { ExpectedError } from '../base/expectedError';
import { isSecretName } from '../base/secrets';
import { connectionPlaceholders, hasNoPlaceholders, type PersonalPart } from '../base/personalText';
import type { Scenario } from '../scenario/scenario';
import type { Parameters } from '../usecases/parameters';
import { classicHubNeeded, classicHubOf, classicHubsDiffer } from '../scenario/target/hubUrl';
import { referencesIn, resolveReferences, secretVariable } from '../scenario/target/references';
import { isAllowedHost, unusableAddresses } from '../wire/socket/hosts';
import { decodeOrKeep, proxyFor } from '../wire/socket/proxy';
import { requiredColumns, resolvedParts } from './identities/rowColumns';
import {
  resolveIdentities,
  type IdentityRequest,
  type ResolvedIdentities,
} from './identities/resolveIdentities';
import { secretForms } from './identities/rowSecrets';
import { environmentSetting } from './target';
import type { TargetContext } from './target';

/** The one place where secrets enter. @throws ExpectedError `missing-reference` with all that are missing */
export async function resolveEndpoint(
  urls: readonly string[],
  scenario: Scenario,
  context: TargetContext,
): Promise<Endpoint> {
  const missing = new Set<string>();
  const resolve = (text: string): string => {
    const resolved = resolveReferences(text, (kind, name) => context.reference(kind, name));
    for (const { kind, name } of resolved.missing) missing.add(whereToSet(kind, name));
    return resolved.text;
  };
  const partsOf = (text: string): readonly PersonalPart[] =>
    resolvedParts(text, connectionPlaceholders, resolve);
  const resolveAll = (texts: Readonly<Record<string, string>>): Personal[] =>
    Object.entries(texts).map(([name, text]) => [name, partsOf(text)]);
  const resolvedTexts = urls.map(resolve);
  const headers = resolveAll(scenario.headers);
  const query = resolveAll(scenario.query);
  const token = scenario.accessToken === undefined ? undefined : partsOf(scenario.accessToken);
  const identities = resolveIdentities(scenario, resolve);
  const keyPassword =
    scenario.keyPassword === undefined ? undefined : resolve(scenario.keyPassword);
  refuseMissing(missing);
  for (const [position, url] of urls.entries()) refuseEmpty(url, resolvedTexts[position]!);
  const hubs = resolvedTexts.flatMap((text) => text.split(',')).map((url) => hubUrl(url.trim()));
  if (scenario.connectionType === 'AspNet') refuseClassicHubs(hubs);
  assertHostsAllowed(hubs, context);
  const proxies = proxySettings(hubs, (name) => environmentSetting(context, name));
  const client = await clientCertificate(scenario, keyPassword, context);
  const texts = {
    headers: Object.fromEntries(headers.filter(isPersonal)),
    query: Object.fromEntries(query.filter(isPersonal)),
    ...(token !== undefined && !hasNoPlaceholders(token) && { accessToken: token }),
  };
  const personal = await personalOf(scenario, identities, texts, context);
  return {
    urls: hubs,
    headers: sameForAll(headers),
    query: sameForAll(query),
    ...(personal !== undefined && { personal }),
    ...(token !== undefined && hasNoPlaceholders(token) && { accessToken: plainText(token) }),
    ...(scenario.caFile === undefined ? {} : { ca: await authority(scenario.caFile, context) }),
    ...(client === undefined ? {} : { clientCertificate: client }),
    ...(proxies === undefined ? {} : { proxies }),
    ...(await localAddressesOf(scenario, hubs, proxies)),
    insecureTls: scenario.insecureTls,
    skipNegotiation: scenario.skipNegotiation,
    ...(context.allowedHosts !== undefined && { allowedHosts: context.allowedHosts }),
    ...(scenario.connectionType === 'AspNet' && { classic: true as const }),
    ...(scenario.transport === 'Websockets' ? {} : { transport: scenario.transport }),
    ...(scenario.driver === 'native' ? {} : { driver: scenario.driver }),
  };
}

/** @param named whether the host may be shown: it may come from a secret @throws ExpectedError `target-host` */
export function assertHostsAllowed(
  urls: readonly string[],
  { allowedHosts }: Pick<TargetContext, 'allowedHosts'>,
  named = false,
): void {
  if (allowedHosts === undefined) return;
  const refused = urls.find((url) => !isAllowedHost(url, allowedHosts));
  if (refused === undefined) return;
  const { hostname } = new URL(refused);
  throw new ExpectedError(
    'target-host',
    named
      ? `the run signs in at ${hostname}, which this agent does not contact: start it with --allow-target ${hostname} if it may`
      : 'the host of the target gets no load from this agent: start it with --allow-target HOST if it may',
  );
}

/** @throws ExpectedError `local-address` */
async function localAddressesOf(
  { localAddresses }: Scenario,
  hubs: readonly string[],
  proxies: Endpoint['proxies'],
): Promise<Pick<Endpoint, 'localAddresses'>> {
  if (localAddresses === undefined) return {};
  const urls = hubs.map((hub) => new URL(hub));
  const why = whyNotFrom(localAddresses, urls, proxies);
  if (why !== undefined) throw new ExpectedError('local-address', why);
  const [foreign] = await unusableAddresses(localAddresses);
  if (foreign === undefined) return { localAddresses };
  throw new ExpectedError(
    'local-address',
    `Connections cannot come from ${foreign}, which localAddresses names: write addresses of this machine.`,
  );
}

function whyNotFrom(
  addresses: readonly string[],
  urls: readonly URL[],
  proxies: Endpoint['proxies'],
): string | undefined {
  const none = addresses.find((address) => isIP(address) === 0);
  if (none !== undefined)
    return `"${none}" in localAddresses is not an IP address: write addresses of this machine, such as 127.0.0.2.`;
  for (const url of urls) {
    if (proxyFor(url, proxies) !== undefined)
      return `Connections to ${url.host} go through a proxy, and localAddresses has no effect on them: leave localAddresses out, or name ${url.hostname} in NO_PROXY.`;
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const family = isIP(host);
    const other = addresses.find((address) => isIP(address) !== family);
    if (family !== 0 && other !== undefined)
      return `Connections from ${other} in localAddresses cannot reach ${host}, which is an IPv${family} address: write IPv${family} addresses of this machine.`;
  }
  return undefined;
}

type Personal = readonly [name: string, parts: readonly PersonalPart[]];
const plainText = (parts: readonly PersonalPart[]): string =>
  parts.filter((part) => typeof part === 'string').join('');
const isPersonal = ([, parts]: Personal): boolean => !hasNoPlaceholders(parts);
const sameForAll = (texts: readonly Personal[]): Record<string, string> =>
  Object.fromEntries(
    texts.filter((text) => !isPersonal(text)).map(([name, parts]) => [name, plainText(parts)]),
  );

/** @throws ExpectedError `data-file`, `identities` */
async function personalOf(
  scenario: Scenario,
  identities: ResolvedIdentities,
  texts: Omit<PersonalEndpoint, 'identities' | 'data'>,
  context: TargetContext,
): Promise<PersonalEndpoint | undefined> {
  const hasRows = scenario.identities !== undefined || scenario.data !== undefined;
  const { headers, query, accessToken } = texts;
  const isSame = accessToken === undefined && Object.keys({ ...headers, ...query }).length === 0;
  if (!hasRows) return isSame ? undefined : texts;
  // In a bundle of its own: few runs have rows.
  const { openRows } = await import('./identities/openRows.js');
  const needs = requiredColumns(scenario, texts);
  return { ...texts, ...(await openRows(scenario, identities, needs, context)) };
}

export function identityRequestOf(
  scenario: Scenario,
  context: TargetContext,
): IdentityRequest | undefined {
  const value = (text: string): string =>
    resolveReferences(text, (kind, name) => context.reference(kind, name)).text;
  return resolveIdentities(scenario, value).call;
}

/** @throws ExpectedError `missing-reference`, also when the resolved text is empty */
export function resolveText(text: string, context: Pick<TargetContext, 'reference'>): string {
  const resolved = resolveReferences(text, (kind, name) => context.reference(kind, name));
  refuseMissing(new Set(resolved.missing.map(({ kind, name }) => whereToSet(kind, name))));
  refuseEmpty(text, resolved.text);
  return resolved.text;
}

function refuseMissing(missing: ReadonlySet<string>): void {
  if (missing.size === 0) return;
  throw new ExpectedError(
    'missing-reference',
    `These values are referred to, but not set: ${[...missing].join(', ')}.`,
  );
}

/** A variable may be empty as part of a text only. */
function refuseEmpty(text: string, resolved: string): void {
  const references = referencesIn(text);
  if (resolved.trim() !== '' || references.length === 0) return;
  const names = new Set(references.map(({ kind, name }) => whereToSet(kind, name)));
  throw new ExpectedError(
    'missing-reference',
    `These values are referred to, but empty: ${[...names].join(', ')}. Set the URL or connection string there.`,
  );
}

function whereToSet(kind: 'env' | 'secret', name: string): string {
  return kind === 'env'
    ? `environment variable ${name}`
    : `secret ${name} (environment variable ${secretVariable(name)})`;
}

const httpProtocols: Readonly<Record<string, string>> = {
  'ws:': 'http:',
  'wss:': 'https:',
  'http:': 'http:',
  'https:': 'https:',
};

function refuseClassicHubs(urls: readonly string[]): void {
  const names = urls.flatMap(classicHubOf);
  const isNameless = names.includes('');
  if (!isNameless && new Set(names).size <= 1) return;
  throw new ExpectedError('target-url', isNameless ? classicHubNeeded : classicHubsDiffer(names));
}

/** With `http:` or `https:`. Errors do not show the text, which may be a secret. */
function hubUrl(text: string): string {
  if (!URL.canParse(text))
    throw new ExpectedError(
      'target-url',
      'A target is not a URL. Write the whole hub URL, such as http://localhost:5050/signalrbench.',
    );
  const url = new URL(text);
  const protocol = httpProtocols[url.protocol];
  if (protocol === undefined)
    throw new ExpectedError(
      'target-url',
      `A target begins with ${url.protocol}//; hubs are reached over http, https, ws or wss.`,
    );
  return url.href.replace(/^[a-z]+:/, protocol);
}

async function authority(path: string, context: TargetContext): Promise<string> {
  const text = await context.readFile(path);
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new ExpectedError(
      'ca-file',
      `caFile ${path} holds no certificate in PEM form (-----BEGIN CERTIFICATE-----).`,
    );
  return text;
}

function writtenIn(personal: PersonalEndpoint | undefined): string[] {
  if (personal === undefined) return [];
  const { headers, query, accessToken = [], identities } = personal;
  const parts = [...Object.values(headers), ...Object.values(query), accessToken].flat();
  const key = identities?.kind === 'rule' ? [identities.key] : [];
  return [...parts.filter((part) => typeof part === 'string'), ...key];
}

/**
 * Everything that lets us in: token, values of headers and query, user info of hubs and proxies, passwords, and secret
 * arguments of calls.
 */
export function endpointSecrets(
  endpoint: Endpoint,
  { entries }: Pick<Scenario, 'entries'>,
): string[] {
  const inUrls = endpoint.urls.flatMap((text) => {
    const url = new URL(text);
    return [url.username, url.password, ...url.searchParams.values()];
  });
  const values = [
    endpoint.accessToken ?? '',
    ...Object.values(endpoint.headers),
    ...Object.values(endpoint.query),
    ...writtenIn(endpoint.personal),
    ...inUrls,
    ...proxySecrets(endpoint.proxies),
    endpoint.clientCertificate?.passphrase ?? '',
    ...entries.flatMap(({ parameters }) => secretArguments(parameters)),
  ];
  return secretForms(values);
}

/** Arguments are JSON text, also within the steps of a session. */
function secretArguments({ arguments: args, streamingItems, steps }: Parameters): string[] {
  const found: string[] = [];
  const look = (value: unknown, name = ''): void => {
    if (Array.isArray(value)) for (const item of value) look(item, name);
    else if (typeof value === 'object' && value !== null)
      for (const [key, member] of Object.entries(value)) look(member, key);
    else if (isSecretName(name)) found.push(...String(value).split(/\{[^{}]*\}/));
  };
  for (const text of [args, streamingItems]) if (typeof text === 'string') look(JSON.parse(text));
  if (typeof steps === 'string')
    JSON.parse(steps, (key, member) => {
      if (key === 'arguments') look(member);
      return member as unknown;
    });
  return found;
}

/** @throws ExpectedError `client-certificate` */
export async function clientCertificate(
  { certFile, keyFile }: Pick<Scenario, 'certFile' | 'keyFile'>,
  passphrase: string | undefined,
  context: TargetContext,
): Promise<ClientCertificate | undefined> {
  if (certFile === undefined) {
    if (keyFile === undefined) return undefined;
    throw wrong('keyFile is given without certFile, the certificate it belongs to.');
  }
  const cert = await context.readFile(certFile);
  const key = keyFile === undefined ? cert : await context.readFile(keyFile);
  if (!cert.includes('-----BEGIN CERTIFICATE-----'))
    throw wrong(`certFile ${certFile} holds no certificate in PEM form.`);
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(key))
    throw wrong(
      keyFile === undefined
        ? `certFile ${certFile} holds no private key; name the file that does as keyFile.`
        : `keyFile ${keyFile} holds no private key in PEM form.`,
    );
  const found = { cert, key, ...(passphrase === undefined ? {} : { passphrase }) };
  try {
    createSecureContext(found);
  } catch {
    throw wrong(
      `certFile ${certFile} and its key cannot be used: they do not belong together, or keyPassword is missing or wrong.`,
    );
  }
  return found;
}

const wrong = (message: string): ExpectedError => new ExpectedError('client-certificate', message);

const mostExceptions = 1000;

/** Variables in lower case come first. @throws ExpectedError `proxy-url`, without the text, which may hold a password */
export function proxySettings(
  urls: readonly string[],
  environment: (name: string) => string | undefined,
): ProxySettings | undefined {
  const read = (name: string): string =>
    (environment(name.toLowerCase()) || environment(name) || '').trim();
  const except = read('NO_PROXY')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .slice(0, mostExceptions);
  const found: { http?: string; https?: string } = {};
  for (const [scheme, name] of [
    ['http', 'HTTP_PROXY'],
    ['https', 'HTTPS_PROXY'],
  ] as const) {
    const text = read(name);
    if (text === '') continue;
    const proxy = proxyUrl(text);
    if (proxy !== undefined) {
      found[scheme] = proxy;
      continue;
    }
    const probe = { [scheme]: 'http://proxy.invalid', except };
    if (urls.some((url) => proxyFor(new URL(url), probe) !== undefined))
      throw new ExpectedError(
        'proxy-url',
        `The environment variable ${name} is not a URL of a proxy such as http://proxy.example:3128. Correct or remove it, or name the hub in NO_PROXY.`,
      );
  }
  return found.http === undefined && found.https === undefined ? undefined : { ...found, except };
}

function proxyUrl(text: string): string | undefined {
  const whole = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(whole)) return undefined;
  const { protocol, hostname, href } = new URL(whole);
  return /^https?:$/.test(protocol) && hostname !== '' ? href : undefined;
}

function proxySecrets(proxies: ProxySettings | undefined): string[] {
  return [proxies?.http, proxies?.https].flatMap((text) => {
    if (text === undefined) return [];
    const { username, password } = new URL(text);
    return [username, password, decodeOrKeep(username), decodeOrKeep(password)];
  });
}
