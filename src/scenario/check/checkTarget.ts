import { isRest } from '../../usecases/useCase';
import { placeOfValue, type Written } from '../read/readValue';
import type { Scenario, UpstreamSpec } from '../scenario';
import {
  isLocalEndpoint,
  endpointHost,
  connectionStringProblem,
  readConnectionString,
} from '../target/connectionString';
import { serviceOfHost, isLoopbackHost, hostOf } from '../target/hubUrl';
import { referencesIn } from '../target/references';
import { behindOf, connectionStringOf } from '../target/targetKinds';
import { entryPlace, startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Place, Reading } from '../text/scenarioReading';
import { reportLiteralTokens } from './secrets';

/** Checks the target against the service and the use cases. */
export function checkTarget(
  reading: Reading,
  sources: Sources,
  scenario: Scenario,
  written: Written | undefined,
): void {
  const { target } = scenario;
  if (scenario.kind === 'resultparser') return;
  const place =
    written === undefined ? startPlace(reading, sources) : placeOfValue(reading, written);
  const reported = written !== undefined && target === undefined;
  if (!reported) checkKind(reading, sources, scenario, place);
  for (const read of sources.entries) {
    const { useCase } = read;
    if (!read.named || useCase.services.includes(scenario.service)) continue;
    const message = `${useCase.name} does not exist on ${serviceNames[scenario.service]}.`;
    reading.report('error', 'use-case-service', entryPlace(reading, sources, read), message);
  }
  checkServiceHost(reading, sources, scenario, place);
  checkUpstream(reading, sources, scenario);
  checkSignIn(reading, sources, scenario, place);
  reportLiteralTokens(reading, sources, scenario, written);
}

const serviceNames = {
  hub: 'a hub without a service',
  signalr: 'Azure SignalR Service',
  webpubsub: 'Azure Web PubSub',
} as const;

function checkKind(reading: Reading, sources: Sources, scenario: Scenario, place: Place): void {
  const { target } = scenario;
  const rest = sources.entries.find(({ useCase, named }) => named && isRest(useCase));
  const behind = behindOf(target);
  if (behind === 'service') return;
  if (scenario.connectionType === 'AspNet' && behind !== 'userHub') {
    const message =
      'ASP.NET SignalR needs the URL of its server in webAppTarget: there is no embedded one.';
    const at = writtenPlace(reading, sources.config, 'connectionType') ?? place;
    reading.report('error', 'no-target', at, message);
    return;
  }
  if (behind === 'ownServer') return;
  if (rest !== undefined) {
    const at = target === undefined ? entryPlace(reading, sources, rest) : place;
    reading.report(
      'error',
      'connection-string-needed',
      at,
      `${rest.useCase.name} sends through the REST API of a service: write its connectionString, for example \${secret:signalr}, or target: local for the emulator.`,
    );
  } else if (scenario.service === 'webpubsub') {
    reading.report(
      'error',
      'connection-string-needed',
      target === undefined ? (writtenPlace(reading, sources.config, 'service') ?? place) : place,
      'Azure Web PubSub needs a connection string: write connectionString, for example ${secret:webpubsub}, or target: local for the emulator.',
    );
  } else if (target === undefined) {
    reading.report(
      'info',
      'no-target',
      place,
      `The file names no target, so ${scenario.service === 'signalr' ? 'the emulator of Azure SignalR Service' : 'the embedded local hub'} is used. Write target: local to say so, or a hub URL.`,
    );
  }
}

function checkServiceHost(
  reading: Reading,
  sources: Sources,
  { target, service }: Scenario,
  place: Place,
): void {
  const text = connectionStringOf(target);
  if (text === undefined) return;
  const other = serviceOfHost(endpointHost(text) ?? '');
  if (other === undefined || other === service) return;
  reading.report(
    'error',
    'service-host',
    writtenPlace(reading, sources.config, 'service') ?? place,
    `The connection string belongs to ${serviceNames[other]}: write service: ${other}, or another connection string.`,
    sources.config.written.has('service') ? { title: `Write ${other}`, text: other } : undefined,
  );
}

function checkUpstream(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { target, upstream } = scenario;
  const text = connectionStringOf(target);
  if (upstream === undefined || text === undefined) return;
  if (endpointHost(text) === undefined || isLocalEndpoint(text)) return;
  const message = unreachableUpstream(upstream);
  if (message === undefined) return;
  reading.report('error', 'upstream-url', sources.config.written.get('upstream')!.key, message);
}

/** What a handler lacks that a service elsewhere is to reach, as a sentence; undefined when it lacks nothing. */
export function unreachableUpstream({ port, publicUrl }: UpstreamSpec): string | undefined {
  const missing = [
    ...(port === 0
      ? ['upstream.port, such as 7071, where the handler listens on this machine']
      : []),
    ...(publicUrl === undefined
      ? ['upstream.publicUrl, the URL of a tunnel or a gateway that leads to that port']
      : []),
  ];
  if (missing.length === 0) return undefined;
  return `The service cannot reach a handler on this machine by itself: write ${missing.join(', and ')}.`;
}

/** Variable of the environment with further hosts that tokens may go to, separated by commas. */
export const hostsVariable = 'SIGNALR_BENCH_SIGN_IN_HOSTS';

/** Why a token of Microsoft Entra ID is not shown to a server. */
interface SignInRefusal {
  readonly why: 'http' | 'insecureTls' | 'caFile' | 'host';
  readonly message: string;
}

/** @param endpoint where the token would go, on another machine */
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
  if (serviceOfHost(host) !== undefined) return undefined;
  const message = `${host} is no host of Azure SignalR Service or Azure Web PubSub, so the sign-in is not shown to it. If it is a gateway or a domain of yours, name it in the environment variable ${hostsVariable}.`;
  return { why: 'host', message };
}

/** Checks what a run would refuse of a sign-in or a certificate. */
export function checkSignIn(
  reading: Reading,
  { config }: Sources,
  scenario: Scenario,
  target: Place,
): void {
  const keyFile = writtenPlace(reading, config, 'keyFile');
  if (keyFile !== undefined && scenario.certFile === undefined) {
    const message = 'keyFile is given without certFile, the certificate it belongs to.';
    reading.report('error', 'client-certificate', keyFile, message);
  }
  const value = connectionStringOf(scenario.target);
  if (value === undefined) return;
  // What a reference stands for is not known when the file is read.
  if (referencesIn(value).length > 0 || connectionStringProblem(value) !== undefined) return;
  const { signIn, serverEndpoint } = readConnectionString(value);
  if (signIn === undefined || isLoopbackHost(hostOf(serverEndpoint) ?? '')) return;
  const refusal = signInRefusal(serverEndpoint, scenario);
  if (refusal === undefined) return;
  const { why, message } = refusal;
  // The environment may allow the host.
  const severity = why === 'host' ? 'warning' : 'error';
  reading.report(
    severity,
    'connection-string',
    writtenPlace(reading, config, why) ?? target,
    message,
  );
}
