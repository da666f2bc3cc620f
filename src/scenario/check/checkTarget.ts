import { azureServices, isAzure, serviceOfHost, services } from '../../base/services';
import { isRest } from '../../usecases/useCase';
import type { ReadEntry } from '../read/readEntries';
import { placeOfValue, type Written } from '../read/readValue';
import type { Scenario, UpstreamSpec } from '../scenario';
import {
  connectionStringProblem,
  endpointHost,
  isLocalEndpoint,
  readConnectionString,
} from '../target/connectionString';
import { hostOf, isLoopbackHost } from '../target/hubUrl';
import { referencesIn } from '../target/references';
import { behindOf, connectionStringOf } from '../target/targetKinds';
import { writing, type Place } from '../text/scenarioReading';
import { entryPlace, startPlace, writtenPlace, type Checked } from './checked';
import { reportLiteralTokens } from './secrets';

/** Checks the target, whose key is `written`, against the service and the use cases. */
export function checkTarget(checked: Checked, written: Written | undefined): void {
  const { reading, scenario } = checked;
  if (scenario.kind === 'resultparser') return;
  const place = written === undefined ? startPlace(checked) : placeOfValue(reading, written);
  const isReported = written !== undefined && scenario.target === undefined;
  if (!isReported) checkKind(checked, place);
  for (const read of checked.entries) {
    const { useCase } = read;
    if (!read.named || useCase.services.includes(scenario.service)) continue;
    const message = `${useCase.name} does not exist on ${services[scenario.service].name}.`;
    reading.report('error', 'use-case-service', entryPlace(checked, read), message);
  }
  checkServiceHost(checked, place);
  checkUpstream(checked);
  checkCertificate(checked);
  checkSignIn(checked, place);
  reportLiteralTokens(checked, written);
}

function checkKind(checked: Checked, place: Place): void {
  const { reading, config, scenario } = checked;
  const { target, service, connectionType } = scenario;
  const behind = behindOf(target);
  if (behind === 'service') return;
  if (connectionType === 'AspNet' && behind !== 'userHub') {
    const message =
      'ASP.NET SignalR needs the URL of its server in webAppTarget: there is no embedded one.';
    const at = writtenPlace(reading, config, 'connectionType') ?? place;
    reading.report('error', 'no-target', at, message);
    return;
  }
  if (behind === 'ownServer') return;
  const rest = checked.entries.find(({ useCase, named }) => named && isRest(useCase));
  if (rest !== undefined || !services[service].speaksHub) {
    reportNeeded(checked, rest, place);
  } else if (target === undefined) {
    const used = isAzure(service)
      ? `the emulator of ${services[service].name}`
      : 'the embedded local hub';
    const message = `The file names no target, so ${used} is used. Write target: local to say so, or a hub URL.`;
    reading.report('info', 'no-target', place, message);
  }
}

/** Of a service that only a connection string leads to; `rest` sends through its REST API. */
function reportNeeded(checked: Checked, rest: ReadEntry | undefined, place: Place): void {
  const { reading, config, scenario } = checked;
  const message =
    rest === undefined
      ? `${services[scenario.service].name} needs a connection string: write connectionString, for example \${secret:${scenario.service}}, or target: local for the emulator.`
      : `${rest.useCase.name} sends through the REST API of a service: write its connectionString, for example \${secret:signalr}, or target: local for the emulator.`;
  const cause =
    rest === undefined ? writtenPlace(reading, config, 'service') : entryPlace(checked, rest);
  const at = scenario.target === undefined ? (cause ?? place) : place;
  reading.report('error', 'connection-string-needed', at, message);
}

function checkServiceHost({ reading, config, scenario }: Checked, place: Place): void {
  const text = connectionStringOf(scenario.target);
  const other = serviceOfHost((text && endpointHost(text)) ?? '');
  if (other === undefined || other === scenario.service) return;
  const written = writtenPlace(reading, config, 'service');
  const message = `The connection string belongs to ${services[other].name}: write service: ${other}, or another connection string.`;
  reading.report('error', 'service-host', written ?? place, message, writing(written && other));
}

function checkUpstream({ reading, config, scenario }: Checked): void {
  const { target, upstream } = scenario;
  const text = connectionStringOf(target);
  if (upstream === undefined || text === undefined) return;
  if (endpointHost(text) === undefined || isLocalEndpoint(text)) return;
  const message = unreachableUpstream(upstream);
  if (message === undefined) return;
  reading.report('error', 'upstream-url', config.written.get('upstream')!.key, message);
}

/** What a handler lacks that a service elsewhere is to reach, as a sentence; undefined when it lacks nothing. */
export function unreachableUpstream({ port, publicUrl }: UpstreamSpec): string | undefined {
  const missing = [
    port === 0 && 'upstream.port, such as 7071, where the handler listens on this machine',
    publicUrl === undefined &&
      'upstream.publicUrl, the URL of a tunnel or a gateway that leads to that port',
  ].filter((text) => text !== false);
  if (missing.length === 0) return undefined;
  return `The service cannot reach a handler on this machine by itself: write ${missing.join(', and ')}.`;
}

function checkCertificate({ reading, config, scenario }: Checked): void {
  const keyFile = writtenPlace(reading, config, 'keyFile');
  if (keyFile === undefined || scenario.certFile !== undefined) return;
  const message = 'keyFile is given without certFile, the certificate it belongs to.';
  reading.report('error', 'client-certificate', keyFile, message);
}

/** Variable of the environment with further hosts that tokens may go to, separated by commas. */
export const hostsVariable = 'SIGNALR_BENCH_SIGN_IN_HOSTS';

/** Why a token of Microsoft Entra ID is not shown to a server. */
export interface SignInRefusal {
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
  const names = azureServices.map((service) => services[service].name).join(' or ');
  const message = `${host} is no host of ${names}, so the sign-in is not shown to it. If it is a gateway or a domain of yours, name it in the environment variable ${hostsVariable}.`;
  return { why: 'host', message };
}

/** Checks what a run would refuse of a sign-in. */
function checkSignIn({ reading, config, scenario }: Checked, target: Place): void {
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
  const place = writtenPlace(reading, config, why) ?? target;
  reading.report(severity, 'connection-string', place, message);
}
