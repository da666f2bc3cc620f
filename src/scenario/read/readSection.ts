/** Sections of a scenario file and the values in them, read by the descriptions of their keys. */
import { isMap, isScalar, isSeq, Scalar, type Node, type YAMLMap } from 'yaml';
import { isPlain, expectedWords, type KeySpec, type PlainSpec } from '../keys/keySpec';
import { allParameters, pipelineKeys, pipelineMessage, topKeys } from '../keys/scenarioKeys';
import { formatShare } from '../../base/units';
import { malformedReferences, referencesIn } from '../target/references';
import type { Reading, FixDraft, Place } from '../text/scenarioReading';
import {
  didYouMean,
  listed,
  numberMeant,
  plainNumber,
  quotable,
  question,
  shownNumber,
  withUnit,
  writtenNumber,
  type NumberType,
} from '../text/words';

type Value = number | string | boolean;

export interface Written {
  readonly key: Scalar;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
  /** Of the value, or of the key when there is no value to point at. */
  readonly place: Place;
}

export interface Section {
  readonly path: string;
  /** Known keys that stand in the file, also those with bad values. */
  readonly written: ReadonlyMap<string, Written>;
  /** Parsed values of plain keys, defaults filled in. */
  readonly values: ReadonlyMap<string, Value>;
  readonly map?: YAMLMap;
  /** Place of the first of these keys that is written. */
  readonly at: (...names: readonly string[]) => Place | undefined;
}

type OnUnknown = (key: Scalar, name: string) => void;

/** Reports unknown and repeated keys and reads plain values; a missing or empty section has all defaults. */
export function readSection(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  holder: Written | undefined,
  unknown?: OnUnknown,
): Section {
  const node = reading.follow(holder?.value);
  const map = isMap(node) ? node : undefined;
  if (map === undefined && !isNothing(node)) {
    const names = specs.slice(0, 3).map(({ name }) => name);
    const message = `${path} must be a map of keys such as ${names.join(', ')}, each on its own line below it.`;
    reading.error('wrong-type', holder?.place, message);
  }
  return sectionOf(reading, path, specs, map, unknown);
}

export function sectionOf(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  map: YAMLMap | undefined,
  unknown: OnUnknown = (key, name) =>
    reportUnknownKey(reading, { key, name, path, specs, ...(map && { map }) }),
): Section {
  const known = new Set(specs.map(({ name }) => name));
  const written = new Map<string, Written>();
  const seen = new Set<string>();
  for (const item of map?.items ?? []) {
    if (reading.full()) break;
    const key = keyScalar(reading, item.key as Node);
    const name = nameOf(key);
    if (seen.has(name)) {
      const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
      const message = `${shown} is written twice in ${path === '' ? 'this file' : path}; the first one counts. Remove one of them.`;
      reading.error('duplicate-key', key, message);
    } else if (known.has(name)) {
      const value = (item.value ?? null) as Node | null;
      written.set(name, { key, value, place: placeOfValue(reading, key, value) });
    } else unknown(key, name);
    seen.add(name);
  }
  const values = new Map<string, Value>();
  for (const spec of specs.filter(isPlain)) {
    const entry = written.get(spec.name);
    const node = reading.follow(entry?.value);
    // Its reader is elsewhere.
    if ((spec.keys !== undefined && isMap(node)) || (spec.several && isSeq(node))) continue;
    const value = entry === undefined ? spec.default : readValue(reading, spec, entry);
    if (value !== undefined) values.set(spec.name, value);
  }
  const at: Section['at'] = (...names) =>
    names.flatMap((name) => written.get(name) ?? [])[0]?.place;
  return { path, written, values, at, ...(map !== undefined && { map }) };
}

function placeOfValue(reading: Reading, key: Scalar, value: Node | null): Place {
  const place = reading.placeOf(value ?? key);
  return place.length === 0 && place.override === undefined ? reading.placeOf(key) : place;
}

/** Keys are scalars; anything else gets a stand-in at its place, so that it is reported as unknown. */
function keyScalar(reading: Reading, key: Node): Scalar {
  if (isScalar(key)) return key;
  const { offset, length } = reading.placeOf(key);
  const standIn = new Scalar('(not a text)');
  standIn.range = [offset, offset + length, offset + length];
  return standIn;
}

/** A key or a value as written: YAML reads some texts as numbers or as nothing. */
export const sourceOf = (node: Scalar): string =>
  typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
export const nameOf = sourceOf;

export const isNothing = (node: Node | undefined): node is undefined =>
  node === undefined || (isScalar(node) && node.value === null);

export function numberIn({ values }: Section, name: string): number | undefined {
  const value = values.get(name);
  return typeof value === 'number' ? value : undefined;
}

export const choiceIn = <T extends string>(
  { values }: Section,
  name: string,
  choices: readonly T[],
): T | undefined => choices.find((choice) => choice === values.get(name));

interface UnknownKey {
  readonly key: Scalar;
  readonly name: string;
  readonly path: string;
  readonly specs: readonly KeySpec[];
  readonly map?: YAMLMap;
}

/** Reports an unknown key with the key that was probably meant, or the section it belongs to. */
export function reportUnknownKey({ error, text }: Reading, unknown: UnknownKey): void {
  const { key, name, path, specs } = unknown;
  if (path === '' && pipelineKeys.includes(name)) {
    error('pipeline-file', key, pipelineMessage);
    return;
  }
  const shown = `"${quotable(name)}"`;
  const where = path === '' ? 'at the top' : `in ${path}`;
  const names = specs.map((spec) => spec.name);
  const isMisspelt = names.some((known) => known.toLowerCase() === name.toLowerCase());
  const elsewhere = isMisspelt ? [] : homesOf(name).filter((home) => home !== path);
  if (elsewhere.length > 0) {
    const message = `${shown} does not belong ${where}, but in ${elsewhere.join(' or ')}. Move it there.`;
    error('unknown-key', key, message, moveInto(text, unknown, elsewhere[0]!));
    return;
  }
  if (name === '<<') {
    error('unknown-key', key, 'Merge keys (<<) are not understood here. Write the keys out.');
    return;
  }
  const meant = didYouMean(name, names);
  const few = names.length <= 25;
  const known = few ? `Known are ${names.join(', ')}.` : 'Remove it or correct its name.';
  const hint = meant === undefined ? known : `Did you mean "${meant}"?`;
  const fix = meant && { title: `Write "${meant}"`, text: quotedAs(key, meant) };
  error('unknown-key', key, `There is no key ${shown} ${where}. ${hint}`, fix);
}

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

/** Opens the section that a key at the top belongs to, where that is absent; only the key's own line is moved. */
function moveInto(text: string, unknown: UnknownKey, home: string): FixDraft | undefined {
  const { key, name, path, map } = unknown;
  const section = topKeys.find((spec) => spec.name === home);
  const present =
    map === undefined || map.items.some((item) => (item.key as Scalar | null)?.value === home);
  if (path !== '' || section?.type !== 'section' || present || map.flow === true) return undefined;
  const value = map.items.find((item) => item.key === key)?.value;
  if (!isScalar(value) || /[\r\n]/.test(text.slice(key.range?.[0], value.range?.[1])))
    return undefined;
  return { title: `Put "${name}" into ${home}`, text: `${home}:\n  ${name}` };
}

type Report = (code: string, message: string, fix?: FixDraft | string) => void;

interface Field {
  readonly reading: Reading;
  readonly spec: PlainSpec;
  readonly place: Place;
  readonly error: Report;
  readonly warning: Report;
}

/** For a bad value the nearest bound or the default. */
export function readValue(reading: Reading, spec: PlainSpec, written: Written): Value | undefined {
  const node = reading.follow(written.value);
  const field: Field = {
    ...{ reading, spec, place: written.place },
    error: (code, ...said) => reading.error(code, written.place, ...said),
    warning: (code, ...said) => reading.warning(code, written.place, ...said),
  };
  if (node === undefined && written.value !== null) return spec.default;
  if (isNothing(node)) {
    const instead =
      spec.default === undefined ? 'Remove the key' : `Remove the key to get ${shownDefault(spec)}`;
    const message = `${spec.name} has no value. ${instead}, or write ${expectedWords[spec.type]}.`;
    field.error('empty-value', message);
    return spec.default;
  }
  if (!isScalar(node)) {
    const message = `${spec.name} must be ${expectedWords[spec.type]}, not a list or a map.`;
    field.error('wrong-type', message);
    return spec.default;
  }
  switch (spec.type) {
    case 'flag':
      return readFlag(field, node.value);
    case 'choice':
      return readChoice(field, sourceOf(node));
    case 'text':
      return readText(field, node);
    case 'list':
    case 'steps':
      throw new Error(`${spec.name} is not a scalar`);
    default:
      return readNumber(field, spec.type, node.value);
  }
}

const shownDefault = ({ type, default: value }: PlainSpec): string =>
  typeof value === 'number' ? shownNumber(type, value) : String(value);

const yes = ['true', 'yes', 'on', '1'];
const no = ['false', 'no', 'off', '0'];

function readFlag({ spec, error }: Field, value: unknown): Value | undefined {
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
  error('wrong-type', `${spec.name} must be true or false${how}.`, meant);
  return flag ?? spec.default;
}

function readChoice({ spec, error, warning }: Field, word: string): Value | undefined {
  const { name, choices = [], refused } = spec;
  if (choices.includes(word)) return word;
  if (refused?.value === word) {
    error(refused.code, refused.message);
    return spec.default;
  }
  const meant = didYouMean(word, choices);
  if (meant?.toLowerCase() === word.toLowerCase()) {
    warning('letter-case', `${name} is written ${meant}.`, meant);
    return meant;
  }
  const message = `${name} cannot be "${quotable(word)}".${question(meant)} It can be ${listed(choices, 'or')}.`;
  error('unknown-value', message, meant);
  return meant ?? spec.default;
}

/** Tokens and connection strings stay far below. */
const longestText = 20_000;

function readText({ reading, spec, place, error }: Field, node: Scalar): Value | undefined {
  const { value } = node;
  if (typeof value !== 'string') {
    const source = sourceOf(node);
    const fix = { title: 'Put quotes around it', text: `"${source}"` };
    error('wrong-type', `${spec.name} must be a text: put quotes around it.`, fix);
    return source;
  }
  if (value.trim() === '') {
    error('empty-value', `${spec.name} is an empty text.`);
    return spec.default;
  }
  if (value.length > longestText) {
    error('too-large', `${spec.name} is longer than ${longestText} characters.`);
    return spec.default;
  }
  checkReferences(reading, spec.name, value, place, spec.references === true);
  return value;
}

/** A number with or without unit; for a bad one the nearest bound, the whole number beside it, or the default. */
function readNumber(field: Field, type: NumberType, raw: unknown): number | undefined {
  const { spec, error, warning } = field;
  const { name, minimum = -Infinity, maximum = Infinity } = spec;
  const text = typeof raw === 'string' ? raw : undefined;
  const bare = typeof raw === 'number' || (text !== undefined && plainNumber.test(text));
  const value = bare ? Number(raw) : text === undefined ? undefined : withUnit(type, text);
  if (value === undefined || Number.isNaN(value)) {
    const negative = text !== undefined && /^-\s*[0-9.]+\s*(?:%|[a-zA-Z]*)$/.test(text.trim());
    if (negative) return outOfBounds(field, type, -1);
    const meant = text === undefined ? undefined : numberMeant(type, text);
    error('wrong-type', wrongNumber(name, type, raw) + question(meant), meant);
    return typeof spec.default === 'number' ? spec.default : undefined;
  }
  const unit = bare ? meantInUnit(spec, value, String(raw).trim()) : undefined;
  if (value < minimum || value > maximum) return outOfBounds(field, type, value, unit);
  if ((type === 'count' || (type === 'size' && bare)) && !Number.isInteger(value)) {
    const rounded = Math.max(spec.minimum ?? 0, Math.round(value));
    error('not-whole', `${name} must be a whole number, not ${value}.`, String(rounded));
    return rounded;
  }
  if (unit !== undefined) {
    const message = `${name}: ${value} is read as ${shownNumber(type, value)}.${question(unit)} Write the unit to be sure.`;
    warning('unit', message, unit);
  } else if (text !== undefined && bare) {
    const meant = text.trim();
    warning('quoted-number', `${name} is a number: write ${meant} without quotes.`, meant);
  }
  return type === 'size' ? Math.round(value) : value;
}

function wrongNumber(name: string, type: NumberType, raw: unknown): string {
  const shown = typeof raw === 'string' ? `"${quotable(raw)}"` : String(raw);
  const reference =
    typeof raw === 'string' && raw.includes('${')
      ? ' References are understood in texts such as target, not in numbers.'
      : '';
  return `${name} must be ${expectedWords[type]}; ${shown} is not one.${reference}`;
}

/** A number without unit that was probably meant in another one than its own. */
const meantInUnit = (
  { unitMistake: mistake }: PlainSpec,
  value: number,
  source: string,
): string | undefined =>
  mistake && value >= mistake.from && value < mistake.below ? source + mistake.unit : undefined;

function outOfBounds(field: Field, type: NumberType, value: number, meant?: string) {
  const { spec, error } = field;
  const { name, minimum = -Infinity, maximum = Infinity } = spec;
  const bound = value > maximum ? maximum : minimum;
  const atLeast = `at least ${shownNumber(type, minimum)}`;
  if (value < 0 && minimum >= 0) {
    const rule = minimum > 0 ? `be ${atLeast}` : 'not be negative';
    error('negative', `${name} must ${rule}.${question(meant)}`);
    return typeof spec.default === 'number' ? spec.default : minimum;
  }
  const isAbove = value > maximum;
  // Who writes 100 means percent.
  const most =
    type === 'share' ? `${maximum}, which is ${formatShare(maximum)}` : shownNumber(type, maximum);
  const rule = isAbove ? `at most ${most}` : atLeast;
  const code = isAbove ? 'above-bounds' : 'below-bounds';
  error(code, `${name} must be ${rule}.${question(meant)}`, meant ?? writtenNumber(type, bound));
  return Number.isFinite(bound) ? bound : undefined;
}

/** What looks like a reference but is none, and references where they are not understood. */
export function checkReferences(
  reading: Reading,
  name: string,
  value: string,
  place: Place,
  understood: boolean,
): void {
  for (const part of malformedReferences(value)) {
    const source = value.slice(part.offset, part.offset + part.length);
    // Names only: the braces may hold a pasted secret.
    const meant = /^\$\{\s*([A-Z_][A-Z0-9_]{0,60})\s*\}$/.exec(source)?.[1];
    const message =
      'This is not a reference. Write ${env:NAME} for an environment variable or ${secret:name} for a stored secret.';
    const at = partOf(reading, place, value, part);
    reading.error('bad-reference', at, message, meant && `\${env:${meant}}`);
  }
  const [first] = understood ? [] : referencesIn(value);
  const at = first && partOf(reading, place, value, first);
  const message = `References are not replaced in ${name}. Write the value itself.`;
  reading.error('bad-reference', at, message);
}

/** More precise than the scalar only where the value stands in the text as it is (no escapes, no folding). */
export function partOf(reading: Reading, place: Place, value: string, part: Place): Place {
  const { offset, length } = part;
  if (place.override !== undefined) return place;
  const quote = /["']/.test(reading.text.charAt(place.offset)) ? 1 : 0;
  if (place.length !== value.length + 2 * quote) return place;
  return { offset: place.offset + quote + offset, length };
}
