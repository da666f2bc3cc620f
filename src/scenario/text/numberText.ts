import {
  formatBytes,
  formatCount,
  formatDurationMs,
  formatShare,
  parseDurationMs,
  parseShare,
  parseSizeBytes,
} from '../../base/units';
import type { ParameterSpec } from '../../usecases/parameters';

/** Types of values that are numbers once parsed. */
export type NumberType = 'size' | 'duration' | 'share' | 'count' | 'number';

/** A number without unit, also as text. */
export const plainNumber = /^[0-9]{1,20}(\.[0-9]{1,20})?$/;

/** The number a text with a unit stands for, in the unit of the type. */
export function withUnit(type: NumberType, text: string): number | undefined {
  if (text.length > 100 || text !== text.trim()) return undefined;
  if (type === 'duration') return parseDurationMs(text);
  if (type === 'size') return parseSizeBytes(text);
  if (type === 'share') return parseShare(text);
  return undefined;
}

const sizeNames = new Map([
  ['k', 'KB'],
  ['m', 'MB'],
  ['kib', 'KB'],
  ['mib', 'MB'],
  ['byte', 'B'],
  ['bytes', 'B'],
]);
const durationNames = new Map([
  ['millisecond', 'ms'],
  ['second', 's'],
  ['sec', 's'],
  ['minute', 'm'],
  ['hour', 'h'],
  ['hr', 'h'],
]);

/** The understood spelling of a number in another notation: `1,000`, `2k`, `5 minutes`; undefined for the rest. */
export function numberMeant(type: NumberType, raw: string): string | undefined {
  const text = raw.trim().slice(0, 40);
  if (/^[0-9]{1,3}([,_'][0-9]{3})+$/.test(text)) return text.replace(/[,_']/g, '');
  const [, digits, suffix] = /^([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]+)$/.exec(text) ?? [];
  if (digits === undefined || suffix === undefined) return undefined;
  const unit = suffix.toLowerCase();
  if (type === 'count') {
    const factor = unit === 'k' ? 1000 : unit === 'm' ? 1_000_000 : undefined;
    return factor === undefined ? undefined : String(Math.round(Number(digits) * factor));
  }
  if (type === 'size') {
    const size = sizeNames.get(unit);
    return size === undefined ? undefined : `${digits}${size}`;
  }
  if (type !== 'duration') return undefined;
  if (parseDurationMs(`${digits}${unit}`) !== undefined) return `${digits}${unit}`;
  const short = durationNames.get(unit.replace(/s$/, ''));
  return short === undefined ? undefined : `${digits}${short}`;
}

/** A parsed number for people, in the unit of its type. */
export function shownNumber(type: ParameterSpec['type'], value: number): string {
  if (type === 'duration') return formatDurationMs(value);
  if (type === 'size') return formatBytes(value);
  if (type === 'share') return formatShare(value);
  return formatCount(value, Number.isInteger(value) ? 0 : 3);
}

/** A parsed number as it may be written into a file. */
export function writtenNumber(type: NumberType, value: number): string {
  if (type === 'duration') return formatDurationMs(value).replace(' min', 'm').replace(' ', '');
  if (type === 'size') return value < 1024 ? String(value) : formatBytes(value).replace(' ', '');
  return String(value);
}
