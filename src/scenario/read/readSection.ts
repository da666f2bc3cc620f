import { isMap, isScalar, Scalar, type Node, type YAMLMap } from 'yaml';
import { isPlain, expectedWords, type KeySpec, type PlainSpec } from '../keys/configKeys';
import { allParameters, pipelineKeys, pipelineMessage, topKeys } from '../keys/scenarioKeys';
import { malformedReferences, referencesIn } from '../target/references';
import { writing, type Reading, type FixDraft, type Place } from '../text/scenarioReading';
import {
  didYouMean,
  quotable,
  numberMeant,
  plainNumber,
  shownNumber,
  withUnit,
  writtenNumber,
  listed,
  type NumberType,
} from '../text/words';

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

export type Value = number | string | boolean;

/** Tokens and connection strings stay far below. */
const longestText = 20_000;

/** A key of a map as it stands in the file. */
export interface Written {
  readonly key: Scalar;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
}

/** The value's place, or the key's when there is no value to point at. */
export function placeOfValue(reading: Reading, { key, value }: Written): Place {
  if (value === null) return reading.placeOf(key);
  const place = reading.placeOf(value);
  return place.length === 0 && place.override === undefined ? reading.placeOf(key) : place;
}

/** What the readers of one kind of value need. */
interface Field {
  readonly reading: Reading;
  readonly spec: PlainSpec;
  readonly place: Place;
}

/**
 * Reads one scalar by its description and reports what is wrong with it.
 *
 * @returns the parsed value in the unit of the description; for a bad one the nearest bound or the
 *   default, which may be undefined
 */
export function readValue(reading: Reading, spec: PlainSpec, written: Written): Value | undefined {
  const node = reading.follow(written.value);
  const place = placeOfValue(reading, written);
  if (node === undefined && written.value !== null) return spec.default;
  if (isNothing(node)) {
    const instead =
      spec.default === undefined ? 'Remove the key' : `Remove the key to get ${shownDefault(spec)}`;
    const message = `${spec.name} has no value. ${instead}, or write ${expectedWords[spec.type]}.`;
    reading.report('error', 'empty-value', place, message);
    return spec.default;
  }
  if (!isScalar(node)) {
    const message = `${spec.name} must be ${expectedWords[spec.type]}, not a list or a map.`;
    reading.report('error', 'wrong-type', place, message);
    return spec.default;
  }
  const field: Field = { reading, spec, place };
  switch (spec.type) {
    case 'flag':
      return readFlag(field, node.value);
    case 'choice':
      return readChoice(field, sourceOf(node));
    case 'text':
      return readText(field, node);
    case 'list':
      throw new Error(`${spec.name} is no scalar`);
    default:
      return readNumber(field, spec.type, node.value);
  }
}

/** Whether nothing is written there. */
export const isNothing = (node: Node | undefined): node is undefined =>
  node === undefined || (isScalar(node) && node.value === null);

const yes = ['true', 'yes', 'on', '1'];
const no = ['false', 'no', 'off', '0'];

function readFlag({ reading, spec, place }: Field, value: unknown): Value | undefined {
  if (typeof value === 'boolean') return value;
  const word = String(value).toLowerCase();
  const flag = yes.includes(word) ? true : no.includes(word) ? false : undefined;
  const meant = flag === undefined ? undefined : String(flag);
  // Only in YAML 1.1 are yes and on flags.
  const how =
    meant === undefined
      ? ''
      : word === meant
        ? ', without quotes'
        : `, not "${quotable(String(value))}": write ${meant}`;
  const message = `${spec.name} must be true or false${how}.`;
  reading.report('error', 'wrong-type', place, message, writing(meant));
  return flag ?? spec.default;
}

function readChoice({ reading, spec, place }: Field, word: string): Value | undefined {
  const choices = spec.choices ?? [];
  if (choices.includes(word)) return word;
  if (spec.refused?.value === word) {
    reading.report('error', spec.refused.code, place, spec.refused.message);
    return spec.default;
  }
  const meant = didYouMean(word, choices);
  const fix = writing(meant);
  if (meant?.toLowerCase() === word.toLowerCase()) {
    reading.report('warning', 'letter-case', place, `${spec.name} is written ${meant}.`, fix);
    return meant;
  }
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const message = `${spec.name} cannot be "${quotable(word)}".${question} It knows ${listed(choices, 'or')}.`;
  reading.report('error', 'unknown-value', place, message, fix);
  return meant ?? spec.default;
}

function readText({ reading, spec, place }: Field, node: Scalar): Value | undefined {
  const { value } = node;
  if (typeof value !== 'string') {
    const source = sourceOf(node);
    const fix = { title: 'Put quotes around it', text: `"${source}"` };
    const message = `${spec.name} must be a text: put quotes around it.`;
    reading.report('error', 'wrong-type', place, message, fix);
    return source;
  }
  if (value.trim() === '') {
    reading.report('error', 'empty-value', place, `${spec.name} is an empty text.`);
    return spec.default;
  }
  if (value.length > longestText) {
    const message = `${spec.name} is longer than ${longestText} characters.`;
    reading.report('error', 'too-large', place, message);
    return spec.default;
  }
  checkReferences(reading, spec.name, value, place, spec.references === true);
  return value;
}

/**
 * Reads a number with or without unit and reports what is wrong with it.
 *
 * @param raw value of the scalar as YAML gives it
 * @returns the number in the unit of its type; for a bad one the nearest bound, the whole number beside
 *   it, or the default
 */
function readNumber(field: Field, type: NumberType, raw: unknown): number | undefined {
  const { reading, spec, place } = field;
  const { name, minimum = -Infinity, maximum = Infinity } = spec;
  const text = typeof raw === 'string' ? raw : undefined;
  const bare = typeof raw === 'number' || (text !== undefined && plainNumber.test(text));
  const value = bare ? Number(raw) : text === undefined ? undefined : withUnit(type, text);
  if (value === undefined || Number.isNaN(value)) {
    const negative = text !== undefined && /^-\s*[0-9.]+\s*(?:%|[a-zA-Z]*)$/.test(text.trim());
    if (negative) return outOfBounds(field, type, -1, undefined);
    const meant = text === undefined ? undefined : numberMeant(type, text);
    const message = wrongNumber(name, type, raw);
    reading.report('error', 'wrong-type', place, message, writing(meant));
    return typeof spec.default === 'number' ? spec.default : undefined;
  }
  const unit = bare ? meantInUnit(spec, value, String(raw).trim()) : undefined;
  if (value < minimum || value > maximum) return outOfBounds(field, type, value, unit);
  if ((type === 'count' || (type === 'size' && bare)) && !Number.isInteger(value)) {
    const rounded = Math.max(spec.minimum ?? 0, Math.round(value));
    const message = `${name} must be a whole number, not ${value}.`;
    reading.report('error', 'not-whole', place, message, writing(String(rounded)));
    return rounded;
  }
  if (unit !== undefined) {
    const message = `${name}: ${value} is read as ${shownNumber(type, value)}. Did you mean ${unit}? Write the unit to be sure.`;
    reading.report('warning', 'unit', place, message, writing(unit));
  } else if (text !== undefined && bare) {
    const message = `${name} is a number: write ${text.trim()} without quotes.`;
    reading.report('warning', 'quoted-number', place, message, writing(text.trim()));
  }
  return type === 'size' ? Math.round(value) : value;
}

function wrongNumber(name: string, type: NumberType, raw: unknown): string {
  const shown = typeof raw === 'string' ? `"${quotable(raw)}"` : String(raw);
  const reference =
    typeof raw === 'string' && raw.includes('${')
      ? ' References are understood in texts such as target, not in numbers.'
      : '';
  return `${name} must be ${expectedWords[type]}; ${shown} is none.${reference}`;
}

function meantInUnit(
  { unitMistake }: PlainSpec,
  value: number,
  source: string,
): string | undefined {
  const isMistake =
    unitMistake !== undefined && value >= unitMistake.from && value < unitMistake.below;
  return isMistake ? `${source}${unitMistake.unit}` : undefined;
}

function outOfBounds(
  { reading, spec, place }: Field,
  type: NumberType,
  value: number,
  meant: string | undefined,
): number | undefined {
  const { minimum = -Infinity, maximum = Infinity } = spec;
  const bound = value > maximum ? maximum : minimum;
  const atLeast = `at least ${shownNumber(type, minimum)}`;
  const [code, rule] =
    value > maximum
      ? ['above-bounds', `at most ${shownNumber(type, maximum)}`]
      : value < 0 && minimum >= 0
        ? ['negative', minimum > 0 ? atLeast : 'not negative']
        : ['below-bounds', atLeast];
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const fix = code === 'negative' ? undefined : writing(meant ?? writtenNumber(type, bound));
  reading.report('error', code, place, `${spec.name} must be ${rule}.${question}`, fix);
  if (code === 'negative') return typeof spec.default === 'number' ? spec.default : minimum;
  return Number.isFinite(bound) ? bound : undefined;
}

/**
 * Reports what looks like a reference but is none, and references where they are not understood.
 *
 * @param place of the scalar that holds `value`
 */
export function checkReferences(
  reading: Reading,
  name: string,
  value: string,
  place: Place,
  understood: boolean,
): void {
  for (const { offset, length } of malformedReferences(value)) {
    const source = value.slice(offset, offset + length);
    // Names only: the braces may hold a pasted secret.
    const meant = /^\$\{\s*([A-Z_][A-Z0-9_]{0,60})\s*\}$/.exec(source)?.[1];
    const message =
      'This is no reference. Write ${env:NAME} for an environment variable or ${secret:name} for a stored secret.';
    const at = partOf(reading, place, value, offset, length);
    reading.report('error', 'bad-reference', at, message, writing(meant && `\${env:${meant}}`));
  }
  const [first] = understood ? [] : referencesIn(value);
  if (first === undefined) return;
  const at = partOf(reading, place, value, first.offset, first.length);
  const message = `References are not replaced in ${name}. Write the value itself.`;
  reading.report('error', 'bad-reference', at, message);
}

/**
 * Place of a part of a scalar's value. Only where the value stands in the text as it is (no escapes, no
 * folding) is it more precise than the scalar itself.
 */
export function partOf(
  reading: Reading,
  place: Place,
  value: string,
  offset: number,
  length: number,
): Place {
  if (place.override !== undefined) return place;
  const quote = /["']/.test(reading.text.charAt(place.offset)) ? 1 : 0;
  if (place.length !== value.length + 2 * quote) return place;
  return { offset: place.offset + quote + offset, length };
}

/** The scalar as written, which for numbers says more than its value. */
export const sourceOf = (node: Scalar): string =>
  typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));

const shownDefault = ({ type, default: value }: PlainSpec): string =>
  typeof value === 'number' ? shownNumber(type, value) : String(value);
