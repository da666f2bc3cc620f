import {
  connectRateLimit,
  isHubName,
  connectionLimit,
  type ServiceSize,
} from '../../base/serviceLimits';
import { formatCount } from '../../base/units';
import { useCases } from '../../usecases/registry';
import { isRest, runsUpstream } from '../../usecases/useCase';
import type { Scenario } from '../scenario';
import { isServerless, serverConnectionsOf } from '../target/serverConnections';
import { behindOf } from '../target/targetKinds';
import { entryPlace, startPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';

/** Checks a scenario for a service against the rules of the service and the size that the file names. */
export function checkService(reading: Reading, sources: Sources, scenario: Scenario): void {
  if (scenario.kind === 'resultparser') return;
  reportIdleKeys(reading, sources, scenario);
  if (scenario.service === 'hub') return;
  checkHubName(reading, sources, scenario);
  checkMode(reading, sources, scenario);
  checkUpstreamUseCases(reading, sources, scenario);
  checkConnectRate(reading, sources, scenario);
  checkServerConnections(reading, sources, scenario);
}

/** Keys about app servers, where a run has none of its own. */
function reportIdleKeys(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { service, target, upstream } = scenario;
  const why =
    service !== 'signalr'
      ? `with ${service === 'hub' ? 'a hub without a service' : 'Azure Web PubSub'}`
      : behindOf(target) === 'userHub'
        ? 'where the target is the URL of your own app server'
        : upstream !== undefined
          ? 'with `upstream`, which takes their place'
          : isServerless(scenario)
            ? 'with use cases of the REST API, which need none'
            : undefined;
  if (why === undefined) return;
  for (const name of ['appServers', 'serverConnections', 'serverStickyMode']) {
    const place = writtenPlace(reading, sources.config, name);
    if (place === undefined) continue;
    const message = `A run starts app servers for Azure SignalR Service in default mode only: ${name} has no effect ${why}.`;
    reading.report('info', 'no-effect', place, message);
  }
}

function checkHubName(reading: Reading, sources: Sources, { hub }: Scenario): void {
  const place = writtenPlace(reading, sources.config, 'hub');
  if (place === undefined || isHubName(hub)) return;
  reading.report(
    'error',
    'hub-name',
    place,
    'This is no hub name: it begins with a letter, and has up to 128 letters, digits and the signs _ ` , . [ ].',
  );
}

/** REST callers need serverless mode, and hub methods need an app server or an upstream. */
function checkMode(
  reading: Reading,
  sources: Sources,
  { service, target, upstream }: Scenario,
): void {
  if (service !== 'signalr' || behindOf(target) === 'userHub' || upstream !== undefined) return;
  const named = sources.entries.filter((read) => read.named);
  const rest = named.find(({ useCase }) => isRest(useCase));
  const hub = named.find(({ useCase }) => !isRest(useCase));
  if (rest === undefined || hub === undefined) return;
  reading.report(
    'error',
    'service-mode',
    entryPlace(reading, sources, named.indexOf(rest) < named.indexOf(hub) ? hub : rest),
    `A hub is in default or serverless mode: ${rest.useCase.name} and ${hub.useCase.name} mix only with \`upstream\`. Write upstream under config, or run them from two files.`,
  );
}

/** What a service in serverless mode cannot pass on to its upstream, or the upstream not back. */
function checkUpstreamUseCases(
  reading: Reading,
  sources: Sources,
  { service, target, upstream, protocol }: Scenario,
): void {
  if (service !== 'signalr' || behindOf(target) === 'userHub' || upstream === undefined) return;
  const named = sources.entries.filter((read) => read.named);
  for (const read of named.filter(({ useCase }) => !runsUpstream(useCase))) {
    reading.report(
      'error',
      'upstream-use-case',
      entryPlace(reading, sources, read),
      `${read.useCase.name} does not run with \`upstream\`: the handler has the methods of ${upstreamNames()} only. Remove upstream to run it in default mode.`,
    );
  }
  const invoking = named.find(({ useCase: { run } }) => run.message && run.via === undefined);
  if (protocol !== 'messagepack' || invoking === undefined) return;
  reading.report(
    'error',
    'upstream-protocol',
    writtenPlace(reading, sources.config, 'protocol') ?? startPlace(reading, sources),
    `${invoking.useCase.name} does not run over messagepack with \`upstream\`: the handler answers by REST calls, which are JSON and have no form for bytes. Take json.`,
    { title: 'Write json', text: 'json' },
  );
}

/** Use cases whose methods the handler has, in words. */
function upstreamNames(): string {
  const names = useCases
    .filter((useCase) => useCase.hubMethods !== undefined && runsUpstream(useCase))
    .map(({ name }) => name);
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const sizeOf = ({ unit, sku }: Scenario): number | 'free' | undefined =>
  sku === 'free' ? 'free' : unit;

const sizeWords = ({ unit, sku }: Scenario): string =>
  sku === 'free' ? 'The Free tier' : `Unit ${formatCount(unit ?? 1)}`;

/** Only a hint: the figures come from a comment of a maintainer, no document has them. */
function checkConnectRate(reading: Reading, sources: Sources, scenario: Scenario): void {
  const limit = connectRateLimit(sizeOf(scenario));
  if (scenario.arrivingRate <= limit) return;
  reading.report(
    'info',
    'connect-rate',
    writtenPlace(reading, sources.config, 'arrivingRate', 'unit', 'sku') ??
      startPlace(reading, sources),
    `${sizeWords(scenario)} may refuse more than ${formatCount(limit)} new connections per second with 429 (a maintainer of Azure SignalR said so; no document does).`,
  );
}

/** Where clients fit the size that the file names, and its server connections do not. */
function checkServerConnections(reading: Reading, sources: Sources, scenario: Scenario): void {
  const message = serverConnectionsProblem(
    scenario.connections,
    serverConnectionsOf(scenario) ?? 0,
    sizeOf(scenario),
    sizeWords(scenario).replace('The', 'the'),
  );
  if (message === undefined) return;
  const writtenBy = isServerless(scenario) ? ['workers'] : ['serverConnections', 'appServers'];
  const place = writtenPlace(reading, sources.config, ...writtenBy, 'connections');
  reading.report('warning', serverConnectionsCode, place ?? startPlace(reading, sources), message);
}

/** Code of the problem that clients fit a size and server connections do not. */
const serverConnectionsCode = 'server-connections';

/**
 * Says that clients fit a size, but not with the server connections beside them; undefined where both fit, and
 * where the clients alone are too many.
 *
 * @param place the size as it stands in a sentence: `Unit 1`, `the Free tier`
 */
export function serverConnectionsProblem(
  clients: number,
  servers: number,
  size: ServiceSize | undefined,
  place: string,
): string | undefined {
  const limit = connectionLimit(size);
  if (clients > limit || clients + servers <= limit) return undefined;
  return `${formatCount(clients)} clients and ${formatCount(servers)} server connection${servers === 1 ? '' : 's'} are more than the ${formatCount(limit)} connections of ${place}: server connections count too.`;
}
