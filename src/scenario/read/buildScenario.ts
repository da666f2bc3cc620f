import type { Slo } from '../../base/slo';
import type { Service } from '../../usecases/traffic';
import { isRest } from '../../usecases/useCase';
import { withGroupCount } from '../check/checkGroups';
import type { ReadEntry } from './readEntries';
import type { Reading } from '../text/scenarioReading';
import {
  choiceIn,
  flagIn,
  numberIn,
  optionalNumberIn,
  readSection,
  textIn,
  type Section,
} from './readSection';
import { readTexts } from './readTexts';
import {
  ackChoices,
  batchModes,
  dialects,
  protocols,
  subprotocols,
  reconnectPolicies,
  skus,
  stickyModes,
  targetChoices,
  transports,
} from '../scenario';
import type { Scenario, UpstreamSpec } from '../scenario';
import { behindOf, hostsOf, type TargetSpec } from '../target/targetKinds';
import { configKeys } from '../keys/configKeys';
import { serviceOfHost } from '../target/serviceOfHost';

/** Default warm-up; shorter steps are warmed up as long as they last. */
const warmupMs = 5000;
/** Where the Azure SignalR benchmark wrote its counters unless told otherwise. */
const seedCounterFile = 'counters.txt';

/** The parts of a file, each read already. */
export interface ScenarioParts {
  readonly top: Section;
  readonly config: Section;
  readonly entries: readonly ReadEntry[];
  readonly target: TargetSpec | undefined;
  readonly slo: Slo;
}

/** Puts the parts together; reads what `config` holds beyond plain values. */
export function buildScenario(reading: Reading, parts: ScenarioParts): Scenario {
  const { top, config, entries, target, slo } = parts;
  const kind: Scenario['kind'] = choiceIn(top, 'kind', ['perf', 'perf2', 'resultparser']) ?? 'perf';
  const connections = numberIn(config, 'connections');
  const singleStepDurationMs = numberIn(config, 'singleStepDuration');
  const upstream = readUpstream(reading, config);
  return {
    kind,
    service: serviceOf(config, target, entries),
    ...present('target', target),
    targetChoice: choiceIn(config, 'targetChoice', targetChoices) ?? 'roundRobin',
    hub: textIn(config, 'hub') ?? '',
    ...present('unit', optionalNumberIn(config, 'unit')),
    ...present('sku', choiceIn(config, 'sku', skus)),
    connectionType: choiceIn(config, 'connectionType', ['Core', 'AspNet']) ?? 'Core',
    connections,
    arrivingRate: numberIn(config, 'arrivingRate'),
    ...present('arrivingBatchMode', choiceIn(config, 'arrivingBatchMode', batchModes)),
    arrivingBatchWaitMs: numberIn(config, 'arrivingBatchWait'),
    // The Azure SignalR benchmark repaired with kind: perf; where nobody says so, a drop stays a drop.
    repair: config.written.has('repair')
      ? flagIn(config, 'repair')
      : kind === 'perf' && top.written.has('kind'),
    reconnectPolicy: choiceIn(config, 'reconnectPolicy', reconnectPolicies) ?? 'fixed',
    reconnectDelayMs: numberIn(config, 'reconnectDelay'),
    ...present('lifetimeMs', optionalNumberIn(config, 'lifetime')),
    ...present('dropAllAfterMs', optionalNumberIn(config, 'dropAllAfter')),
    baseSending: Math.min(connections, numberIn(config, 'baseSending')),
    step: numberIn(config, 'step'),
    sendingSteps: numberIn(config, 'sendingSteps'),
    singleStepDurationMs,
    warmupMs: optionalNumberIn(config, 'warmup') ?? Math.min(warmupMs, singleStepDurationMs),
    drainMs: numberIn(config, 'drain'),
    pacing: choiceIn(config, 'pacing', ['open', 'closed']) ?? 'open',
    driver: choiceIn(config, 'driver', ['native', 'sdk']) ?? 'native',
    dialect: choiceIn(config, 'dialect', dialects) ?? 'auto',
    transport: choiceIn(config, 'transport', transports) ?? 'Websockets',
    protocol: choiceIn(config, 'protocol', protocols) ?? 'json',
    subprotocol: choiceIn(config, 'subprotocol', subprotocols) ?? 'json',
    acks: choiceIn(config, 'acks', ackChoices) ?? 'first',
    skipNegotiation: flagIn(config, 'skipNegotiation'),
    connectTimeoutMs: numberIn(config, 'connectTimeout'),
    connectInFlight: numberIn(config, 'connectInFlight'),
    ...present('workers', optionalNumberIn(config, 'workers')),
    seed: numberIn(config, 'seed'),
    headers: readTexts(reading, config, 'headers'),
    query: readTexts(reading, config, 'query'),
    ...present('accessToken', textIn(config, 'accessToken')),
    ...present('caFile', textIn(config, 'caFile')),
    ...present('certFile', textIn(config, 'certFile')),
    ...present('keyFile', textIn(config, 'keyFile')),
    ...present('keyPassword', textIn(config, 'keyPassword')),
    insecureTls: flagIn(config, 'insecureTls'),
    appServers: numberIn(config, 'appServers'),
    serverConnections: numberIn(config, 'serverConnections'),
    ...present('serverStickyMode', choiceIn(config, 'serverStickyMode', stickyModes)),
    ...present('upstream', upstream),
    ...present(
      'resultFilePath',
      textIn(config, 'resultFilePath') ?? (kind === 'resultparser' ? seedCounterFile : undefined),
    ),
    debug: flagIn(config, 'debug'),
    entries: entries.map((read) => withGroupCount(read, connections)),
    slo,
  };
}

/** An object with the key, or an empty one: absent keys are really absent. */
function present<K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, T>);
}

/**
 * `service` as written; else Web PubSub by its hosts, Azure SignalR for other connection strings and for
 * REST use cases, else a plain hub.
 */
function serviceOf(
  config: Section,
  target: TargetSpec | undefined,
  entries: readonly ReadEntry[],
): Service {
  const written = choiceIn(config, 'service', ['signalr', 'webpubsub']);
  if (written !== undefined) return written;
  if (hostsOf(target).some((host) => serviceOfHost(host) === 'webpubsub')) return 'webpubsub';
  const rest = entries.some(({ useCase }) => isRest(useCase));
  return rest || behindOf(target) === 'service' ? 'signalr' : 'hub';
}

function readUpstream(reading: Reading, config: Section): UpstreamSpec | undefined {
  const specs = configKeys.find((spec) => spec.name === 'upstream')!.keys!;
  const written = config.written.get('upstream');
  const section = readSection(reading, 'config.upstream', specs, written);
  if (section.map === undefined) return undefined;
  return {
    port: numberIn(section, 'port'),
    ...present('publicUrl', textIn(section, 'publicUrl')),
  };
}
