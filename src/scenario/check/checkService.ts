import {
  connectionLimit,
  connectRateLimit,
  isHubName,
  type ServiceSize,
} from '../../base/serviceLimits';
import { isAzure, services } from '../../base/services';
import { formatCount } from '../../base/units';
import { useCases, findUseCase } from '../../usecases/registry';
import { isRest, runsUpstream, type UseCase } from '../../usecases/useCase';
import type { Scenario } from '../scenario';
import { behindOf } from '../target/targetKinds';
import { writing } from '../text/scenarioReading';
import { listed } from '../text/words';
import { configPlace, entryPlace, writtenPlace, type Checked } from './checked';

/** Checks a scenario for a service against the rules of the service and the size that the file names. */
export function checkService(checked: Checked): void {
  const { kind, service, target } = checked.scenario;
  if (kind === 'resultparser') return;
  reportIdleKeys(checked);
  if (!isAzure(service)) return;
  checkHubName(checked);
  if (services[service].appServers === 'ofRun' && behindOf(target) !== 'userHub')
    checkMode(checked);
  checkConnectRate(checked);
  checkServerConnections(checked);
}

/** Keys about app servers, where a run has none of its own. */
function reportIdleKeys({ reading, config, scenario }: Checked): void {
  const why = whyNoAppServers(scenario);
  if (why === undefined) return;
  for (const name of ['appServers', 'serverConnections', 'serverStickyMode']) {
    const place = writtenPlace(reading, config, name);
    if (place === undefined) continue;
    const message = `A run starts app servers for Azure SignalR Service in default mode only: ${name} has no effect ${why}.`;
    reading.report('info', 'no-effect', place, message);
  }
}

function whyNoAppServers(scenario: Scenario): string | undefined {
  const { service, target, upstream } = scenario;
  const { appServers, name } = services[service];
  if (appServers !== 'ofRun') return `with ${name}`;
  if (behindOf(target) === 'userHub') return 'where the target is the URL of your own app server';
  if (upstream !== undefined) return 'with `upstream`, which takes their place';
  return isServerless(scenario) ? 'with use cases of the REST API, which need none' : undefined;
}

function checkHubName({ reading, config, scenario }: Checked): void {
  const place = writtenPlace(reading, config, 'hub');
  if (place === undefined || isHubName(scenario.hub)) return;
  const message =
    'This is no hub name: it begins with a letter, and has up to 128 letters, digits and the signs _ ` , . [ ].';
  reading.report('error', 'hub-name', place, message);
}

/** REST callers need serverless mode, and hub methods need an app server or an upstream. */
function checkMode(checked: Checked): void {
  const { reading, scenario } = checked;
  if (scenario.upstream !== undefined) {
    checkUpstreamUseCases(checked);
    return;
  }
  const named = checked.entries.filter((read) => read.named);
  const rest = named.find(({ useCase }) => isRest(useCase));
  const hub = named.find(({ useCase }) => !isRest(useCase));
  if (rest === undefined || hub === undefined) return;
  const second = named.indexOf(rest) < named.indexOf(hub) ? hub : rest;
  const message = `A hub is in default or serverless mode: ${rest.useCase.name} and ${hub.useCase.name} mix only with \`upstream\`. Write upstream under config, or run them from two files.`;
  reading.report('error', 'service-mode', entryPlace(checked, second), message);
}

/** What a service in serverless mode cannot pass on to its upstream, or the upstream not back. */
function checkUpstreamUseCases(checked: Checked): void {
  const { reading, scenario } = checked;
  const named = checked.entries.filter((read) => read.named);
  for (const read of named.filter(({ useCase }) => !runsUpstream(useCase))) {
    const message = `${read.useCase.name} does not run with \`upstream\`: the handler has the methods of ${upstreamNames()} only. Remove upstream to run it in default mode.`;
    reading.report('error', 'upstream-use-case', entryPlace(checked, read), message);
  }
  const invoking = named.find(({ useCase: { run } }) => run.message && run.via === undefined);
  if (scenario.protocol !== 'messagepack' || invoking === undefined) return;
  const message = `${invoking.useCase.name} does not run over messagepack with \`upstream\`: the handler answers by REST calls, which are JSON and have no form for bytes. Take json.`;
  const place = configPlace(checked, 'protocol');
  reading.report('error', 'upstream-protocol', place, message, writing('json'));
}

/** Use cases whose methods the handler has, in words. */
function upstreamNames(): string {
  const answered = useCases.filter(
    (useCase) => useCase.hubMethods !== undefined && runsUpstream(useCase),
  );
  return listed(answered.map(({ name }) => name));
}

const sizeOf = ({ unit, sku }: Scenario): ServiceSize | undefined =>
  sku === 'free' ? 'free' : unit;

const sizeWords = ({ unit, sku }: Scenario): string =>
  sku === 'free' ? 'the Free tier' : `Unit ${formatCount(unit ?? 1)}`;

/** Only a hint: the figures come from a comment of a maintainer, no document has them. */
function checkConnectRate(checked: Checked): void {
  const { reading, scenario } = checked;
  const limit = connectRateLimit(sizeOf(scenario));
  if (scenario.arrivingRate <= limit) return;
  const message = `${sizeWords(scenario).replace('the', 'The')} may refuse more than ${formatCount(limit)} new connections per second with 429 (a maintainer of Azure SignalR said so; no document does).`;
  const place = configPlace(checked, 'arrivingRate', 'unit', 'sku');
  reading.report('info', 'connect-rate', place, message);
}

/** Where clients fit the size that the file names, and its server connections do not. */
function checkServerConnections(checked: Checked): void {
  const { scenario } = checked;
  const servers = serverConnectionsOf(scenario) ?? 0;
  const size = sizeOf(scenario);
  const message = serverConnectionsProblem(
    scenario.connections,
    servers,
    size,
    sizeWords(scenario),
  );
  if (message === undefined) return;
  const writtenBy = isServerless(scenario) ? ['workers'] : ['serverConnections', 'appServers'];
  const place = configPlace(checked, ...writtenBy, 'connections');
  checked.reading.report('warning', serverConnectionsCode, place, message);
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

/** Checks transport, protocol and negotiation against each other. */
export function checkTransport(checked: Checked): void {
  const { service, transport, protocol, skipNegotiation } = checked.scenario;
  const { name, speaksHub } = services[service];
  const report = (key: string, code: string, message: string, instead: string): void =>
    checked.reading.report('error', code, configPlace(checked, key), message, writing(instead));
  if (skipNegotiation && transport !== 'Websockets') {
    const message = `Only Websockets can be opened without negotiate, not ${transport}. Set skipNegotiation to false.`;
    report('skipNegotiation', 'skip-negotiation', message, 'false');
  }
  if (!speaksHub && transport !== 'Websockets') {
    const message = `${name} has WebSockets only, not ${transport}: remove it, or write service: signalr.`;
    report('transport', 'transport-service', message, 'Websockets');
  }
  if (protocol !== 'messagepack') {
    checkBinaryPayloads(checked);
  } else if (!speaksHub) {
    const message = `Clients of ${name} have a subprotocol, not a hub protocol: remove it, or write service: signalr.`;
    report('protocol', 'protocol-service', message, 'json');
  } else if (transport === 'ServerSentEvents') {
    const message =
      'ServerSentEvents carry text only, so messagepack cannot be used. Take json, or another transport.';
    report('protocol', 'protocol-transport', message, 'json');
  }
}

function checkBinaryPayloads({ reading, entries, scenario }: Checked): void {
  const message = services[scenario.service].speaksHub
    ? 'JSON has no form for bytes: write protocol: messagepack under config, or payload: random.'
    : 'JSON has no form for bytes: write payload: random.';
  for (const { entry, parameters } of entries) {
    const written = writtenPlace(reading, parameters, 'payload');
    if (entry.parameters['payload'] !== 'binary' || written === undefined) continue;
    reading.report('error', 'binary-payload', written, message, writing('random'));
  }
}

/**
 * Checks that the subprotocol and its acknowledgements stand where they mean something, and that the use
 * cases can be had with it.
 */
export function checkSubprotocol(checked: Checked): void {
  const { reading, config, entries, scenario } = checked;
  const { service, subprotocol } = scenario;
  const { speaksHub } = services[service];
  const sendsToGroup = ({ services: known, run }: UseCase): boolean =>
    known.includes(service) && run.audience === 'group';
  const place = writtenPlace(reading, config, 'subprotocol');
  const acks = writtenPlace(reading, config, 'acks');
  if (acks !== undefined && speaksHub) {
    const message =
      'Only Azure Web PubSub acknowledges messages: remove it, or write service: webpubsub.';
    reading.report('error', 'acks-service', acks, message);
  } else if (acks !== undefined && subprotocol === 'none') {
    const message =
      'Plain WebSockets have no acknowledgements: remove it, or take another subprotocol.';
    reading.report('error', 'acks-subprotocol', acks, message);
  }
  if (place !== undefined && speaksHub) {
    const message =
      'Only clients of Azure Web PubSub have a subprotocol: remove it, or write service: webpubsub.';
    reading.report('error', 'subprotocol-service', place, message);
  } else if (
    subprotocol === 'none' &&
    entries.some(({ useCase }) => sendsToGroup(useCase) && !isRest(useCase))
  ) {
    const rest = useCases.find((useCase) => sendsToGroup(useCase) && isRest(useCase));
    const instead = rest === undefined ? '' : `, or take ${rest.name}`;
    const message = `Clients without a subprotocol cannot publish to groups: write subprotocol: json${instead}.`;
    const at = configPlace(checked, 'subprotocol');
    reading.report('error', 'subprotocol-use-case', at, message, writing('json'));
  }
}

type Served = Pick<
  Scenario,
  | 'service'
  | 'target'
  | 'upstream'
  | 'entries'
  | 'connections'
  | 'appServers'
  | 'serverConnections'
  | 'workers'
>;

/**
 * Server connections that a run of the scenario opens to Azure SignalR Service: those of its app servers, or
 * the lasting one of each worker that `restPersist…` sends over. Undefined where app servers are not ours: a
 * hub or its URL. They take part of the connections of a size, like those of clients. Source: "Messages and
 * connections in Azure SignalR Service".
 */
export function serverConnectionsOf(scenario: Served): number | undefined {
  const { service, target, entries, connections, appServers, serverConnections } = scenario;
  const whose = services[service].appServers;
  if (whose === 'none') return 0;
  if (whose === 'ofUser' || behindOf(target) === 'userHub') return undefined;
  if (!isServerless(scenario)) return appServers * serverConnections;
  const persists = entries.some(({ name }) => findUseCase(name)?.run.via === 'persistent');
  // How many workers this machine has by itself is not known here.
  return persists ? Math.min(scenario.workers ?? 1, connections) : 0;
}

/** Whether a scenario for Azure SignalR Service does without an app server: its hub is in serverless mode. */
export const isServerless = ({
  entries,
  upstream,
}: Pick<Scenario, 'entries' | 'upstream'>): boolean =>
  upstream !== undefined ||
  entries.every(({ name }) => {
    const useCase = findUseCase(name);
    return useCase !== undefined && isRest(useCase);
  });
