/**
 * Four decimals, halves to even, as in the published results. Only odd multiples of 1/32 are exact
 * halves at the fourth decimal, because 1/20,000 has the factor 5⁴ that no binary fraction has.
 */
export function rounded(value: number): number {
  if (Math.abs(value * 32) % 2 !== 1) return Number(value.toFixed(4));
  return (2 * Math.round((value * 10_000) / 2)) / 10_000;
}
