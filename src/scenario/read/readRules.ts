/** Objectives of a scenario file: a map from their names to limits, or a list. */
import { isMap, isScalar, isSeq, type Node } from 'yaml';
import { isMetric, type Rule } from '../../base/slo';
import { withoutDefault, type KeySpec, type PlainSpec } from '../keys/keySpec';
import { maximumRules, sloItemKeys, sloKeyNamed, sloKeys } from '../keys/scenarioKeys';
import type { Reading } from '../text/scenarioReading';
import { didYouMean, question, quotable } from '../text/words';
import { nameOf, numberIn, readSection, readValue, sectionOf, sourceOf } from './readSection';
import type { Section, Written } from './readSection';

export interface WrittenRules {
  /** Without defaults. */
  readonly rules: readonly Rule[];
  /** What is written, by metric; values of a list are those of its first entry of that metric. */
  readonly section: Section;
}

export function readRules(reading: Reading, holder: Written | undefined): WrittenRules {
  const node = reading.follow(holder?.value);
  if (isSeq(node)) return readList(reading, node.items as Node[], holder!);
  const names = isMap(node) ? node.items.map(({ key }) => (isScalar(key) ? nameOf(key) : '')) : [];
  const offered = sloKeys();
  const further = [...new Set(names)]
    .filter((name) => offered.every((spec) => spec.name !== name))
    .flatMap((name) => sloKeyNamed(name) ?? []);
  const specs = [...offered, ...further];
  const section = readSection(reading, 'slo', specs, holder);
  const rules = specs.flatMap((spec): Rule[] => {
    const written = section.written.get(spec.name);
    if (written === undefined || !isMetric(spec.name)) return [];
    const map = reading.follow(written.value);
    if (!isMap(map)) {
      const limit = limitIn(section, spec);
      return limit === undefined ? [] : [{ metric: spec.name, limit }];
    }
    const rule = sectionOf(reading, `slo.${spec.name}`, spec.keys ?? [], map);
    if (!rule.written.has('limit')) {
      const message = `${spec.name} has no limit. Write one, such as "limit: …".`;
      reading.error('missing-limit', written.key, message);
    }
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
    ...(typeof name === 'string' && { name: name.slice(0, longestName) }),
    ...(values.get('step') === 'last' && { step: 'last' }),
    ...(abort === true && { abort }),
    ...(abort === true && typeof afterMs === 'number' && afterMs > 0 && { afterMs }),
  };
}

/** It stands in a sentence, and in a column of reports. */
const longestName = 100;

function readList(reading: Reading, items: readonly Node[], holder: Written): WrittenRules {
  if (items.length > maximumRules) {
    const message = `slo has at most ${maximumRules} objectives; the others are not read.`;
    reading.error('above-bounds', holder.key, message);
  }
  const written = new Map<string, Written>();
  const rules = items.slice(0, maximumRules).flatMap((item, index): Rule[] => {
    const map = reading.follow(item);
    if (!isMap(map)) {
      const message = 'Each entry of slo is a map, such as { metric: p99, limit: 1s }.';
      reading.error('wrong-type', item, message);
      return [];
    }
    const rule = sectionOf(reading, `slo.${index}`, sloItemKeys, map);
    checkName(reading, rule);
    const metric = readMetric(reading, rule, item);
    const spec = sloKeyNamed(metric ?? '');
    if (metric === undefined || spec === undefined) return [];
    const limitKey = rule.written.get('limit');
    if (limitKey === undefined) {
      const message = 'This objective has no limit. Write one, such as "limit: …".';
      reading.error('missing-limit', rule.written.get('metric')?.key, message);
      return [];
    }
    if (!written.has(metric)) written.set(metric, limitKey);
    // The default of a metric is for files that do not write it.
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

function checkName(reading: Reading, { values, written }: Section): void {
  const name = values.get('name');
  if (typeof name !== 'string') return;
  if (name.length > longestName || /[\r\n]/.test(name)) {
    const message = `The name of an objective is one line of at most ${longestName} characters.`;
    reading.error('too-large', written.get('name')?.place, message);
  }
}

function readMetric(reading: Reading, rule: Section, item: Node): string | undefined {
  const written = rule.written.get('metric');
  if (written === undefined) {
    const message = 'This entry of slo has no metric: write what is judged, such as "metric: p99".';
    reading.error('missing-metric', item, message);
    return undefined;
  }
  const node = reading.follow(written.value);
  const word = isScalar(node) && node.value !== null ? sourceOf(node) : '';
  if (isMetric(word)) return word;
  const names = sloKeys().map(({ name }) => name);
  const meant = didYouMean(word, names);
  const message = `There is no objective "${quotable(word)}".${question(meant)} Known are ${names.join(', ')}.`;
  reading.error('unknown-value', written.place, message, meant);
  return meant;
}
