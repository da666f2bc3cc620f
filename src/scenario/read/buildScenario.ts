import { isScalar, isSeq, type Node, type YAMLMap } from 'yaml';
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
import { connectionNames } from '../../base/personalText';
import { formatShare } from '../../base/units';
import { hubRunOf, isRest, type UseCase } from '../../usecases/useCase';
import {
  type ConfigFields,
  configKeys,
  fieldOf,
  keysReadApart,
  searchKeys,
  upstreamKeys,
} from '../keys/configKeys';
import { topKeys } from '../keys/scenarioKeys';
import {
  kinds,
  type Scenario,
  type ScenarioEntry,
  type SearchSpec,
  type StageSpec,
  type StagesSpec,
  type UpstreamSpec,
} from '../scenario';
import { rateCeilingOf, rateOf, usualRange } from '../searched';
import { searchKinds } from '../../base/searchSummary';
import { behindOf, hostsOf, type TargetSpec } from '../target/targetKinds';
import type { Place, Reading } from '../text/scenarioReading';
import { readEntries, startOf, type ReadEntry } from './readEntries';
import {
  choiceIn,
  isNothing,
  numberIn,
  readSection,
  type Section,
  sectionOf,
  sourceOf,
  type Written,
} from './readSection';
import { readObserve } from './readObserve';
import { readPushes } from './readPushes';
import { readRecords, type ListRecord } from './readRecords';
import { readRules, type WrittenRules } from './readRules';
import { readData, readIdentities } from './readIdentities';
import { checkPersonal, readTexts } from './readTexts';
import { readTarget } from './readTarget';
import { quotable } from '../text/words';
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
  const fields = configFields(reading, config);
  const { connections, baseSending, singleStepDurationMs } = fields;
  const upstream = readUpstream(reading, config);
  const identities = readIdentities(reading, config);
  const data = readData(reading, config);
  if (fields.accessToken !== undefined)
    checkPersonal(
      reading,
      'accessToken',
      fields.accessToken,
      config.at('accessToken')!,
      connectionNames,
    );
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
    ...(upstream !== undefined && { upstream }),
    ...(identities !== undefined && { identities }),
    ...(data !== undefined && { data }),
    ...(localAddresses !== undefined && { localAddresses }),
    ...(observe !== undefined && observe.length > 0 && { observe }),
    ...(pushes !== undefined && pushes.length > 0 && { pushes }),
    entries: grouped,
    slo,
  };
}

type PlainFields = Omit<ConfigFields, 'repair' | 'warmupMs'>;

/** Values of `config` under the names that a scenario has for them; absent keys are really absent. */
function configFields(reading: Reading, config: Section): PlainFields {
  const fields: Record<string, unknown> = {};
  for (const spec of configKeys) {
    if ((keysReadApart as readonly string[]).includes(spec.name)) continue;
    const value =
      spec.type === 'texts'
        ? readTexts(reading, config, spec.name, connectionNames)
        : config.values.get(spec.name);
    if (value !== undefined) fields[fieldOf(spec)] = value;
  }
  return fields as PlainFields;
}

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

function readUpstream(reading: Reading, config: Section): UpstreamSpec | undefined {
  const written = config.written.get('upstream');
  const section = readSection(reading, 'config.upstream', upstreamKeys, written);
  if (section.map === undefined) return undefined;
  const publicUrl = section.values.get('publicUrl');
  return {
    port: numberIn(section, 'port')!,
    ...(typeof publicUrl === 'string' && { publicUrl }),
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

/** `config.localAddresses`, where connections come from; undefined where none is written. */
function readLocalAddresses(reading: Reading, config: Section): string[] | undefined {
  const written = config.written.get('localAddresses');
  const node = reading.follow(written?.value);
  if (written === undefined || isNothing(node)) return undefined;
  const items = isSeq(node) ? (node.items as Node[]) : [node];
  const found = items.flatMap((item) => {
    const scalar = reading.follow(item);
    // A list of --set comes as the text it is.
    const text = isScalar(scalar) ? sourceOf(scalar).replace(/^\[(.*)\]$/, '$1') : '';
    return text.split(',').flatMap((each) => {
      const address = each.trim();
      if (ipv4.test(address) || isIpv6(address)) return [address];
      const message = `"${quotable(address)}" in localAddresses is not an IP address; write one of this machine, such as 127.0.0.2.`;
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

/** The scenario with the one step that its stages are; the same where there are none. */
function withStages(reading: Reading, config: Section, scenario: Scenario): Scenario {
  const records = readRecords(reading, config, 'stages', '{ to: 500, over: 30s, hold: 1m }');
  if (records === undefined) return scenario;
  const perSender = ratePerSender(scenario);
  const stages = records.flatMap((record) => readStage(reading, record, perSender) ?? []);
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

function readStage(
  reading: Reading,
  { item, section: stage }: ListRecord,
  perSender: number,
): StageSpec | undefined {
  const [to, rate] = [numberIn(stage, 'to'), numberIn(stage, 'rate')];
  if ((to === undefined) === (rate === undefined)) {
    // What is written and wrong has its own problem.
    if (to !== undefined || !(stage.written.has('to') || stage.written.has('rate'))) {
      const message =
        to === undefined
          ? 'This stage has no goal. Write the senders it ends with as to, or messages per second as rate.'
          : 'This stage has both to and rate. Remove one of them.';
      reading.error('stage', item, message);
    }
    return undefined;
  }
  return {
    to: to ?? (perSender > 0 ? Math.round(rate! / perSender) : 0),
    overMs: numberIn(stage, 'over') ?? 0,
    holdMs: numberIn(stage, 'hold') ?? 0,
  };
}
