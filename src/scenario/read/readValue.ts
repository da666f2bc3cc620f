import { isScalar, type Node, type Scalar, isMap, isSeq } from 'yaml';
import {
  type Row,
  type RowValue,
  parsePersonalText,
  type PersonalName,
} from '../../base/personalText';
import { formatShare } from '../../base/units';
import { placeholderNames } from '../../usecases/ownArguments';
import { expectedWords, type KeySpec, type PlainSpec, headerNamePattern } from '../keys/keySpec';
import { malformedReferences, referencesIn } from '../target/references';
import type { Reading, FixDraft, Place } from '../text/scenarioReading';
import {
  didYouMean,
  joinWords,
  guessNumber,
  plainNumberPattern,
  safeExcerpt,
  didYouMeanText,
  formatNumber,
  parseNumberWithUnit,
  formatForFile,
  type NumberType,
} from '../text/words';

export interface Written {
  readonly key: Scalar;
  /** Null when nothing follows the colon. */
  readonly value: Node | null;
  /** Of the value, or of the key when there is no value to point at. */
  readonly place: Place;
}

type Value = number | string | boolean;

/** A key or a value as written: YAML reads some texts as numbers or as nothing. */
export const scalarText = (node: Scalar): string =>
  typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));

export const isEmptyNode = (node: Node | undefined): node is undefined =>
  node === undefined || (isScalar(node) && node.value === null);

/** A relative path that does not lead up, on any system. */
export const staysInFolder = (path: string): boolean =>
  !/^[/\\]|^[a-zA-Z]:/.test(path) && !path.split(/[/\\]/).includes('..');

type Report = (code: string, message: string, fix?: FixDraft | string) => void;

interface Field {
  readonly reading: Reading;
  readonly spec: PlainSpec;
  readonly place: Place;
  readonly error: Report;
  readonly warning: Report;
}

export function readValue(reading: Reading, spec: PlainSpec, written: Written): Value | undefined {
  const node = reading.resolve(written.value);
  const field: Field = {
    ...{ reading, spec, place: written.place },
    error: (code, ...said) => reading.error(code, written.place, ...said),
    warning: (code, ...said) => reading.warning(code, written.place, ...said),
  };
  if (node === undefined && written.value !== null) return spec.default;
  if (isEmptyNode(node)) {
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
      return readChoice(field, scalarText(node));
    case 'text':
      return readText(field, node);
    default:
      return readNumber(field, spec.type as NumberType, node.value);
  }
}

const shownDefault = ({ type, default: value }: PlainSpec): string =>
  typeof value === 'number' ? formatNumber(type, value) : String(value);

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
        : `, not "${safeExcerpt(String(value))}": write ${meant}`;
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
  const message = `${name} cannot be "${safeExcerpt(word)}".${didYouMeanText(meant)} It can be ${joinWords(choices, 'or')}.`;
  error('unknown-value', message, meant);
  return meant ?? spec.default;
}

const longestText = 20_000;

function readText({ reading, spec, place, error }: Field, node: Scalar): Value | undefined {
  const { value } = node;
  if (typeof value !== 'string') {
    const source = scalarText(node);
    const fix = { title: 'Put quotes around it', text: `"${source}"` };
    error('wrong-type', `${spec.name} must be a text: put quotes around it.`, fix);
    return source;
  }
  if (value.trim() === '') {
    error('empty-value', `${spec.name} is an empty text.`);
    return spec.default;
  }
  const { longest = longestText } = spec;
  if (value.length > longest) {
    error('too-large', `${spec.name} is longer than ${longest} characters.`);
    return spec.default;
  }
  checkTexts(reading, spec, value, place);
  if (spec.beside === true && !staysInFolder(value)) {
    error(
      'data-file',
      `${spec.name} must lie beside the scenario file or below it: what it holds is sent to the target.`,
    );
    return undefined;
  }
  if (spec.says === undefined || new RegExp(spec.pattern!).test(value)) return value;
  error('wrong-text', spec.says);
  return undefined;
}

/** For a bad one the nearest bound, the whole number beside it, or the default. */
function readNumber(field: Field, type: NumberType, raw: unknown): number | undefined {
  const { spec, error, warning } = field;
  const { name, minimum = -Infinity, maximum = Infinity } = spec;
  const text = typeof raw === 'string' ? raw : undefined;
  const bare = typeof raw === 'number' || (text !== undefined && plainNumberPattern.test(text));
  const value = bare
    ? Number(raw)
    : text === undefined
      ? undefined
      : parseNumberWithUnit(type, text);
  if (value === undefined || Number.isNaN(value)) {
    const negative = text !== undefined && /^-\s*[0-9.]+\s*(?:%|[a-zA-Z]*)$/.test(text.trim());
    if (negative) return outOfBounds(field, type, -1);
    const meant = text === undefined ? undefined : guessNumber(type, text);
    error('wrong-type', wrongNumber(name, type, raw) + didYouMeanText(meant), meant);
    return typeof spec.default === 'number' ? spec.default : undefined;
  }
  const { unitMistake: mistake } = spec;
  const isMistaken = bare && mistake && value >= mistake.from && value < mistake.below;
  const unit = isMistaken ? String(raw).trim() + mistake.unit : undefined;
  if (value < minimum || value > maximum) return outOfBounds(field, type, value, unit);
  if ((type === 'count' || (type === 'size' && bare)) && !Number.isInteger(value)) {
    const rounded = Math.max(spec.minimum ?? 0, Math.round(value));
    error('not-whole', `${name} must be a whole number, not ${value}.`, String(rounded));
    return rounded;
  }
  if (unit !== undefined) {
    const message = `${name}: ${value} is read as ${formatNumber(type, value)}.${didYouMeanText(unit)} Write the unit to be sure.`;
    warning('unit', message, unit);
  } else if (text !== undefined && bare) {
    const meant = text.trim();
    warning('quoted-number', `${name} is a number: write ${meant} without quotes.`, meant);
  }
  return type === 'size' ? Math.round(value) : value;
}

function wrongNumber(name: string, type: NumberType, raw: unknown): string {
  const shown = typeof raw === 'string' ? `"${safeExcerpt(raw)}"` : String(raw);
  const reference =
    typeof raw === 'string' && raw.includes('${')
      ? ' References are understood in texts such as target, not in numbers.'
      : '';
  return `${name} must be ${expectedWords[type]}; ${shown} is not one.${reference}`;
}

function outOfBounds(field: Field, type: NumberType, value: number, meant?: string) {
  const { spec, error } = field;
  const { name, minimum = -Infinity, maximum = Infinity } = spec;
  const bound = value > maximum ? maximum : minimum;
  const atLeast = `at least ${formatNumber(type, minimum)}`;
  if (value < 0 && minimum >= 0) {
    const rule = minimum > 0 ? `be ${atLeast}` : 'not be negative';
    error('negative', `${name} must ${rule}.${didYouMeanText(meant)}`);
    return typeof spec.default === 'number' ? spec.default : minimum;
  }
  const isAbove = value > maximum;
  // Who writes 100 means percent.
  const most =
    type === 'share' ? `${maximum}, which is ${formatShare(maximum)}` : formatNumber(type, maximum);
  const rule = isAbove ? `at most ${most}` : atLeast;
  const code = isAbove ? 'above-bounds' : 'below-bounds';
  error(
    code,
    `${name} must be ${rule}.${didYouMeanText(meant)}`,
    meant ?? formatForFile(type, bound),
  );
  return Number.isFinite(bound) ? bound : undefined;
}

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

/** The whole scalar where escapes or folding hide where the part stands. */
export function partOf(reading: Reading, place: Place, value: string, part: Place): Place {
  const { offset, length } = part;
  if (place.override !== undefined) return place;
  const quote = /["']/.test(reading.text.charAt(place.offset)) ? 1 : 0;
  if (place.length !== value.length + 2 * quote) return place;
  return { offset: place.offset + quote + offset, length };
}

export function checkTexts(
  reading: Reading,
  { name, references, placeholders }: Pick<KeySpec, 'name' | 'references' | 'placeholders'>,
  text: string,
  place: Place,
): void {
  checkReferences(reading, name, text, place, references === true);
  if (placeholders !== undefined) checkPersonal(reading, name, text, place, placeholders);
}

const meanings: Readonly<Record<PersonalName, string>> = {
  index: '{index}, the number of the identity',
  senderIndex: '{senderIndex}, the number of the connection',
  group: '{group}, its group',
  identity: '{identity.COLUMN}, a value of its identity',
  data: '{data.COLUMN}, a value of its row of data',
  time: '{time}',
  ticks: '{ticks}',
};

function checkPersonal(
  reading: Reading,
  key: string,
  text: string,
  place: Place,
  known: readonly PersonalName[],
): void {
  for (const { name, ...part } of parsePersonalText(text, known).wrong) {
    const { offset, length } = part;
    const at = partOf(reading, place, text, part);
    const put = instead(text.slice(offset, offset + length), name, known);
    const are = known.map((each) => meanings[each]);
    const when = known.includes('index') ? 'an identity is made' : 'a connection opens';
    const list = `${are.slice(0, -1).join(', ')} and ${are.at(-1)!}`;
    const message = `{${safeExcerpt(name)}} is not a placeholder of ${key}, which are filled when ${when}: they have ${list}. Write {{ for a brace.`;
    const fix =
      at.length === length ? { title: `Write ${safeExcerpt(put)}`, text: put } : undefined;
    reading.error('placeholder', at, message, fix);
  }
}

function instead(written: string, name: string, known: readonly PersonalName[]): string {
  const [first = '', column] = name.split(/\.(.*)/s);
  const near = didYouMean(first, known);
  const isRow = near === 'identity' || near === 'data';
  if (near !== undefined && isRow) return column ? `{${near}.${column}}` : `{${written}`;
  const number = known.includes('index') ? '{index}' : '{senderIndex}';
  const isKnown = placeholderNames.includes(first) || near !== undefined;
  if (!isKnown) return `{${written}`;
  return near === undefined || isRow ? number : `{${near}}`;
}

const maximumTexts = 100;

/** Numbers and flags count as they are written. */
export function readTexts(
  reading: Reading,
  spec: KeySpec,
  written: Written,
): Record<string, string> {
  const { error, resolve } = reading;
  const { name } = spec;
  const map = resolve(written.value);
  if (!isMap(map)) {
    if (!isEmptyNode(map))
      error('wrong-type', written.place, `${name} must be a map of names and texts.`);
    return {};
  }
  const texts = new Map<string, string>();
  for (const item of map.items) {
    const key = item.key as Node;
    const value = item.value as Node | null | undefined;
    if (reading.isFull()) break;
    if (texts.size >= maximumTexts) {
      error('above-bounds', key, `${name} has more than ${maximumTexts} entries.`);
      break;
    }
    const entry = isScalar(key) ? scalarText(key) : '';
    const node = resolve(value);
    if (entry === '' || (name === 'headers' && !new RegExp(headerNamePattern).test(entry))) {
      error('bad-name', key, `This is not a name that ${name} can have.`);
    } else if (texts.has(entry)) {
      error('duplicate-key', key, `"${safeExcerpt(entry)}" is written twice in ${name}.`);
    } else if (!isScalar(node) || node.value === null) {
      const place = reading.placeOf(value ?? key);
      const at = place.length === 0 ? key : place;
      error('wrong-type', at, `"${safeExcerpt(entry)}" in ${name} must be a text.`);
    } else {
      const text = scalarText(node);
      const place = reading.placeOf(value!);
      checkTexts(reading, spec, text, place);
      // A line break would begin a header of its own.
      if (name === 'headers' && /[\r\n]/.test(text)) {
        const message = `"${safeExcerpt(entry)}" in headers has a line break in its value.`;
        error('wrong-type', place, message);
      } else texts.set(entry, text);
    }
  }
  return Object.fromEntries(texts);
}

/** Values of all depths together. */
const mostValues = 1000;

interface Scalars {
  readonly key: string;
  readonly text: (value: string, place: Place) => void;
  readonly largeNumber: (node: Scalar) => RowValue;
  readonly mapMeant?: (map: Node) => string | undefined;
}

/** `holder`: where values without a place of their own are reported. */
export function valueReader(
  reading: Reading,
  { key, text, largeNumber, mapMeant }: Scalars,
  holder?: Place,
): (item: Node | null) => RowValue {
  const { error } = reading;
  let count = 0;
  const placeOf = (node: Node): Place =>
    holder?.override === undefined ? reading.placeOf(node) : holder;
  const read = (item: Node | null): RowValue => {
    count += 1;
    if (count > mostValues) {
      const message = `${key} has more than ${mostValues} values; the others are not read.`;
      if (count === mostValues + 1) error('above-bounds', holder ?? item ?? undefined, message);
      return null;
    }
    const node = reading.resolve(item);
    if (isSeq(node)) return node.items.map((value) => read(value as Node | null));
    if (isMap(node)) {
      const meant = mapMeant?.(node);
      if (meant !== undefined) return meant;
      const members = new Map<string, RowValue>();
      for (const { key: written, value } of node.items) {
        const name = isScalar(written) ? scalarText(written) : '';
        const at = placeOf(written as Node);
        if (name === '') error('bad-name', at, `Names in ${key} must be texts.`);
        else if (members.has(name))
          error('duplicate-key', at, `"${safeExcerpt(name)}" is written twice in this map.`);
        else members.set(name, read((value ?? null) as Node | null));
      }
      return Object.fromEntries(members);
    }
    if (!isScalar(node)) return null;
    const { value } = node;
    if (typeof value === 'string') text(value, placeOf(node));
    else if (typeof value === 'number' && !Number.isFinite(value)) {
      error('arguments', placeOf(node), 'This is not a number that can be sent.');
      return 0;
    } else if (Number.isInteger(value) && !Number.isSafeInteger(value)) return largeNumber(node);
    return (value ?? null) as RowValue;
  };
  return read;
}

export function readValues(reading: Reading, spec: KeySpec, written: Written): Row {
  const map = reading.resolve(written.value);
  if (isMap(map)) return readRow(reading, spec, map);
  if (!isEmptyNode(map))
    reading.error('wrong-type', written.place, `${spec.name} must be a map of names and values.`);
  return {};
}

export const readRow = (
  reading: Reading,
  spec: Pick<KeySpec, 'name' | 'placeholders'>,
  map: Node,
): Row =>
  valueReader(reading, {
    key: spec.name,
    text: (value, place) => checkTexts(reading, { ...spec, references: true }, value, place),
    largeNumber: scalarText,
  })(map) as Row;
