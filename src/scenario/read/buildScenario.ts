import { isMap, isScalar, type Node } from 'yaml';
import { latencyMetrics, latencyShare, type LatencyMetric } from '../../base/objectives/latency';
import {
  azureServices,
  serviceOfHost,
  services,
  usualService,
  type Service,
} from '../../base/services';
import { sloOf, type Slo } from '../../base/slo';
import { connectionText } from '../../base/text';
import { formatShare } from '../../base/units';
import { placeholderNames } from '../../usecases/ownArguments';
import { hubRunOf, isRest, type UseCase } from '../../usecases/useCase';
import {
  configKeys,
  fieldOf,
  keysReadApart,
  upstreamKeys,
  headerNamePattern,
  type ConfigFields,
} from '../keys/configKeys';
import { kinds, type Scenario, type ScenarioEntry, type UpstreamSpec } from '../scenario';
import { behindOf, hostsOf, type TargetSpec } from '../target/targetKinds';
import type { Reading, Place } from '../text/scenarioReading';
import { didYouMean, quotable } from '../text/words';
import type { ReadEntry } from './readEntries';
import {
  choiceIn,
  numberIn,
  optionalNumberIn,
  readSection,
  textIn,
  placeOfValue,
  checkReferences,
  isNothing,
  partOf,
  sourceOf,
  nameOf,
  type Section,
} from './readSection';

/** Default warm-up; shorter steps are warmed up as long as they last. */
const usualWarmupMs = 5000;
/** Where the Azure SignalR benchmark wrote its counters when its file named no place. */
const seedCounterFile = 'counters.txt';
/** Members of the guides' small group, the size to suggest. */
export const smallGroup = 10;

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
  const kind = choiceIn(top, 'kind', kinds) ?? 'perf';
  const fields = configFields(reading, config);
  const { connections, baseSending, singleStepDurationMs } = fields;
  const upstream = readUpstream(reading, config);
  return {
    kind,
    service: serviceOf(config, target, entries),
    ...(target !== undefined && { target }),
    ...(kind === 'resultparser' && { resultFilePath: seedCounterFile }),
    warmupMs: Math.min(usualWarmupMs, singleStepDurationMs),
    ...fields,
    // The Azure SignalR benchmark repaired with kind: perf; where nobody says so, a drop stays a drop.
    repair: config.written.has('repair')
      ? config.values.get('repair') === true
      : kind === 'perf' && top.written.has('kind'),
    baseSending: Math.min(connections, baseSending),
    ...(upstream !== undefined && { upstream }),
    entries: entries.map((read) => withGroupCount(read, connections)),
    slo,
  };
}

/** Values of `config` under the names that a scenario has for them; absent keys are really absent. */
function configFields(
  reading: Reading,
  config: Section,
): Omit<ConfigFields, 'repair' | 'warmupMs'> {
  const fields: Record<string, unknown> = {};
  for (const spec of configKeys) {
    if ((keysReadApart as readonly string[]).includes(spec.name)) continue;
    const value =
      spec.type === 'texts' ? readTexts(reading, config, spec.name) : config.values.get(spec.name);
    if (value !== undefined) fields[fieldOf(spec)] = value;
  }
  return fields as Omit<ConfigFields, 'repair' | 'warmupMs'>;
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

/** Whether messages of the entry go to groups. */
export const needsGroups = (useCase: UseCase, { parameters }: ScenarioEntry): boolean =>
  hubRunOf(useCase, parameters).audience === 'group' ||
  useCase.parameters.some(({ name, required }) => name === 'groupCount' && required === true);

/** `service` as written; else by the hosts, then Azure SignalR for connection strings and REST, else a plain hub. */
function serviceOf(
  config: Section,
  target: TargetSpec | undefined,
  entries: readonly ReadEntry[],
): Service {
  const written = choiceIn(config, 'service', azureServices);
  if (written !== undefined) return written;
  const known = hostsOf(target).flatMap((host) => serviceOfHost(host) ?? []);
  const notOfHubs = known.find((service) => !services[service].speaksHub);
  if (notOfHubs !== undefined) return notOfHubs;
  const rest = entries.some(({ useCase }) => isRest(useCase));
  return rest || behindOf(target) === 'service' ? usualService : 'hub';
}

function readUpstream(reading: Reading, config: Section): UpstreamSpec | undefined {
  const written = config.written.get('upstream');
  const section = readSection(reading, 'config.upstream', upstreamKeys, written);
  if (section.map === undefined) return undefined;
  const publicUrl = textIn(section, 'publicUrl');
  return { port: numberIn(section, 'port'), ...(publicUrl !== undefined && { publicUrl }) };
}

/** Messages that take at least this long count against `latencyPercentage`; fixed in the Azure SignalR benchmark. */
const seedLimitUs = 1_000_000;

/**
 * The objectives: the defaults, changed one by one by what `slo` says. The Azure SignalR benchmark's two keys stand
 * for `slo.dropped` and for the limit of one percentile, which then replaces the default `p99`; `slo`
 * wins over them.
 */
export function readSlo(reading: Reading, slo: Section, config: Section): Slo {
  const seedMetric = readLatencyPercentage(reading, slo, config);
  const seedDropped = readFailPercentage(reading, slo, config);
  return sloOf((metric, { unit }) => {
    if (metric === seedMetric) return seedLimitUs;
    if (metric === 'p99' && seedMetric !== undefined) return undefined;
    if (metric === 'dropped' && seedDropped !== undefined) return seedDropped;
    const limit = optionalNumberIn(slo, metric);
    return limit === undefined || unit !== 'duration' ? limit : limit * 1000;
  });
}

function readFailPercentage(reading: Reading, slo: Section, config: Section): number | undefined {
  const written = config.written.get('connectionFailPercentage');
  if (written === undefined) return undefined;
  if (slo.written.has('dropped')) {
    const message = 'connectionFailPercentage is not used: slo.dropped wins. Remove one of them.';
    reading.report('warning', 'two-slos', written.key, message);
    return undefined;
  }
  return optionalNumberIn(config, 'connectionFailPercentage');
}

/** The percentile that must stay under 1 s; undefined when `slo` or the defaults decide. */
function readLatencyPercentage(
  reading: Reading,
  slo: Section,
  config: Section,
): LatencyMetric | undefined {
  const written = config.written.get('latencyPercentage');
  const share = optionalNumberIn(config, 'latencyPercentage');
  if (written === undefined) return undefined;
  const own = latencyMetrics.find((metric) => slo.written.has(metric));
  if (own !== undefined) {
    const message = `latencyPercentage is not used: slo.${own} wins. Remove one of them.`;
    reading.report('warning', 'two-slos', written.key, message);
    return undefined;
  }
  if (share === undefined) return undefined;
  const exact = latencyMetrics.find((metric) => Math.abs(1 - latencyShare[metric] - share) < 1e-9);
  if (exact !== undefined) return exact;
  const stricter = latencyMetrics.find((metric) => 1 - latencyShare[metric] < share)!;
  const asked = formatPercentile(1 - share);
  const message = `latencyPercentage ${share} asks for ${asked} of the messages under 1 s. ${asked} is no percentile we judge, so the next stricter one is used: slo.${stricter}: 1s. Write an objective into slo to choose another.`;
  reading.report('warning', 'latency-percentage', placeOfValue(reading, written), message);
  return stricter;
}

const formatPercentile = (share: number): string =>
  share > 0.9 ? `${Number((share * 100).toFixed(4))} %` : formatShare(share);

/** Headers or query parameters one file may set. */
const maximumTexts = 100;

/** Reports placeholders that only messages have, and what looks like one. */
function checkPlaceholders(reading: Reading, key: string, text: string, place: Place): void {
  for (const { offset, length, name } of connectionText(text).wrong) {
    const at = partOf(reading, place, text, offset, length);
    const literal = `{${text.slice(offset, offset + length)}`;
    const known =
      placeholderNames.includes(name) || didYouMean(name, ['senderIndex']) !== undefined;
    const fixed = known ? '{senderIndex}' : literal;
    const message = `{${quotable(name)}} is no placeholder of ${key}, which are sent when a connection opens: they have {senderIndex}, the number of the connection. Write {{ for a brace.`;
    // Only where the place is that of the placeholder itself.
    const fix =
      at.length === length ? { title: `Write ${quotable(fixed)}`, text: fixed } : undefined;
    reading.report('error', 'placeholder', at, message, fix);
  }
}

/** Reads a map from names to texts (`headers`, `query`); numbers and flags count as they are written. */
export function readTexts(reading: Reading, config: Section, name: string): Record<string, string> {
  const written = config.written.get(name);
  const map = reading.follow(written?.value ?? null);
  if (written === undefined || isNothing(map)) return {};
  if (!isMap(map)) {
    const message = `${name} must be a map of names and texts.`;
    reading.report('error', 'wrong-type', placeOfValue(reading, written), message);
    return {};
  }
  const texts = new Map<string, string>();
  for (const item of map.items) {
    const key = item.key as Node;
    const value = (item.value ?? null) as Node | null;
    if (reading.full()) break;
    if (texts.size >= maximumTexts) {
      const message = `${name} has more than ${maximumTexts} entries.`;
      reading.report('error', 'above-bounds', key, message);
      break;
    }
    const entry = isScalar(key) ? nameOf(key) : '';
    const node = reading.follow(value);
    if (entry === '' || (name === 'headers' && !new RegExp(headerNamePattern).test(entry))) {
      reading.report('error', 'bad-name', key, `This is no name that ${name} can have.`);
    } else if (texts.has(entry)) {
      const message = `"${quotable(entry)}" is written twice in ${name}.`;
      reading.report('error', 'duplicate-key', key, message);
    } else if (!isScalar(node) || node.value === null) {
      const place = value === null ? reading.placeOf(key) : reading.placeOf(value);
      const message = `"${quotable(entry)}" in ${name} must be a text.`;
      reading.report('error', 'wrong-type', place.length === 0 ? key : place, message);
    } else {
      const text = sourceOf(node);
      const place = reading.placeOf(value!);
      checkReferences(reading, name, text, place, true);
      checkPlaceholders(reading, name, text, place);
      // A line break would begin a header of its own.
      if (name === 'headers' && /[\r\n]/.test(text)) {
        const message = `"${quotable(entry)}" in headers has a line break in its value.`;
        reading.report('error', 'wrong-type', place, message);
      } else texts.set(entry, text);
    }
  }
  return Object.fromEntries(texts);
}
