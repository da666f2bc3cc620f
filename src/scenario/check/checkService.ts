/** Checks against the rules of the service: its modes, its size, and the ways to talk to it. */
import {
  connectionLimit,
  connectRateLimit,
  isAzure,
  isHubName,
  services,
  type ServiceSize,
} from '../../base/serviceTraits';
import { formatCount } from '../../base/units';
import { useCases, findUseCase } from '../../usecases/registry';
import { sendsByRest, runsUpstream, type UseCase } from '../../usecases/useCase';
import type { ScenarioFile } from '../read/buildScenario';
import type { Scenario } from '../scenario';
import { targetRole } from '../target/targetKinds';
import { joinWords } from '../text/words';

export function checkService(file: ScenarioFile): void {
  const { error, info, warning, at, config, scenario } = file;
  const { kind, service, target } = scenario;
  if (kind === 'resultparser') return;
  const why = whyNoAppServers(scenario);
  for (const name of ['appServers', 'serverConnections', 'serverStickyMode']) {
    const message = `A run starts app servers for Azure SignalR Service in default mode only: ${name} has no effect ${why!}.`;
    if (why !== undefined) info('no-effect', config.at(name), message);
  }
  if (!isAzure(service)) return;
  if (!isHubName(scenario.hub)) {
    const message =
      'This is not a hub name: it begins with a letter, and has up to 128 letters, digits and the signs _ ` , . [ ].';
    error('hub-name', config.at('hub'), message);
  }
  if (services[service].appServers === 'ofRun' && targetRole(target) !== 'userHub') checkMode(file);
  const size = scenario.sku === 'free' ? 'free' : scenario.unit;
  const place = size === 'free' ? 'the Free tier' : `Unit ${formatCount(size ?? 1)}`;
  const rate = connectRateLimit(size);
  if (scenario.arrivingRate > rate) {
    const message = `${place.replace('the', 'The')} may refuse more than ${formatCount(rate)} new connections per second with 429 (a maintainer of Azure SignalR said so; no document does).`;
    info('connect-rate', at('arrivingRate', 'unit', 'sku'), message);
  }
  const servers = serverConnectionsOf(scenario) ?? 0;
  const message = serverConnectionsProblem(scenario.connections, servers, size, place);
  const writtenBy = isServerless(scenario) ? ['workers'] : ['serverConnections', 'appServers'];
  if (message !== undefined)
    warning('server-connections', at(...writtenBy, 'connections'), message);
}

function whyNoAppServers(scenario: Scenario): string | undefined {
  const { service, target, upstream } = scenario;
  const { appServers, name } = services[service];
  if (appServers !== 'ofRun') return `with ${name}`;
  if (targetRole(target) === 'userHub') return 'where the target is the URL of your own app server';
  if (upstream !== undefined) return 'with `upstream`, which takes their place';
  return isServerless(scenario) ? 'with use cases of the REST API, which need none' : undefined;
}

/** REST callers need serverless mode, and hub methods need an app server or an upstream. */
function checkMode(file: ScenarioFile): void {
  const named = file.entries.filter((read) => read.isKnown);
  if (file.scenario.upstream !== undefined) {
    checkUpstreamUseCases(file);
    return;
  }
  const rest = named.find(({ useCase }) => sendsByRest(useCase));
  const hub = named.find(({ useCase }) => !sendsByRest(useCase));
  if (rest === undefined || hub === undefined) return;
  const second = named.indexOf(rest) < named.indexOf(hub) ? hub : rest;
  const message = `A hub is in default or serverless mode: ${rest.useCase.name} and ${hub.useCase.name} mix only with \`upstream\`. Write upstream under config, or run them from two files.`;
  file.error('service-mode', second.at(), message);
}

function checkUpstreamUseCases({ error, at, entries, scenario }: ScenarioFile): void {
  const named = entries.filter((read) => read.isKnown);
  for (const read of named.filter(({ useCase }) => !runsUpstream(useCase))) {
    const message = `${read.useCase.name} does not run with \`upstream\`: the handler has the methods of ${upstreamNames()} only. Remove upstream to run it in default mode.`;
    error('upstream-use-case', read.at(), message);
  }
  const invoking = named.find(({ useCase: { run } }) => run.message && run.via === undefined);
  if (scenario.protocol !== 'messagepack' || invoking === undefined) return;
  const message = `${invoking.useCase.name} does not run over messagepack with \`upstream\`: the handler answers by REST calls, which are JSON and have no form for bytes. Take json.`;
  error('upstream-protocol', at('protocol'), message, 'json');
}

const upstreamNames = (): string =>
  joinWords(
    useCases
      .filter((useCase) => useCase.hubMethods !== undefined && runsUpstream(useCase))
      .map(({ name }) => name),
  );

/** Undefined where both fit, or clients alone are too many. */
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

/**
 * Undefined where app servers are the user's. Source: "Messages and connections in Azure SignalR
 * Service".
 */
export function serverConnectionsOf(scenario: Scenario): number | undefined {
  const { service, target, entries, connections, appServers, serverConnections } = scenario;
  const whose = services[service].appServers;
  if (whose === 'none') return 0;
  if (whose === 'ofUser' || targetRole(target) === 'userHub') return undefined;
  if (!isServerless(scenario)) return appServers * serverConnections;
  const persists = entries.some(({ name }) => findUseCase(name)?.run.via === 'persistent');
  return persists ? Math.min(scenario.workers ?? 1, connections) : 0;
}

export const isServerless = ({
  entries,
  upstream,
}: Pick<Scenario, 'entries' | 'upstream'>): boolean =>
  upstream !== undefined ||
  entries.every(({ name }) => {
    const useCase = findUseCase(name);
    return useCase !== undefined && sendsByRest(useCase);
  });

export function checkTransport(file: ScenarioFile): void {
  const { service, transport, protocol, skipNegotiation } = file.scenario;
  const { name, speaksHub } = services[service];
  const report = (key: string, code: string, message: string, instead: string): void =>
    file.error(code, file.at(key), message, instead);
  if (skipNegotiation && transport !== 'Websockets') {
    const message = `Only Websockets can be opened without negotiate, not ${transport}. Set skipNegotiation to false.`;
    report('skipNegotiation', 'skip-negotiation', message, 'false');
  }
  if (!speaksHub && transport !== 'Websockets') {
    const message = `${name} has WebSockets only, not ${transport}: remove it, or write service: signalr.`;
    report('transport', 'transport-service', message, 'Websockets');
  }
  if (protocol !== 'messagepack') {
    checkBinaryPayloads(file);
  } else if (!speaksHub) {
    const message = `Clients of ${name} have a subprotocol, not a hub protocol: remove it, or write service: signalr.`;
    report('protocol', 'protocol-service', message, 'json');
  } else if (transport === 'ServerSentEvents') {
    const message =
      'ServerSentEvents carry text only, so messagepack cannot be used. Take json, or another transport.';
    report('protocol', 'protocol-transport', message, 'json');
  }
}

function checkBinaryPayloads({ error, entries, scenario }: ScenarioFile): void {
  const mayTakeBytes = services[scenario.service].speaksHub && scenario.connectionType === 'Core';
  const message = mayTakeBytes
    ? 'JSON has no form for bytes: write protocol: messagepack under config, or payload: random.'
    : 'JSON has no form for bytes: write payload: random.';
  for (const { entry, parameters } of entries) {
    const place = entry.parameters['payload'] === 'binary' ? parameters.at('payload') : undefined;
    error('binary-payload', place, message, 'random');
  }
}

export function checkSubprotocol({ error, at, config, entries, scenario }: ScenarioFile): void {
  const { service, subprotocol } = scenario;
  const [acks, written] = [config.at('acks'), config.at('subprotocol')];
  if (services[service].speaksHub) {
    const instead = 'remove it, or write service: webpubsub.';
    error('acks-service', acks, `Only Azure Web PubSub acknowledges messages: ${instead}`);
    const message = `Only clients of Azure Web PubSub have a subprotocol: ${instead}`;
    error('subprotocol-service', written, message);
    return;
  }
  if (
    !subprotocol.toLowerCase().endsWith('json') &&
    entries.some(({ entry }) => entry.name === 'replay')
  ) {
    const message = 'A replay speaks JSON: write subprotocol: json or reliableJson.';
    error('subprotocol-use-case', at('subprotocol'), message, 'json');
  }
  if (subprotocol !== 'none') return;
  const idle = 'Plain WebSockets have no acknowledgements: remove it, or take another subprotocol.';
  error('acks-subprotocol', acks, idle);
  const sendsToGroup = ({ services: known, run }: UseCase): boolean =>
    known.includes(service) && run.audience === 'group';
  if (!entries.some(({ useCase }) => sendsToGroup(useCase) && !sendsByRest(useCase))) return;
  const rest = useCases.find((useCase) => sendsToGroup(useCase) && sendsByRest(useCase));
  const instead = rest === undefined ? '' : `, or take ${rest.name}`;
  const message = `Clients without a subprotocol cannot publish to groups: write subprotocol: json${instead}.`;
  error('subprotocol-use-case', at('subprotocol'), message, 'json');
}
