import { addCount } from '../../base/collect';
import { formatBytes } from '../../base/units';
import type { PayloadSize } from '../../usecases/payloadSizes';

/** A scenario takes the mean, which keeps the rates. */
export interface Spread {
  readonly mean: number;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly least: number;
  readonly most: number;
}

export const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, each) => sum + each, 0) / Math.max(1, numbers.length);

export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = Float64Array.from(numbers).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return {
    mean: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
    ...{ median: at(0.5), p10: at(0.1), p90: at(0.9) },
    ...{ least: sorted[0]!, most: sorted.at(-1)! },
  };
}

/** Pauses that vary more, if there are enough, are written as the means of five parts. */
const leastVariation = 0.1;
const leastPauses = 10;
const parts = 5;

/** The means of five equal parts, in rising order: a scenario draws among them. Undefined where one mean is enough. */
export function meansOfFifths(numbers: readonly number[]): readonly number[] | undefined {
  const { length } = numbers;
  if (length < leastPauses) return undefined;
  const sorted = Float64Array.from(numbers).sort();
  const mean = sorted.reduce((sum, each) => sum + each, 0) / length;
  const variance = sorted.reduce((sum, each) => sum + (each - mean) ** 2, 0) / length;
  if (Math.sqrt(variance) <= leastVariation * mean) return undefined;
  const size = length / parts;
  return Array.from({ length: parts }, (_, part) => {
    let sum = 0;
    // A number at a border belongs to both parts, by its share.
    for (let at = Math.floor(part * size); at < Math.min(length, (part + 1) * size); at++)
      sum += sorted[at]! * (Math.min(at + 1, (part + 1) * size) - Math.max(at, part * size));
    return sum / size;
  });
}

/** Largest by smallest size that one mean stands for. */
const alike = 1.25;
const mostSizes = 8;

/**
 * Weighted sizes with the same mean: all of them where there are few, else the means of eight parts. Undefined where one size
 * is enough.
 * @param bytes at least one
 */
export function weightedSizes(bytes: readonly number[]): readonly PayloadSize[] | undefined {
  const sorted = bytes.map((each) => Math.max(1, each)).sort((a, b) => a - b);
  if (sorted.at(-1)! <= sorted[0]! * alike) return undefined;
  const counts = new Map<number, number>();
  if (new Set(sorted).size <= mostSizes) for (const size of sorted) addCount(counts, size);
  else
    for (let part = 0; part < mostSizes; part++) {
      const from = Math.round((part * sorted.length) / mostSizes);
      const ones = sorted.slice(from, Math.round(((part + 1) * sorted.length) / mostSizes));
      addCount(counts, Math.round(spreadOf(ones).mean), ones.length);
    }
  return [...counts].map(([size, weight]) => ({ bytes: size, weight }));
}

export const weightedSizesText = (sizes: readonly PayloadSize[]): string =>
  sizes.map(({ bytes, weight }) => `${bytes}B ${weight}`).join(', ');

export function sizeRangeWords({ least, most, median }: Spread): string {
  return least === most
    ? formatBytes(least)
    : `${formatBytes(least)} to ${formatBytes(most)}, median ${formatBytes(median)}`;
}
