import { isMap, isScalar, Scalar, type Node, type YAMLMap } from 'yaml';
import { allParameters, pipelineKeys, pipelineMessage, topKeys } from '../keys/scenarioKeys';
import { isPlain, type KeySpec } from '../keys/keySpec';
import { didYouMean, quotable } from '../text/words';
import type { Reading, FixDraft } from '../text/scenarioReading';
import { isNothing, placeOfValue, readValue, type Value, type Written } from './readValue';

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

/** Handles a key that no description knows. */
type OnUnknown = (key: Scalar, name: string) => void;

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
  unknown?: OnUnknown,
): Section {
  const node = reading.follow(holder?.value ?? null);
  const map = isMap(node) ? node : undefined;
  if (holder !== undefined && map === undefined && !isNothing(node)) {
    const names = specs.slice(0, 3).map(({ name }) => name);
    const message = `${path} must be a map of keys such as ${names.join(', ')}, each on its own line below it.`;
    reading.report('error', 'wrong-type', placeOfValue(reading, holder), message);
  }
  return sectionOf(reading, path, specs, map, unknown);
}

/** As {@link readSection}, for the map itself; without `unknown`, such keys are reported. */
export function sectionOf(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  map: YAMLMap | undefined,
  unknown?: OnUnknown,
): Section {
  const known = new Set(specs.map(({ name }) => name));
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
    if (known.has(name)) written.set(name, entry);
    else if (unknown !== undefined) unknown(entry.key, name);
    else reportUnknownKey(reading, { key: entry.key, name, path, specs, map: map! });
  }
  const values = plainValues(reading, specs, written);
  return { path, written, values, ...(map !== undefined && { map }) };
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
  const value = optionalNumberIn(section, name);
  if (value === undefined) throw new Error(`${section.path}.${name} is no number`);
  return value;
}

/** The number of a plain key without default. */
export function optionalNumberIn({ values }: Section, name: string): number | undefined {
  const value = values.get(name);
  return typeof value === 'number' ? value : undefined;
}

/** The text of a plain key. */
export function textIn({ values }: Section, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === 'string' ? value : undefined;
}

/** The choice of a plain key, typed by its choices. */
export const choiceIn = <T extends string>(
  { values }: Section,
  name: string,
  choices: readonly T[],
): T | undefined => choices.find((choice) => choice === values.get(name));

/** A key that its section does not know. */
export interface UnknownKey {
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
  const isMisspelt = names.some((known) => known.toLowerCase() === name.toLowerCase());
  const elsewhere = isMisspelt ? [] : homesOf(name).filter((home) => home !== path);
  if (elsewhere.length > 0) {
    const message = `${shown} does not belong ${where}, but in ${elsewhere.join(' or ')}. Move it there.`;
    const fix = moveInto(reading.text, unknown, elsewhere[0]!);
    reading.report('error', 'unknown-key', key, message, fix);
    return;
  }
  if (name === '<<') {
    const message = 'Merge keys (<<) are not understood here. Write the keys out.';
    reading.report('error', 'unknown-key', key, message);
    return;
  }
  const meant = didYouMean(name, names);
  const question = meant === undefined ? knownKeys(names) : `Did you mean "${meant}"?`;
  const message = `There is no key ${shown} ${where}. ${question}`;
  const fix =
    meant === undefined ? undefined : { title: `Write "${meant}"`, text: quotedAs(key, meant) };
  reading.report('error', 'unknown-key', key, message, fix);
}

const knownKeys = (names: readonly string[]): string =>
  names.length <= 12 ? `Known are ${names.join(', ')}.` : 'Remove it or correct its name.';

/** Sections that know a key of exactly this name, as people write their path. */
export function homesOf(name: string): string[] {
  const has = (keys: readonly KeySpec[] | undefined): boolean =>
    keys?.some((spec) => spec.name === name) === true;
  const homes = [
    ...(has(topKeys) ? ['the top of the file'] : []),
    ...topKeys.flatMap((section) => [
      ...(has(section.keys) ? [section.name] : []),
      ...(section.keys ?? []).flatMap((inner) =>
        has(inner.keys) ? `${section.name}.${inner.name}` : [],
      ),
    ]),
    ...(allParameters.has(name) ? ['scenario.parameters'] : []),
  ];
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
  home: string,
): FixDraft | undefined {
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
