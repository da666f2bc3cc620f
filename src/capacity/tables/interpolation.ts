/**
 * Limit at a size, from the listed sizes of a row. A size between a < U < b gets
 * max(L(a), U × min(L(a)/a, L(b)/b)): at least what the smaller size does, and per unit at least what
 * the worse neighbour does. That is plain proportionality where the row is proportional, and never
 * above the straight line elsewhere. Outside the listed sizes there is no value: undefined.
 */
export function limitBetween(
  units: readonly number[],
  values: readonly number[],
  unit: number,
): number | undefined {
  const above = units.findIndex((listed) => listed >= unit);
  if (above < 0) return undefined;
  const upper = units[above]!;
  const upperValue = values[above]!;
  if (upper === unit) return upperValue;
  if (above === 0) return undefined;
  const lower = units[above - 1]!;
  const lowerValue = values[above - 1]!;
  return Math.max(lowerValue, unit * Math.min(lowerValue / lower, upperValue / upper));
}
