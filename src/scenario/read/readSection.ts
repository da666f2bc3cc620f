import { isMap, isScalar, Scalar, type Node, type YAMLMap } from 'yaml';
import { allParameters, pipelineKeys, pipelineMessage, topKeys } from '../keys/scenarioKeys';
import { isPlain, type KeySpec } from '../keys/keySpec';
import { didYouMean, quotable } from '../text/words';
import type { Reading, FixDraft } from '../text/scenarioReading';
import { placeOfValue, readValue, type Value, type Written } from './readValue';

/** A map of the file, read by the descriptions of its keys. */
export interface Section {
  /** Where the section hangs, e.g. `config`; empty for the top. */
  readonly path: string;
  /** Known keys that stand in the file, also those with bad values. */
  readonly written: ReadonlyMap<string, Written>;
  /** Parsed values of plain keys, defaults filled in. */
  readonly values: ReadonlyMap<string, Value>;
  readonly map?: YAMLMap;
}

export interface SectionOptions {
  /** Handles a key that no description knows; by default it is reported as unknown. */
  readonly unknown?: (key: Scalar, name: string) => void;
}

/**
 * Reads a map: unknown and repeated keys are reported, plain values are read, the others are left to
 * the caller under `written`. A missing or empty section has all defaults.
 *
 * @param holder the key the section hangs on; undefined when it is absent
 */
export function readSection(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  holder: Written | undefined,
  options: SectionOptions = {},
): Section {
  const node = holder === undefined ? undefined : reading.follow(holder.value);
  if (node === undefined || isEmpty(node))
    return sectionOf(reading, path, specs, undefined, options);
  if (isMap(node)) return sectionOf(reading, path, specs, node, options);
  const keys = specs
    .slice(0, 3)
    .map((spec) => spec.name)
    .join(', ');
  reading.report(
    'error',
    'wrong-type',
    placeOfValue(reading, holder!),
    `${path} must be a map of keys such as ${keys}, each on its own line below it.`,
  );
  return sectionOf(reading, path, specs, undefined, options);
}

/** As {@link readSection}, for the map itself. */
export function sectionOf(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  map: YAMLMap | undefined,
  options: SectionOptions = {},
): Section {
  const byName = new Map(specs.map((spec) => [spec.name, spec]));
  const written = new Map<string, Written>();
  const seen = new Set<string>();
  for (const { key, value } of map?.items ?? []) {
    if (reading.full()) break;
    const entry = { key: keyScalar(reading, key as Node), value: (value ?? null) as Node | null };
    const name = nameOf(entry.key);
    if (seen.has(name)) {
      const message = `${shortName(name)} is written twice in ${path === '' ? 'this file' : path}; the first one counts. Remove one of them.`;
      reading.report('error', 'duplicate-key', entry.key, message);
      continue;
    }
    seen.add(name);
    if (byName.has(name)) written.set(name, entry);
    else if (options.unknown !== undefined) options.unknown(entry.key, name);
    else reportUnknownKey(reading, { key: entry.key, name, path, specs, map: map! });
  }
  return {
    path,
    written,
    values: plainValues(reading, specs, written),
    ...(map === undefined ? {} : { map }),
  };
}

function plainValues(
  reading: Reading,
  specs: readonly KeySpec[],
  written: ReadonlyMap<string, Written>,
): Map<string, Value> {
  const values = new Map<string, Value>();
  for (const spec of specs) {
    if (!isPlain(spec)) continue;
    const entry = written.get(spec.name);
    const value = entry === undefined ? spec.default : readValue(reading, spec, entry);
    if (value !== undefined) values.set(spec.name, value);
  }
  return values;
}

const isEmpty = (node: Node): boolean => isScalar(node) && node.value === null;

/** Keys are scalars; anything else gets a stand-in at its place, so that it is reported as unknown. */
function keyScalar(reading: Reading, key: Node): Scalar {
  if (isScalar(key)) return key;
  const { offset, length } = reading.placeOf(key);
  const standIn = new Scalar('(not a text)');
  standIn.range = [offset, offset + length, offset + length];
  return standIn;
}

/** A key as text; YAML reads some keys as numbers or as nothing. */
export const nameOf = (key: Scalar): string =>
  typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));

const shortName = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name);

/** The number of a plain key that has a default; anything else is a defect of ours. */
export function numberIn(section: Section, name: string): number {
  const value = section.values.get(name);
  if (typeof value !== 'number') throw new Error(`${section.path}.${name} is no number`);
  return value;
}

/** The number of a plain key without default. */
export function optionalNumberIn(section: Section, name: string): number | undefined {
  const value = section.values.get(name);
  return typeof value === 'number' ? value : undefined;
}

/** The text of a plain key. */
export function textIn(section: Section, name: string): string | undefined {
  const value = section.values.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** The choice of a plain key, typed by its choices. */
export function choiceIn<T extends string>(
  section: Section,
  name: string,
  choices: readonly T[],
): T | undefined {
  const value = section.values.get(name);
  return choices.find((choice) => choice === value);
}

export function flagIn(section: Section, name: string): boolean {
  return section.values.get(name) === true;
}

/** A key that its section does not know. */
interface UnknownKey {
  readonly key: Scalar;
  readonly name: string;
  /** Path of the section it stands in; empty for the top. */
  readonly path: string;
  readonly specs: readonly KeySpec[];
  readonly map?: YAMLMap;
}

/** Reports an unknown key with the key that was probably meant, or the section it belongs to. */
export function reportUnknownKey(reading: Reading, unknown: UnknownKey): void {
  const { key, name, path, specs } = unknown;
  if (path === '' && pipelineKeys.includes(name)) {
    reading.report('error', 'pipeline-file', key, pipelineMessage);
    return;
  }
  const shown = `"${quotable(name)}"`;
  const where = path === '' ? 'at the top' : `in ${path}`;
  const names = specs.map((spec) => spec.name);
  const sameLetters = names.find((known) => known.toLowerCase() === name.toLowerCase());
  const elsewhere = sameLetters === undefined ? homesOf(name).filter((home) => home !== path) : [];
  if (elsewhere.length > 0) {
    reading.report(
      'error',
      'unknown-key',
      key,
      `${shown} does not belong ${where}, but in ${elsewhere.join(' or ')}. Move it there.`,
      moveInto(reading.text, unknown, elsewhere),
    );
    return;
  }
  if (name === '<<') {
    const message = 'Merge keys (<<) are not understood here. Write the keys out.';
    reading.report('error', 'unknown-key', key, message);
    return;
  }
  const meant = didYouMean(name, names);
  reading.report(
    'error',
    'unknown-key',
    key,
    meant === undefined
      ? `There is no key ${shown} ${where}. ${knownKeys(names)}`
      : `There is no key ${shown} ${where}. Did you mean "${meant}"?`,
    meant === undefined ? undefined : { title: `Write "${meant}"`, text: quotedAs(key, meant) },
  );
}

const knownKeys = (names: readonly string[]): string =>
  names.length <= 12 ? `Known are ${names.join(', ')}.` : 'Remove it or correct its name.';

/** Sections that know a key of exactly this name, as people write their path. */
export function homesOf(name: string): string[] {
  const homes: string[] = [];
  if (topKeys.some((spec) => spec.name === name)) homes.push('the top of the file');
  for (const section of topKeys) {
    if (section.keys?.some((spec) => spec.name === name) === true) homes.push(section.name);
    for (const inner of section.keys ?? []) {
      if (inner.keys?.some((spec) => spec.name === name) === true) {
        homes.push(`${section.name}.${inner.name}`);
      }
    }
  }
  if (allParameters.has(name)) homes.push('scenario.parameters');
  // A mix has the keys of a scenario; naming the plain one is enough.
  return homes.includes('scenario') ? homes.filter((home) => home !== 'scenarios') : homes;
}

/** In the quotes the key has: in `{"key":1}` the colon is one only because of them. */
function quotedAs({ type }: Scalar, name: string): string {
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : '';
  return quote + name + quote;
}

/**
 * The first misplaced key at the top can open the section it belongs to, as long as that is absent. Only
 * its own line is moved, so its value must stand there too.
 */
function moveInto(
  text: string,
  { key, name, path, map }: UnknownKey,
  homes: readonly string[],
): FixDraft | undefined {
  const home = homes[0]!;
  const section = topKeys.find((spec) => spec.name === home);
  const present =
    map === undefined || map.items.some((item) => (item.key as Scalar | null)?.value === home);
  if (path !== '' || section?.type !== 'section' || present || map.flow === true) return undefined;
  const value = map.items.find((item) => item.key === key)?.value;
  if (!isScalar(value) || /[\r\n]/.test(text.slice(key.range?.[0], value.range?.[1]))) {
    return undefined;
  }
  return { title: `Put "${name}" into ${home}`, text: `${home}:\n  ${name}` };
}
