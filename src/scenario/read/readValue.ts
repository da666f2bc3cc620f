import { isScalar, type Node, type Scalar } from 'yaml';
import { expectedWords, type PlainSpec } from '../keys/keySpec';
import { malformedReferences, referencesIn } from '../target/references';
import { didYouMean, quotable } from '../text/words';
import {
  shownNumber,
  numberMeant,
  plainNumber,
  withUnit,
  writtenNumber,
  type NumberType,
} from '../text/numberText';
import type { Place, Reading, FixDraft } from '../text/scenarioReading';

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

/**
 * Reads a number with or without unit and reports what is wrong with it.
 *
 * @param raw value of the scalar as YAML gives it
 * @returns the number in the unit of its type; for a bad one the nearest bound, the whole number beside
 *   it, or the default
 */
function readNumber(
  reading: Reading,
  spec: PlainSpec,
  type: NumberType,
  raw: unknown,
  place: Place,
): number | undefined {
  const fallback = typeof spec.default === 'number' ? spec.default : undefined;
  const bare = typeof raw === 'number' || (typeof raw === 'string' && plainNumber.test(raw));
  const value = bare ? Number(raw) : typeof raw === 'string' ? withUnit(type, raw) : undefined;
  if (value === undefined || Number.isNaN(value)) {
    const negative = typeof raw === 'string' && /^-\s*[0-9.]+\s*(?:%|[a-zA-Z]*)$/.test(raw.trim());
    if (negative) return outOfBounds(reading, spec, type, -1, place, undefined);
    const suggestion = typeof raw === 'string' ? numberMeant(type, raw) : undefined;
    reading.report(
      'error',
      'wrong-type',
      place,
      wrongNumber(spec, type, raw),
      suggestion === undefined ? undefined : { title: `Write ${suggestion}`, text: suggestion },
    );
    return fallback;
  }
  const unit = bare ? meantInUnit(spec, value, String(raw).trim()) : undefined;
  if (value < (spec.minimum ?? -Infinity) || value > (spec.maximum ?? Infinity)) {
    return outOfBounds(reading, spec, type, value, place, unit);
  }
  if ((type === 'count' || (type === 'size' && bare)) && !Number.isInteger(value)) {
    const rounded = Math.max(spec.minimum ?? 0, Math.round(value));
    reading.report(
      'error',
      'not-whole',
      place,
      `${spec.name} must be a whole number, not ${value}.`,
      { title: `Write ${rounded}`, text: String(rounded) },
    );
    return rounded;
  }
  if (unit !== undefined) {
    reading.report(
      'warning',
      'unit',
      place,
      `${spec.name}: ${value} is read as ${shownNumber(type, value)}. Did you mean ${unit}? Write the unit to be sure.`,
      { title: `Write ${unit}`, text: unit },
    );
  } else if (typeof raw === 'string' && bare) {
    const text = raw.trim();
    reading.report(
      'warning',
      'quoted-number',
      place,
      `${spec.name} is a number: write ${text} without quotes.`,
      { title: `Write ${text}`, text },
    );
  }
  return type === 'size' ? Math.round(value) : value;
}

function wrongNumber(spec: PlainSpec, type: NumberType, raw: unknown): string {
  const shown = typeof raw === 'string' ? `"${quotable(raw)}"` : String(raw);
  const reference =
    typeof raw === 'string' && raw.includes('${')
      ? ' References are understood in texts such as target, not in numbers.'
      : '';
  return `${spec.name} must be ${expectedWords[type]}; ${shown} is none.${reference}`;
}

function meantInUnit(spec: PlainSpec, value: number, source: string): string | undefined {
  const mistake = spec.unitMistake;
  return mistake !== undefined && value >= mistake.from && value < mistake.below
    ? `${source}${mistake.unit}`
    : undefined;
}

function outOfBounds(
  reading: Reading,
  spec: PlainSpec,
  type: NumberType,
  value: number,
  place: Place,
  meant: string | undefined,
): number | undefined {
  const minimum = spec.minimum ?? -Infinity;
  const maximum = spec.maximum ?? Infinity;
  const bound = value > maximum ? maximum : minimum;
  const [code, rule] =
    value > maximum
      ? ['above-bounds', `at most ${shownNumber(type, maximum)}`]
      : value < 0 && minimum >= 0
        ? ['negative', minimum > 0 ? `at least ${shownNumber(type, minimum)}` : 'not negative']
        : ['below-bounds', `at least ${shownNumber(type, minimum)}`];
  const question = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const text = meant ?? writtenNumber(type, bound);
  const fix: FixDraft | undefined =
    code === 'negative' ? undefined : { title: `Write ${text}`, text };
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
    const at = partOf(reading, place, value, offset, length);
    // Names only: the braces may hold a pasted secret.
    const meant = /^\$\{\s*([A-Z_][A-Z0-9_]{0,60})\s*\}$/.exec(source)?.[1];
    const fix: FixDraft | undefined =
      meant === undefined
        ? undefined
        : { title: `Write \${env:${meant}}`, text: `\${env:${meant}}` };
    reading.report(
      'error',
      'bad-reference',
      at,
      'This is no reference. Write ${env:NAME} for an environment variable or ${secret:name} for a stored secret.',
      fix,
    );
  }
  if (understood) return;
  for (const { offset, length } of referencesIn(value).slice(0, 1)) {
    reading.report(
      'error',
      'bad-reference',
      partOf(reading, place, value, offset, length),
      `References are not replaced in ${name}. Write the value itself.`,
    );
  }
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
