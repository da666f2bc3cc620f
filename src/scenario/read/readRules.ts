/** Objectives of a scenario file: a map from their names to limits, or a list. */
import { isMap, isScalar, isSeq } from 'yaml';
import {
  defaultRules,
  isMetric,
  addFollowingRules,
  sloFromRules,
  type Slo,
  type Rule,
} from '../../base/slo';
import { withoutDefault, type KeySpec, type PlainSpec } from '../keys/keySpec';
import { maximumRules, sloItemKeys, sloKeyNamed, sloKeys } from '../keys/scenarioKeys';
import type { Reading } from '../text/scenarioReading';
import { didYouMean, didYouMeanText, safeExcerpt } from '../text/words';
import {
  numberIn,
  readRecords,
  readSection,
  checkRecord,
  sectionOf,
  type Section,
} from './readSection';
import { scalarText, readValue, type Written } from './readValue';
import {
  isPercentile,
  byShare,
  percentileShare,
  latencyMetrics,
} from '../../base/objectives/percentile';
import { formatShare } from '../../base/units';

export interface WrittenRules {
  readonly rules: readonly Rule[];
  /** Values are by metric; of a list the first of each. */
  readonly section: Section;
}

export function readRules(reading: Reading, holder: Written | undefined): WrittenRules {
  const node = reading.resolve(holder?.value);
  if (isSeq(node)) return readList(reading, holder!);
  const names = isMap(node)
    ? node.items.map(({ key }) => (isScalar(key) ? scalarText(key) : ''))
    : [];
  const offered = sloKeys();
  const further = [...new Set(names)]
    .filter((name) => offered.every((spec) => spec.name !== name))
    .flatMap((name) => sloKeyNamed(name) ?? []);
  const specs = [...offered, ...further];
  const section = readSection(reading, 'slo', specs, holder);
  const rules = specs.flatMap((spec): Rule[] => {
    const written = section.written.get(spec.name);
    if (written === undefined || !isMetric(spec.name)) return [];
    const map = reading.resolve(written.value);
    if (!isMap(map)) {
      const limit = limitIn(section, spec);
      return limit === undefined ? [] : [{ metric: spec.name, limit }];
    }
    const read = sectionOf(reading, `slo.${spec.name}`, spec.keys ?? [], map);
    const rule = checkRecord(reading, spec, read, written.key);
    const limit = limitIn(rule, { ...spec, name: 'limit' });
    return limit === undefined ? [] : [{ metric: spec.name, limit, ...optionsOf(reading, rule) }];
  });
  return { rules, section };
}

/** In the unit of objectives: microseconds, not the milliseconds of files. */
function limitIn(section: Section, { name, type }: KeySpec): number | undefined {
  const limit = numberIn(section, name);
  return limit === undefined || type !== 'duration' ? limit : limit * 1000;
}

function optionsOf(reading: Reading, rule: Section): Omit<Rule, 'metric' | 'limit'> {
  const { values, written } = rule;
  const [name, abort, afterMs] = [values.get('name'), values.get('abort'), values.get('after')];
  if (written.has('after') && abort !== true) {
    const message = 'after has an effect with abort: true only. Add that, or remove after.';
    reading.warning('no-effect', written.get('after')?.key, message);
  }
  return {
    ...(typeof name === 'string' && { name }),
    ...(values.get('step') === 'last' && { step: 'last' }),
    ...(abort === true && { abort }),
    ...(abort === true && typeof afterMs === 'number' && afterMs > 0 && { afterMs }),
  };
}

const listed: KeySpec = {
  ...{ name: 'slo', type: 'entries', keys: sloItemKeys, summary: '' },
  ...{ most: maximumRules, example: '{ metric: p99, limit: 1s }' },
};

function readList(reading: Reading, holder: Written): WrittenRules {
  const written = new Map<string, Written>();
  const rules = readRecords(reading, '', listed, holder)!.flatMap((rule): Rule[] => {
    const metric = readMetric(reading, rule.written.get('metric'));
    const [spec, limitKey] = [sloKeyNamed(metric ?? ''), rule.written.get('limit')];
    if (metric === undefined || spec === undefined || limitKey === undefined) return [];
    if (!written.has(metric)) written.set(metric, limitKey);
    const plain = { ...withoutDefault(spec), name: 'limit' } as PlainSpec;
    const value = readValue(reading, plain, limitKey);
    if (typeof value !== 'number' || !isMetric(metric)) return [];
    const limit = spec.type === 'duration' ? value * 1000 : value;
    return [{ metric, limit, ...optionsOf(reading, rule) }];
  });
  const at: Section['at'] = (...names) =>
    names.flatMap((name) => written.get(name) ?? [])[0]?.place;
  return { rules, section: { path: 'slo', written, values: new Map(), at } };
}

function readMetric(reading: Reading, written: Written | undefined): string | undefined {
  if (written === undefined) return undefined;
  const node = reading.resolve(written.value);
  const word = isScalar(node) && node.value !== null ? scalarText(node) : '';
  if (isMetric(word)) return word;
  const names = sloKeys().map(({ name }) => name);
  const meant = didYouMean(word, names);
  const message = `There is no objective "${safeExcerpt(word)}".${didYouMeanText(meant)} Known are ${names.join(', ')}.`;
  reading.error('unknown-value', written.place, message, meant);
  return meant;
}

/** The limit of `latencyPercentage` in the Azure SignalR benchmark. */
const seedLimitUs = 1_000_000;

/** `slo` wins over `connectionFailPercentage` and `latencyPercentage`. */
export function readSlo(reading: Reading, { rules, section }: WrittenRules, config: Section): Slo {
  const seedMetric = readPercentage(reading, section, config);
  const failed = config.written.get('connectionFailPercentage');
  const isReplaced = section.written.has('dropped');
  const seedDropped = isReplaced ? undefined : numberIn(config, 'connectionFailPercentage');
  if (isReplaced) {
    const message = 'connectionFailPercentage is not used: slo.dropped wins. Remove one of them.';
    reading.warning('two-slos', failed?.key, message);
  }
  const usual = defaultRules().flatMap((rule) => {
    if (section.written.has(rule.metric)) return [];
    if (rule.metric === 'p99' && seedMetric !== undefined) return [];
    if (rule.metric === 'dropped') return [{ ...rule, limit: seedDropped ?? rule.limit }];
    return [rule];
  });
  const isLimited = seedMetric !== undefined && seedMetric !== 'any';
  const seed = isLimited ? [{ metric: seedMetric, limit: seedLimitUs }] : [];
  return sloFromRules(addFollowingRules([...usual, ...seed, ...rules]));
}

/** `any`: all messages may be slower than 1 s. */
function readPercentage(reading: Reading, slo: Section, config: Section) {
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
  if (isPercentile(exact) && Math.abs(1 - percentileShare(exact) - share) < 1e-9) return exact;
  const stricter = latencyMetrics.find((metric) => 1 - percentileShare(metric) < share)!;
  const asked = formatPercentile(1 - share);
  const message = `latencyPercentage ${share} asks for ${asked} of the messages under 1 s. ${asked} is not a percentile we judge, so the next stricter one is used: slo.${stricter}: 1s. Write an objective into slo to choose another.`;
  reading.warning('latency-percentage', written?.place, message);
  return stricter;
}

const formatPercentile = (share: number): string =>
  share > 0.9 ? `${Number((share * 100).toFixed(4))} %` : formatShare(share);
