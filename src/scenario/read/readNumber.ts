import { numberMeant, plainNumber, shownNumber, withUnit, writtenNumber } from '../text/numberText';
import type { NumberType } from '../text/numberText';
import type { FixDraft, Place, Reading } from '../text/scenarioReading';
import { expectedWords, type PlainSpec } from '../keys/keySpec';
import { quotable } from '../text/quotable';

/**
 * Reads a number with or without unit and reports what is wrong with it.
 *
 * @param raw value of the scalar as YAML gives it
 * @returns the number in the unit of its type; for a bad one the nearest bound, the whole number beside
 *   it, or the default
 */
export function readNumber(
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
