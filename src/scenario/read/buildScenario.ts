import { type YAMLMap, isScalar, isSeq, type Node } from 'yaml';
import {
  azureServices,
  findServiceByHost,
  services,
  defaultService,
} from '../../base/serviceTraits';
import { hubRunOf, sendsByRest, type UseCase } from '../../usecases/useCase';
import {
  type ConfigFields,
  configKeys,
  keysReadApart,
  searchKeys,
  upstreamKeys,
  type UpstreamSpec,
  pushAudiences,
} from '../keys/configKeys';
import { dataKeys, type DataSpec } from '../keys/identityKeys';
import { topKeys } from '../keys/scenarioKeys';
import {
  kinds,
  type Scenario,
  type ScenarioEntry,
  type SearchSpec,
  type StageSpec,
  type StagesSpec,
  type ObserveSpec,
  type PushSpec,
} from '../scenario';
import {
  highestSessionRate,
  plannedRate,
  defaultSearchRange,
  peakSenders,
  stagesDurationMs,
} from '../steps';
import { searchKinds } from '../../base/searchSummary';
import { targetRole, hostsOf, type TargetSpec } from '../target/targetKinds';
import type { Place, Reading } from '../text/scenarioReading';
import { readEntries, startOf, type ReadEntry } from './readEntries';
import {
  choiceIn,
  pickFields,
  numberIn,
  readSection,
  sectionIn,
  sectionsIn,
  type Section,
  sectionOf,
  textIn,
} from './readSection';
import { type Written, isEmptyNode, scalarText } from './readValue';
import { readRules, readSlo } from './readRules';
import { readIdentities } from './readIdentities';
import { readTarget } from './readTarget';
import { safeExcerpt } from '../text/words';

const usualWarmupMs = 5000;
/** Where the Azure SignalR benchmark wrote its counters by default. */
export const usualCounterFile = 'counters.txt';
/** Members of the guides' small group. */
export const smallGroup = 10;

/** The scenario of a file, with the sections in which its problems are reported. */
export interface ScenarioFile extends Reading {
  readonly scenario: Scenario;
  readonly top: Section;
  readonly config: Section;
  readonly slo: Section;
  readonly search: Section;
  readonly entries: readonly ReadEntry[];
  readonly targetKey: Written | undefined;
  /** Place of the first written key of `config`; else the start of the file. */
  readonly at: (...names: readonly string[]) => Place;
}

export function readScenario(reading: Reading, map: YAMLMap): ScenarioFile {
  const top = sectionOf(reading, '', topKeys, map);
  const config = readSection(reading, 'config', configKeys, top.written.get('config'));
  const rules = readRules(reading, top.written.get('slo'));
  const entries = readEntries(reading, top);
  const rest = entries.some(({ useCase }) => sendsByRest(useCase));
  const service = choiceIn(config, 'service', azureServices);
  const { target, written: targetKey } = readTarget(reading, config, {
    rest,
    preferConnectionString: rest || (service !== undefined && !services[service].speaksHub),
  });
  const slo = readSlo(reading, rules, config);
  const kind = choiceIn(top, 'kind', kinds) ?? 'perf';
  const fields = pickFields(config, plainKeys) as Omit<ConfigFields, 'repair' | 'warmupMs'>;
  const { connections, baseSending, singleStepDurationMs } = fields;
  const [upstream, data] = [sectionIn(config, 'upstream'), sectionIn(config, 'data')];
  const identities = readIdentities(reading, config);
  const observe = readObserve(reading, config);
  const localAddresses = readLocalAddresses(reading, config);
  const grouped = entries.map((read) => withGroupCount(read, connections));
  const pushes = readPushes(reading, config, grouped);
  const steps = withStages(reading, config, {
    kind,
    service: serviceOf(config, target, entries),
    ...(target !== undefined && { target }),
    ...(kind === 'resultparser' && { resultFilePath: usualCounterFile }),
    warmupMs: Math.min(usualWarmupMs, singleStepDurationMs),
    ...fields,
    // As the Azure SignalR benchmark did with `kind: perf`.
    repair: config.written.has('repair')
      ? config.values.get('repair') === true
      : kind === 'perf' && top.written.has('kind'),
    baseSending: Math.min(connections, baseSending),
    ...(upstream && { upstream: pickFields(upstream, upstreamKeys) as UpstreamSpec }),
    ...(identities !== undefined && { identities }),
    ...(data?.values.has('file') && { data: pickFields(data, dataKeys) as DataSpec }),
    ...(localAddresses !== undefined && { localAddresses }),
    ...(observe !== undefined && observe.length > 0 && { observe }),
    ...(pushes !== undefined && pushes.length > 0 && { pushes }),
    entries: grouped,
    slo,
  });
  const search = readSection(reading, 'search', searchKeys, top.written.get('search'));
  const searched = top.written.has('search') && { search: searchOf(search, steps) };
  return {
    ...{ ...reading, top, config, slo: rules.section, search, entries, targetKey },
    scenario: { ...steps, ...searched },
    at: (...names) => config.at(...names) ?? startOf(reading, top),
  };
}

const plainKeys = configKeys.filter(
  ({ name }) => !(keysReadApart as readonly string[]).includes(name),
);

export const suggestedGroups = (connections: number): number =>
  Math.max(1, Math.round(connections / smallGroup));

/** At most one group per connection, so that the estimate also works for a file with problems. */
function withGroupCount({ useCase, entry }: ReadEntry, connections: number): ScenarioEntry {
  if (!needsGroups(useCase, entry)) return entry;
  const written = entry.parameters['groupCount'];
  const groups = typeof written === 'number' ? written : suggestedGroups(connections);
  const groupCount = Math.min(groups, connections);
  return { ...entry, parameters: { ...entry.parameters, groupCount } };
}

export const needsGroups = (useCase: UseCase, { parameters }: ScenarioEntry): boolean =>
  hubRunOf(useCase, parameters).audience === 'group' ||
  useCase.parameters.some(({ name, required }) => name === 'groupCount' && required === true);

/** A service is found by its hosts, a connection string or REST use cases. */
function serviceOf(config: Section, target: TargetSpec | undefined, entries: readonly ReadEntry[]) {
  const written = choiceIn(config, 'service', azureServices);
  if (written !== undefined) return written;
  const known = hostsOf(target).flatMap((host) => findServiceByHost(host) ?? []);
  const notOfHubs = known.find((service) => !services[service].speaksHub);
  if (notOfHubs !== undefined) return notOfHubs;
  const rest = entries.some(({ useCase }) => sendsByRest(useCase));
  return rest || targetRole(target) === 'service' ? defaultService : 'hub';
}

function searchOf(search: Section, scenario: Scenario): SearchSpec {
  const of = choiceIn(search, 'of', searchKinds)!;
  const range = defaultSearchRange(scenario, of, { to: numberIn(search, 'to') });
  const ceiling = of === 'rate' ? highestSessionRate(scenario) : Infinity;
  return {
    of,
    from: Math.min(numberIn(search, 'from') ?? range.from, ceiling),
    to: Math.min(range.to, ceiling),
    ...(range.to > ceiling && { ceiling: 'pauses' as const }),
    precision: numberIn(search, 'precision')!,
    budgetMs: numberIn(search, 'budget')!,
  };
}

function withStages(reading: Reading, config: Section, scenario: Scenario): Scenario {
  const perSender = ratePerSender(scenario);
  const stages = sectionsIn(config, 'stages')?.flatMap((stage) => stageOf(stage, perSender));
  if (stages === undefined) return scenario;
  const from = config.written.has('baseSending') ? scenario.baseSending : 0;
  const spec: StagesSpec = { from, stages };
  const lengthMs = stagesDurationMs(stages);
  if (lengthMs === 0) {
    const message = 'The stages take no time. Write over or hold into one of them.';
    reading.error('empty-value', config.written.get('stages')?.key, message);
    return scenario;
  }
  return {
    ...scenario,
    ...{ stages: spec, baseSending: Math.min(scenario.connections, peakSenders(spec)) },
    ...{ step: 0, sendingSteps: 0, singleStepDurationMs: lengthMs },
    // Nobody sends before the first stage.
    ...(!config.written.has('warmup') && {
      warmupMs: Math.min(scenario.warmupMs, from > 0 ? lengthMs : 0),
    }),
  };
}

function ratePerSender(scenario: Scenario): number {
  const { connections } = scenario;
  const everybody = { ...scenario, baseSending: connections, step: 0, sendingSteps: 0 };
  return plannedRate(everybody) / connections;
}

function stageOf(stage: Section, perSender: number): StageSpec[] {
  if (stage.kind === undefined) return [];
  const rate = perSender > 0 ? Math.round((numberIn(stage, 'rate') ?? 0) / perSender) : 0;
  const to = numberIn(stage, 'to') ?? rate;
  return [{ to, overMs: numberIn(stage, 'over')!, holdMs: numberIn(stage, 'hold')! }];
}

export const readObserve = (reading: Reading, config: Section): ObserveSpec[] | undefined =>
  sectionsIn(config, 'observe')?.flatMap((one): ObserveSpec[] => {
    const { kind, written } = one;
    if (kind === 'prometheus') {
      const series = (textIn(one, 'series') ?? '').split(',').map((name) => name.trim());
      const authorization = textIn(one, 'authorization');
      return [
        {
          kind,
          url: textIn(one, kind)!,
          series: series.filter((name) => name !== ''),
          ...(authorization !== undefined && { authorization }),
        },
      ];
    }
    if (kind !== 'azureMonitor') return [];
    const region = textIn(one, 'region');
    if (region !== undefined) return [{ kind, resource: textIn(one, kind)!, region }];
    const message = 'azureMonitor needs the region of the resource, such as region: westeurope.';
    if (!written.has('region')) reading.error('observe', written.get(kind)?.key, message);
    return [];
  });

export function readPushes(
  reading: Reading,
  config: Section,
  entries: readonly Pick<ScenarioEntry, 'parameters'>[],
): PushSpec[] | undefined {
  const hasGroups = entries.some(({ parameters }) => typeof parameters['groupCount'] === 'number');
  return sectionsIn(config, 'pushes')?.flatMap((push): PushSpec[] => {
    const [name, perSecond] = [textIn(push, 'name'), numberIn(push, 'perSecond')];
    const [bytes, to] = [numberIn(push, 'size'), choiceIn(push, 'to', pushAudiences)!];
    if (name === undefined || perSecond === undefined || bytes === undefined) return [];
    if (to !== 'group' || hasGroups) return [{ name, perSecond, bytes, to }];
    const message =
      'No use case of this file has groups, so nobody knows how many members one has. Write to: client, and as perSecond the calls times the members.';
    reading.error('push-group', push.at('to'), message);
    return [];
  });
}

const mostAddresses = 1000;
const part = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const ipv4 = new RegExp(`^${part}(?:\\.${part}){3}$`);
const hexGroup = /^[0-9a-f]{1,4}$/i;

/** RFC 4291, 2.2: eight groups, of which `::` stands for one or more, and IPv4 for the last two. */
function isIpv6(text: string): boolean {
  const halves = text.slice(0, 50).split('::');
  const last = text.slice(text.lastIndexOf(':') + 1);
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const isDotted = ipv4.test(last);
  const plain = isDotted ? groups.slice(0, -1) : groups;
  const count = plain.length + (isDotted ? 2 : 0);
  if (!text.includes(':') || !plain.every((group) => hexGroup.test(group))) return false;
  return halves.length === 1 ? count === 8 : halves.length === 2 && count < 8;
}

export function readLocalAddresses(reading: Reading, config: Section): string[] | undefined {
  const written = config.written.get('localAddresses');
  const node = reading.resolve(written?.value);
  if (written === undefined || isEmptyNode(node)) return undefined;
  const items = isSeq(node) ? (node.items as Node[]) : [node];
  const found = items.flatMap((item) => {
    const scalar = reading.resolve(item);
    const text = isScalar(scalar) ? scalarText(scalar).replace(/^\[(.*)\]$/, '$1') : '';
    return text.split(',').flatMap((each) => {
      const address = each.trim();
      if (ipv4.test(address) || isIpv6(address)) return [address];
      const message = `"${safeExcerpt(address)}" in localAddresses is not an IP address; write one of this machine, such as 127.0.0.2.`;
      reading.error('local-address', item, message);
      return [];
    });
  });
  if (found.length > mostAddresses) {
    const message = `localAddresses has more than ${mostAddresses} addresses; the others are not used.`;
    reading.error('above-bounds', written.place, message);
  }
  return found.length > 0 ? found.slice(0, mostAddresses) : undefined;
}
