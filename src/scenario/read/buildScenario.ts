import type { YAMLMap } from 'yaml';
import {
  byShare,
  isPercentile,
  latencyMetrics,
  shareOf,
  type Percentile,
} from '../../base/objectives/percentile';
import {
  azureServices,
  serviceOfHost,
  services,
  usualService,
  type Service,
} from '../../base/serviceTraits';
import { defaultRules, sloOf, withFollowing, type Slo } from '../../base/slo';
import { formatShare } from '../../base/units';
import { hubRunOf, isRest, type UseCase } from '../../usecases/useCase';
import {
  type ConfigFields,
  configKeys,
  keysReadApart,
  searchKeys,
  upstreamKeys,
  type UpstreamSpec,
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
} from '../scenario';
import { rateCeilingOf, rateOf, usualRange } from '../searched';
import { searchKinds } from '../../base/searchSummary';
import { behindOf, hostsOf, type TargetSpec } from '../target/targetKinds';
import type { Place, Reading } from '../text/scenarioReading';
import { readEntries, startOf, type ReadEntry } from './readEntries';
import {
  choiceIn,
  fieldsOf,
  numberIn,
  readSection,
  sectionIn,
  sectionsIn,
  type Section,
  sectionOf,
} from './readSection';
import type { Written } from './readValue';
import { readLocalAddresses, readObserve, readPushes } from './readLists';
import { readRules, type WrittenRules } from './readRules';
import { readIdentities } from './readIdentities';
import { readTarget } from './readTarget';
import { peakOf, stagesMs } from '../steps';

/** Default warm-up; shorter steps are warmed up as long as they last. */
const usualWarmupMs = 5000;
/** Where the Azure SignalR benchmark wrote its counters when its file named no place. */
export const usualCounterFile = 'counters.txt';
/** Members of the guides' small group, the size to suggest. */
export const smallGroup = 10;

/** A scenario file as read: the scenario says what is wrong with it, the sections say where it stands. */
export interface ScenarioFile extends Reading {
  readonly scenario: Scenario;
  readonly top: Section;
  readonly config: Section;
  readonly slo: Section;
  readonly search: Section;
  readonly entries: readonly ReadEntry[];
  readonly targetKey: Written | undefined;
  /** Place of the first of these keys of `config` that is written; the start of the file when none is. */
  readonly at: (...names: readonly string[]) => Place;
}

export function readScenario(reading: Reading, map: YAMLMap): ScenarioFile {
  const top = sectionOf(reading, '', topKeys, map);
  const config = readSection(reading, 'config', configKeys, top.written.get('config'));
  const rules = readRules(reading, top.written.get('slo'));
  const slo = rules.section;
  const entries = readEntries(reading, top);
  const rest = entries.some(({ useCase }) => isRest(useCase));
  const service = choiceIn(config, 'service', azureServices);
  const { target, written: targetKey } = readTarget(reading, config, {
    rest,
    preferConnectionString: rest || (service !== undefined && !services[service].speaksHub),
  });
  const limits = readSlo(reading, rules, config);
  const built = buildScenario(reading, { top, config, entries, target, slo: limits });
  const steps = withStages(reading, config, built);
  const search = readSection(reading, 'search', searchKeys, top.written.get('search'));
  const searched = top.written.has('search') && { search: searchOf(search, steps) };
  const scenario: Scenario = { ...steps, ...searched };
  return {
    ...{ ...reading, scenario, top, config, slo, search, entries, targetKey },
    at: (...names) => config.at(...names) ?? startOf(reading, top),
  };
}

interface ReadParts extends Pick<ScenarioFile, 'top' | 'config' | 'entries'> {
  readonly target: Target;
  readonly slo: Slo;
}

function buildScenario(reading: Reading, parts: ReadParts): Scenario {
  const { top, config, entries, target, slo } = parts;
  const kind = choiceIn(top, 'kind', kinds) ?? 'perf';
  const fields = fieldsOf(config, plainKeys) as PlainFields;
  const { connections, baseSending, singleStepDurationMs } = fields;
  const [upstream, data] = [sectionIn(config, 'upstream'), sectionIn(config, 'data')];
  const identities = readIdentities(reading, config);
  const observe = readObserve(reading, config);
  const localAddresses = readLocalAddresses(reading, config);
  const grouped = entries.map((read) => withGroupCount(read, connections));
  const pushes = readPushes(reading, config, grouped);
  return {
    kind,
    service: serviceOf(config, target, entries),
    ...(target !== undefined && { target }),
    ...(kind === 'resultparser' && { resultFilePath: usualCounterFile }),
    warmupMs: Math.min(usualWarmupMs, singleStepDurationMs),
    ...fields,
    // The Azure SignalR benchmark repaired with kind: perf; where nobody says so, a drop stays a drop.
    repair: config.written.has('repair')
      ? config.values.get('repair') === true
      : kind === 'perf' && top.written.has('kind'),
    baseSending: Math.min(connections, baseSending),
    ...(upstream && { upstream: fieldsOf(upstream, upstreamKeys) as UpstreamSpec }),
    ...(identities !== undefined && { identities }),
    ...(data?.values.has('file') && { data: fieldsOf(data, dataKeys) as DataSpec }),
    ...(localAddresses !== undefined && { localAddresses }),
    ...(observe !== undefined && observe.length > 0 && { observe }),
    ...(pushes !== undefined && pushes.length > 0 && { pushes }),
    entries: grouped,
    slo,
  };
}

type PlainFields = Omit<ConfigFields, 'repair' | 'warmupMs'>;

const plainKeys = configKeys.filter(
  ({ name }) => !(keysReadApart as readonly string[]).includes(name),
);

export const suggestedGroups = (connections: number): number =>
  Math.max(1, Math.round(connections / smallGroup));

/** The entry with as many groups as the connections can fill, so that scenarios with problems can be computed too. */
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

type Target = TargetSpec | undefined;

/** `service` as written; else by the hosts, then Azure SignalR for connection strings and REST, else a plain hub. */
function serviceOf(config: Section, target: Target, entries: readonly ReadEntry[]): Service {
  const written = choiceIn(config, 'service', azureServices);
  if (written !== undefined) return written;
  const known = hostsOf(target).flatMap((host) => serviceOfHost(host) ?? []);
  const notOfHubs = known.find((service) => !services[service].speaksHub);
  if (notOfHubs !== undefined) return notOfHubs;
  const rest = entries.some(({ useCase }) => isRest(useCase));
  return rest || behindOf(target) === 'service' ? usualService : 'hub';
}

function searchOf(search: Section, scenario: Scenario): SearchSpec {
  const of = choiceIn(search, 'of', searchKinds)!;
  const range = usualRange(scenario, of, { to: numberIn(search, 'to') });
  const ceiling = of === 'rate' ? rateCeilingOf(scenario) : Infinity;
  return {
    of,
    from: Math.min(numberIn(search, 'from') ?? range.from, ceiling),
    to: Math.min(range.to, ceiling),
    ...(range.to > ceiling && { ceiling: 'pauses' as const }),
    precision: numberIn(search, 'precision')!,
    budgetMs: numberIn(search, 'budget')!,
  };
}

/** Messages that take at least this long count against `latencyPercentage`; fixed in the Azure SignalR benchmark. */
const seedLimitUs = 1_000_000;

/**
 * What is written, and the defaults of all other metrics. The Azure SignalR benchmark's two keys stand for `slo.dropped`
 * and for the limit of one percentile; `slo` wins over them.
 */
function readSlo(reading: Reading, { rules, section }: WrittenRules, config: Section): Slo {
  const seedMetric = readPercentage(reading, section, config);
  const seedDropped = readFailPercentage(reading, section, config);
  const usual = defaultRules().flatMap((rule) => {
    if (section.written.has(rule.metric)) return [];
    if (rule.metric === 'p99' && seedMetric !== undefined) return [];
    if (rule.metric === 'dropped') return [{ ...rule, limit: seedDropped ?? rule.limit }];
    return [rule];
  });
  const isLimited = seedMetric !== undefined && seedMetric !== 'any';
  const seed = isLimited ? [{ metric: seedMetric, limit: seedLimitUs }] : [];
  return sloOf(withFollowing([...usual, ...seed, ...rules]));
}

function readFailPercentage(reading: Reading, slo: Section, config: Section): number | undefined {
  const written = config.written.get('connectionFailPercentage');
  if (!slo.written.has('dropped')) return numberIn(config, 'connectionFailPercentage');
  const message = 'connectionFailPercentage is not used: slo.dropped wins. Remove one of them.';
  reading.warning('two-slos', written?.key, message);
  return undefined;
}

/** The percentile that must stay under 1 s; `any` where all may be slower, undefined when `slo` or the defaults decide. */
function readPercentage(
  reading: Reading,
  slo: Section,
  config: Section,
): Percentile | 'any' | undefined {
  const written = config.written.get('latencyPercentage');
  const share = numberIn(config, 'latencyPercentage');
  const own = [...slo.written.keys()].filter(isPercentile).sort(byShare)[0];
  if (own !== undefined) {
    const message = `latencyPercentage is not used: slo.${own} wins. Remove one of them.`;
    reading.warning('two-slos', written?.key, message);
    return undefined;
  }
  if (share === undefined) return undefined;
  if (share === 1) return 'any';
  const exact = share === 0 ? 'max' : `p${Number((100 * (1 - share)).toFixed(4))}`;
  if (isPercentile(exact) && Math.abs(1 - shareOf(exact) - share) < 1e-9) return exact;
  const stricter = latencyMetrics.find((metric) => 1 - shareOf(metric) < share)!;
  const asked = formatPercentile(1 - share);
  const message = `latencyPercentage ${share} asks for ${asked} of the messages under 1 s. ${asked} is not a percentile we judge, so the next stricter one is used: slo.${stricter}: 1s. Write an objective into slo to choose another.`;
  reading.warning('latency-percentage', written?.place, message);
  return stricter;
}

const formatPercentile = (share: number): string =>
  share > 0.9 ? `${Number((share * 100).toFixed(4))} %` : formatShare(share);

/** The scenario with the one step that its stages are; the same where there are none. */
function withStages(reading: Reading, config: Section, scenario: Scenario): Scenario {
  const perSender = ratePerSender(scenario);
  const stages = sectionsIn(config, 'stages')?.flatMap((stage) => stageOf(stage, perSender));
  if (stages === undefined) return scenario;
  const from = config.written.has('baseSending') ? scenario.baseSending : 0;
  const spec: StagesSpec = { from, stages };
  const lengthMs = stagesMs(stages);
  if (lengthMs === 0) {
    const message = 'The stages take no time. Write over or hold into one of them.';
    reading.error('empty-value', config.written.get('stages')?.key, message);
    return scenario;
  }
  return {
    ...scenario,
    ...{ stages: spec, baseSending: Math.min(scenario.connections, peakOf(spec)) },
    ...{ step: 0, sendingSteps: 0, singleStepDurationMs: lengthMs },
    // Nobody sends before the first stage, so there is nothing to warm up.
    ...(!config.written.has('warmup') && {
      warmupMs: Math.min(scenario.warmupMs, from > 0 ? lengthMs : 0),
    }),
  };
}

/** Of all entries together, where everybody sends; 0 where nothing is sent at intervals. */
function ratePerSender(scenario: Scenario): number {
  const { connections } = scenario;
  const everybody = { ...scenario, baseSending: connections, step: 0, sendingSteps: 0 };
  return rateOf(everybody) / connections;
}

/** None where it does not say where it goes. */
function stageOf(stage: Section, perSender: number): StageSpec[] {
  if (stage.kind === undefined) return [];
  const rate = perSender > 0 ? Math.round((numberIn(stage, 'rate') ?? 0) / perSender) : 0;
  const to = numberIn(stage, 'to') ?? rate;
  return [{ to, overMs: numberIn(stage, 'over')!, holdMs: numberIn(stage, 'hold')! }];
}
