/** Sections of a scenario file and all that is in them, read by the descriptions of their keys. */
import { isMap, isScalar, isSeq, Scalar, type Node, type YAMLMap } from 'yaml';
import { formatCount } from '../../base/units';
import {
  belongsToKind,
  fieldName,
  isScalarSpec,
  type KeySpec,
  type PlainSpec,
} from '../keys/keySpec';
import {
  allParameters,
  maximumEntries,
  pipelineKeys,
  pipelineMessage,
  topKeys,
} from '../keys/scenarioKeys';
import type { FixDraft, Place, Reading } from '../text/scenarioReading';
import { didYouMean, joinWords, safeExcerpt } from '../text/words';
import {
  readTexts,
  readValues,
  isEmptyNode,
  scalarText,
  readValue,
  type Written,
} from './readValue';

export interface Section {
  readonly path: string;
  /** Known keys of the file, also those with bad values. */
  readonly written: ReadonlyMap<string, Written>;
  /** With defaults; nested sections are Sections. */
  readonly values: ReadonlyMap<string, unknown>;
  readonly map?: YAMLMap | undefined;
  /** Of several kinds: the key that says which. */
  readonly kind?: string | undefined;
  /** Place of the first of these keys that is written. */
  readonly at: (...names: readonly string[]) => Place | undefined;
}

type OnUnknown = (key: Scalar, name: string) => void;

/** A missing or empty section has all defaults. */
export function readSection(
  reading: Reading,
  path: string,
  specs: readonly KeySpec[],
  holder: Written | undefined,
  unknown?: OnUnknown,
): Section {
  const node = reading.resolve(holder?.value);
  const map = isMap(node) ? node : undefined;
  if (map === undefined && !isEmptyNode(node)) {
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
  unknown: OnUnknown = (key, name) => reportUnknownKey(reading, { key, name, path, specs, map }),
): Section {
  const known = new Set(specs.map(({ name }) => name));
  const written = new Map<string, Written>();
  const names = new Set<string>();
  for (const item of map?.items ?? []) {
    if (reading.isFull()) break;
    const key = keyScalar(reading, item.key as Node);
    const name = scalarText(key);
    if (names.has(name)) {
      const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
      const message = `${shown} is written twice in ${path === '' ? 'this file' : path}; the first one counts. Remove one of them.`;
      reading.error('duplicate-key', key, message);
    } else if (known.has(name)) {
      const value = (item.value ?? null) as Node | null;
      written.set(name, { key, value, place: placeOfValue(reading, key, value) });
    } else unknown(key, name);
    names.add(name);
  }
  const values = new Map<string, unknown>();
  for (const spec of specs) {
    const entry = written.get(spec.name);
    const value = entry === undefined ? valueOfAbsent(spec) : readAny(reading, path, spec, entry);
    if (value !== undefined) values.set(spec.name, value);
  }
  const at: Section['at'] = (...names) =>
    names.flatMap((name) => written.get(name) ?? [])[0]?.place;
  return { path, written, values, at, map };
}

const valueOfAbsent = ({ type, apart, default: value }: KeySpec): unknown =>
  (type === 'texts' || type === 'values') && apart === undefined ? {} : value;

const scalars = 'a text, a number, true, false or null';

/** Undefined where it cannot be read, and for what has a reader of its own. */
function readAny(reading: Reading, path: string, spec: KeySpec, written: Written): unknown {
  const node = reading.resolve(written.value);
  if (spec.apart === true) return undefined;
  if (isScalarSpec(spec)) {
    if (spec.several !== undefined && isSeq(node))
      return readSeveral(reading, spec, written, node.items as (Node | null)[]);
    return spec.keys !== undefined && isMap(node) ? undefined : readValue(reading, spec, written);
  }
  switch (spec.type) {
    case 'texts':
      return readTexts(reading, spec, written);
    case 'values':
      return readValues(reading, spec, written);
    case 'value':
      if (isScalar(node)) return node.value;
      reading.error('wrong-type', written.place, `${spec.name} must be one value: ${scalars}.`);
      return undefined;
    case 'entries':
      return readRecords(reading, path, spec, written);
    case 'section': {
      if (spec.rows === true && isSeq(node)) return undefined;
      const section = readSection(reading, below(path, spec.name), spec.keys!, written);
      return section.map && checkRecord(reading, spec, section, written.key);
    }
    default:
      return undefined;
  }
}

function readSeveral(
  reading: Reading,
  spec: PlainSpec,
  written: Written,
  items: readonly (Node | null)[],
): unknown {
  const { name, several: most = 0 } = spec;
  if (items.length === 0 || items.length > most) {
    const message =
      items.length === 0
        ? `${name} is an empty list. Write a duration, or several of which one is drawn each time: [0.4s, 0.9s, 6s].`
        : `${name} has ${formatCount(items.length)} durations, at most ${most} are possible.`;
    reading.error(items.length === 0 ? 'empty-value' : 'above-bounds', written.place, message);
    return undefined;
  }
  return items.flatMap((value) => {
    const place = reading.placeOf(value ?? written.key);
    return readValue(reading, { ...spec, minimum: 0 }, { key: written.key, value, place }) ?? [];
  });
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

export function readRecords(
  reading: Reading,
  path: string,
  spec: KeySpec,
  written: Written,
): Section[] | undefined {
  const { name, keys = [], most = maximumEntries, example = `{ ${keys[0]!.name}: … }` } = spec;
  const list = reading.resolve(written.value);
  if (!isSeq(list) || (spec.required === true && list.items.length === 0)) {
    const message = `${name} must be a list, such as "- ${example}".`;
    reading.error('wrong-type', written.place, message);
    return undefined;
  }
  if (list.items.length > most) {
    const message = `${name} has at most ${formatCount(most)} entries; the others are not read.`;
    reading.error('above-bounds', written.key, message);
  }
  return (list.items as Node[]).slice(0, most).flatMap((item, at) => {
    const map = reading.resolve(item);
    if (!isMap(map)) {
      reading.error('wrong-type', item, `Each entry of ${name} is a map, such as ${example}.`);
      return [];
    }
    const section = sectionOf(reading, `${below(path, name)}.${at}`, keys, map);
    return [checkRecord(reading, spec, section, item)];
  });
}

/** Reports missing keys at `place`, and finds the kind of a map that has several. */
export function checkRecord(
  reading: Reading,
  spec: KeySpec,
  section: Section,
  place: Node,
): Section {
  const { written } = section;
  const what = spec.type === 'entries' ? `This entry of ${spec.name}` : spec.name;
  const absent = (spec.keys ?? []).filter(({ name, required }) => required && !written.has(name));
  if (absent.length > 0) {
    const message = `${what} has no ${absent.map(({ name }) => name).join(', ')}. ${absent[0]!.summary}`;
    reading.error('missing-key', place, message);
  }
  if (spec.kinds === undefined) return section;
  const kinds = Object.keys(spec.kinds);
  const [kind, other] = kinds.filter((name) => written.has(name));
  if (kind === undefined) {
    reading.error('kind', place, `${what} needs one of ${joinWords(kinds, 'or')}.`);
    return section;
  }
  if (other !== undefined) {
    const message = `${what} has both ${kind} and ${other}. Remove one of them.`;
    reading.error('kind', section.at(other), message);
    return section;
  }
  for (const [name, { key }] of written) {
    if (name === kind || belongsToKind(spec.kinds, name, new Set([kind]))) continue;
    reading.warning('no-effect', key, `${name} means nothing beside ${kind}. Remove it.`);
  }
  // One that could not be read has its own problem.
  const isRead = section.values.has(kind) || spec.keys?.find(({ name }) => name === kind)?.apart;
  return { ...section, kind: isRead ? kind : undefined };
}

function placeOfValue(reading: Reading, key: Scalar, value: Node | null): Place {
  const place = reading.placeOf(value ?? key);
  return place.length === 0 && place.override === undefined ? reading.placeOf(key) : place;
}

/** A key that is no scalar is reported as unknown. */
function keyScalar(reading: Reading, key: Node): Scalar {
  if (isScalar(key)) return key;
  const { offset, length } = reading.placeOf(key);
  const standIn = new Scalar('(not a text)');
  standIn.range = [offset, offset + length, offset + length];
  return standIn;
}

export const sectionIn = ({ values }: Section, name: string): Section | undefined =>
  values.get(name) as Section | undefined;
export const sectionsIn = ({ values }: Section, name: string): readonly Section[] | undefined =>
  values.get(name) as readonly Section[] | undefined;

export function numberIn({ values }: Section, name: string): number | undefined {
  const value = values.get(name);
  return typeof value === 'number' ? value : undefined;
}

export function textIn({ values }: Section, name: string): string | undefined {
  const value = values.get(name);
  return typeof value === 'string' ? value.trim() : undefined;
}

export const choiceIn = <T extends string>(
  { values }: Section,
  name: string,
  choices: readonly T[],
): T | undefined => choices.find((choice) => choice === values.get(name));

export function pickFields({ values }: Section, specs: readonly KeySpec[]): object {
  const read = specs.filter(({ name }) => values.has(name));
  return Object.fromEntries(read.map((spec) => [fieldName(spec), values.get(spec.name)]));
}

interface UnknownKey {
  readonly key: Scalar;
  readonly name: string;
  readonly path: string;
  readonly specs: readonly KeySpec[];
  readonly map?: YAMLMap | undefined;
}

export function reportUnknownKey({ error, text }: Reading, unknown: UnknownKey): void {
  const { key, name, path, specs } = unknown;
  if (path === '' && pipelineKeys.includes(name)) {
    error('pipeline-file', key, pipelineMessage);
    return;
  }
  const shown = `"${safeExcerpt(name)}"`;
  const where = path === '' ? 'at the top' : `in ${path}`;
  const names = specs.map((spec) => spec.name);
  const isMisspelt = names.some((known) => known.toLowerCase() === name.toLowerCase());
  const elsewhere = isMisspelt ? [] : sectionsWithKey(name).filter((home) => home !== path);
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

/** Sections with a key of this name. */
export function sectionsWithKey(name: string): string[] {
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

/** A compact `{"key":1}` is a map only with its quotes. */
function quotedAs({ type }: Scalar, name: string): string {
  const quote = type === 'QUOTE_DOUBLE' ? '"' : type === 'QUOTE_SINGLE' ? "'" : '';
  return quote + name + quote;
}

/** Only where the section is absent, and for keys of one line. */
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
