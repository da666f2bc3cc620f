import {
  formatBytes,
  formatCount,
  formatDurationMs,
  formatRate,
  formatShare,
  parseDurationMs,
  parseRate,
  parseShare,
  parseSizeBytes,
} from '../../base/units';
import type { ParameterSpec } from '../../usecases/parameters';

/** `a`, `a and b`, `a, b and c`. */
export function joinWords(words: readonly string[], conjunction: 'and' | 'or' = 'and'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${conjunction} ${last}`;
}

const longestWord = 60;

/** In another letter case, the nearest, or the only one it abbreviates (`msgpack`). */
export function didYouMean(word: string, candidates: readonly string[]): string | undefined {
  if (word.length === 0 || word.length > longestWord) return undefined;
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best !== undefined || word.length < 3) return best;
  const abbreviated = candidates.filter(
    (candidate) => word.length * 2 >= candidate.length && abbreviates(wanted, candidate),
  );
  return abbreviated.length === 1 ? abbreviated[0] : undefined;
}

export const didYouMeanText = (meant: string | undefined): string =>
  meant === undefined ? '' : ` Did you mean ${meant}?`;

function abbreviates(word: string, candidate: string): boolean {
  let matched = 0;
  for (const letter of candidate.toLowerCase()) {
    if (letter === word[matched]) matched += 1;
    else if (matched === 0) return false;
  }
  return matched === word.length;
}

/** Optimal string alignment distance. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        last[column]! + 1,
        current[column - 1]! + 1,
        last[column - 1]! + (same ? 0 : 1),
      );
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped && row > 1 && column > 1) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

const longest = 60;

/** A value of the file for messages: one line, short, without keys, tokens and passwords. */
export function safeExcerpt(value: string): string {
  const safe = value
    .slice(0, 4 * longest)
    .replace(
      /((?<!\$\{)(?:access_?key|access_?token|signature|sig|password|pwd|secret|token)\s*[=:]\s*)(?!\$\{)[^;&\s]+/gi,
      '$1…',
    )
    .replace(/\b(bearer|basic)\s+(?!\$\{)\S+/gi, '$1 …')
    .replace(/:\/\/[^/?#\s]*@/g, '://…@')
    .replace(/\s+/g, ' ');
  return safe.length > longest ? `${safe.slice(0, longest)}…` : safe;
}

export type NumberType = 'size' | 'duration' | 'share' | 'rate' | 'count' | 'number';

export const plainNumberPattern = /^[0-9]{1,20}(\.[0-9]{1,20})?$/;

const units = {
  duration: [parseDurationMs, formatDurationMs],
  size: [parseSizeBytes, formatBytes],
  share: [parseShare, formatShare],
  rate: [parseRate, formatRate],
} as const;

const unitsOf = (type: string): (typeof units)[keyof typeof units] | undefined =>
  Object.hasOwn(units, type) ? units[type as keyof typeof units] : undefined;

export const parseNumberWithUnit = (type: NumberType, text: string): number | undefined =>
  text.length > 100 || text !== text.trim() ? undefined : unitsOf(type)?.[0](text);

const sizeNames = new Map(
  Object.entries({
    k: 'KB',
    kib: 'KB',
    kilobyte: 'KB',
    m: 'MB',
    mib: 'MB',
    megabyte: 'MB',
    byte: 'B',
  }),
);
const durationNames = new Map(
  Object.entries({ millisecond: 'ms', second: 's', sec: 's', minute: 'm', hour: 'h', hr: 'h' }),
);

/** Of `1,000`, `2k`, `5 minutes`. */
export function guessNumber(type: NumberType, raw: string): string | undefined {
  const text = raw.trim().slice(0, 40);
  if (/^[0-9]{1,3}([,_'][0-9]{3})+$/.test(text)) return text.replace(/[,_']/g, '');
  const [, hours, minutes] =
    (type === 'duration' && /^([0-9]{1,3})h ?([0-9]{1,2})m?$/.exec(text)) || [];
  if (hours !== undefined) return `${Number(hours) * 60 + Number(minutes)}m`;
  const [, digits, suffix] =
    /^([0-9]+(?:\.[0-9]+)?)\s*([a-zA-Z]+)$/.exec(text.replace(/^([0-9]+),([0-9])/, '$1.$2')) ?? [];
  if (digits === undefined || suffix === undefined) return undefined;
  const unit = suffix.toLowerCase();
  if (type === 'count') {
    const factor = unit === 'k' ? 1000 : unit === 'm' ? 1_000_000 : undefined;
    return factor === undefined ? undefined : String(Math.round(Number(digits) * factor));
  }
  if (type === 'size') {
    const size = sizeNames.get(unit.replace(/s$/, ''));
    return size === undefined ? undefined : `${digits}${size}`;
  }
  if (type !== 'duration') return undefined;
  if (parseDurationMs(`${digits}${unit}`) !== undefined) return `${digits}${unit}`;
  if (/^d(ays?)?$/.test(unit)) return `${Number(digits) * 24}h`;
  const short = durationNames.get(unit.replace(/s$/, ''));
  return short === undefined ? undefined : `${digits}${short}`;
}

export const formatNumber = (type: ParameterSpec['type'], value: number): string =>
  unitsOf(type)?.[1](value) ?? formatCount(value, Number.isInteger(value) ? 0 : 3);

export function formatForFile(type: NumberType, value: number): string {
  if (type === 'duration') return formatDurationMs(value).replace(' min', 'm').replace(' ', '');
  if (type === 'size') return value < 1024 ? String(value) : formatBytes(value).replace(' ', '');
  return String(value);
}
