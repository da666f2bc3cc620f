/** How numbers of a recording lie: what a scenario takes is the mean, so that its rates are those recorded. */
export interface Spread {
  readonly mean: number;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
  readonly least: number;
  readonly most: number;
}

/** @param numbers at least one */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = Float64Array.from(numbers).sort();
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))]!;
  return {
    mean: sorted.reduce((sum, each) => sum + each, 0) / sorted.length,
    ...{ median: at(0.5), p10: at(0.1), p90: at(0.9) },
    ...{ least: sorted[0]!, most: sorted.at(-1)! },
  };
}
