import { isScalar, type Node, type Scalar } from 'yaml';
import { shownNumber } from '../text/numberText';
import { expectedWords, type PlainSpec } from '../keys/keySpec';
import { readNumber } from './readNumber';
import { didYouMean } from '../text/didYouMean';
import type { Place, Reading } from '../text/scenarioReading';
import { checkReferences } from '../check/checkReferences';
import { quotable } from '../text/quotable';

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
  if (node === undefined || (isScalar(node) && node.value === null)) {
    const instead =
      spec.default === undefined ? 'Remove the key' : `Remove the key to get ${shownDefault(spec)}`;
    const message = `${spec.name} has no value. ${instead}, or write ${expectedWords[spec.type]}.`;
    reading.report('error', 'empty-value', place, message);
    return spec.default;
  }
  if (!isScalar(node)) {
    reading.report(
      'error',
      'wrong-type',
      place,
      `${spec.name} must be ${expectedWords[spec.type]}, not a list or a map.`,
    );
    return spec.default;
  }
  switch (spec.type) {
    case 'flag':
      return readFlag(reading, spec, node.value, place);
    case 'choice':
      return readChoice(reading, spec, node, place);
    case 'text':
      return readText(reading, spec, node, place);
    case 'list':
      throw new Error(`${spec.name} is no scalar`);
    default:
      return readNumber(reading, spec, spec.type, node.value, place);
  }
}

function readFlag(
  reading: Reading,
  spec: PlainSpec,
  value: unknown,
  place: Place,
): Value | undefined {
  if (typeof value === 'boolean') return value;
  const word = String(value).toLowerCase();
  const meant = ['true', 'yes', 'on', '1'].includes(word)
    ? 'true'
    : ['false', 'no', 'off', '0'].includes(word)
      ? 'false'
      : undefined;
  const fix = meant === undefined ? undefined : { title: `Write ${meant}`, text: meant };
  // Only in YAML 1.1 are yes and on flags.
  const how =
    meant === undefined
      ? ''
      : word === meant
        ? ', without quotes'
        : `, not "${quotable(String(value))}": write ${meant}`;
  const message = `${spec.name} must be true or false${how}.`;
  reading.report('error', 'wrong-type', place, message, fix);
  return meant === undefined ? spec.default : meant === 'true';
}

function readChoice(
  reading: Reading,
  spec: PlainSpec,
  node: Scalar,
  place: Place,
): Value | undefined {
  const word = sourceOf(node);
  const choices = spec.choices ?? [];
  if (choices.includes(word)) return word;
  if (spec.refused?.value === word) {
    reading.report('error', spec.refused.code, place, spec.refused.message);
    return spec.default;
  }
  const meant = didYouMean(word, choices);
  const fix = meant === undefined ? undefined : { title: `Write ${meant}`, text: meant };
  if (meant !== undefined && meant.toLowerCase() === word.toLowerCase()) {
    reading.report('warning', 'letter-case', place, `${spec.name} is written ${meant}.`, fix);
    return meant;
  }
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  reading.report(
    'error',
    'unknown-value',
    place,
    `${spec.name} cannot be "${quotable(word)}".${question} It knows ${listed(choices)}.`,
    fix,
  );
  return meant ?? spec.default;
}

function readText(
  reading: Reading,
  spec: PlainSpec,
  node: Scalar,
  place: Place,
): Value | undefined {
  const { value } = node;
  if (typeof value === 'string') {
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
  const source = sourceOf(node);
  const fix = { title: 'Put quotes around it', text: `"${source}"` };
  reading.report(
    'error',
    'wrong-type',
    place,
    `${spec.name} must be a text: put quotes around it.`,
    fix,
  );
  return source;
}

/** The scalar as written, which for numbers is more than its value tells. */
export function sourceOf(node: Scalar): string {
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));
}

/** `a, b or c`. */
export function listed(words: readonly string[]): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)!}`;
}

function shownDefault(spec: PlainSpec): string {
  return typeof spec.default === 'number'
    ? shownNumber(spec.type, spec.default)
    : String(spec.default);
}
