import { isMap, isScalar, Scalar, type Node, type YAMLMap } from 'yaml';
import { isPlain, type KeySpec } from '../keys/keySpec';
import type { Reading } from '../text/scenarioReading';
import { placeOfValue, readValue, type Value, type Written } from './readValue';
import { reportUnknownKey } from '../keys/unknownKey';

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
