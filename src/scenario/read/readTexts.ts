/** Maps of names and texts, and values of any shape. */
import { isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import type { Row, RowValue } from '../../base/rows';
import { headerNamePattern, type KeySpec } from '../keys/keySpec';
import type { Place, Reading } from '../text/scenarioReading';
import { quotable } from '../text/words';
import { checkTexts, isNothing, nameOf, sourceOf, type Written } from './readValue';

const maximumTexts = 100;

/** `headers` and `query`; numbers and flags count as they are written. */
export function readTexts(
  reading: Reading,
  spec: KeySpec,
  written: Written,
): Record<string, string> {
  const { error, follow } = reading;
  const { name } = spec;
  const map = follow(written.value);
  if (!isMap(map)) {
    if (!isNothing(map))
      error('wrong-type', written.place, `${name} must be a map of names and texts.`);
    return {};
  }
  const texts = new Map<string, string>();
  for (const item of map.items) {
    const key = item.key as Node;
    const value = item.value as Node | null | undefined;
    if (reading.full()) break;
    if (texts.size >= maximumTexts) {
      error('above-bounds', key, `${name} has more than ${maximumTexts} entries.`);
      break;
    }
    const entry = isScalar(key) ? nameOf(key) : '';
    const node = follow(value);
    if (entry === '' || (name === 'headers' && !new RegExp(headerNamePattern).test(entry))) {
      error('bad-name', key, `This is not a name that ${name} can have.`);
    } else if (texts.has(entry)) {
      error('duplicate-key', key, `"${quotable(entry)}" is written twice in ${name}.`);
    } else if (!isScalar(node) || node.value === null) {
      const place = reading.placeOf(value ?? key);
      const at = place.length === 0 ? key : place;
      error('wrong-type', at, `"${quotable(entry)}" in ${name} must be a text.`);
    } else {
      const text = sourceOf(node);
      const place = reading.placeOf(value!);
      checkTexts(reading, spec, text, place);
      // A line break would begin a header of its own.
      if (name === 'headers' && /[\r\n]/.test(text)) {
        const message = `"${quotable(entry)}" in headers has a line break in its value.`;
        error('wrong-type', place, message);
      } else texts.set(entry, text);
    }
  }
  return Object.fromEntries(texts);
}

/** Values of all depths together. */
const mostValues = 1000;

interface Scalars {
  /** What of a key a message names. */
  readonly key: string;
  readonly text: (value: string, place: Place) => void;
  /** Of a whole number that is too large to be exact. */
  readonly largeNumber: (node: Scalar) => RowValue;
  /** What a map stands for that was not meant to be one. */
  readonly mapMeant?: (map: Node) => string | undefined;
}

/** Reads values of any shape, within bounds; `holder` is where what has no place of its own is reported. */
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
    const node = reading.follow(item);
    if (isSeq(node)) return node.items.map((value) => read(value as Node | null));
    if (isMap(node)) {
      const meant = mapMeant?.(node);
      if (meant !== undefined) return meant;
      const members = new Map<string, RowValue>();
      for (const { key: written, value } of node.items) {
        const name = isScalar(written) ? nameOf(written) : '';
        const at = placeOf(written as Node);
        if (name === '') error('bad-name', at, `Names in ${key} must be texts.`);
        else if (members.has(name))
          error('duplicate-key', at, `"${quotable(name)}" is written twice in this map.`);
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

/** A map from names to values of any shape, whose texts may hold placeholders. */
export function readValues(reading: Reading, spec: KeySpec, written: Written): Row {
  const map = reading.follow(written.value);
  if (isMap(map)) return readRow(reading, spec, map);
  if (!isNothing(map))
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
    largeNumber: sourceOf,
  })(map) as Row;
