// What pairs of measurements say together: each pair is taken in one round, one behind the other.
import { median } from './processes.mjs';

/**
 * Of the median of pairs, which with a chance of 95 % at least lies within: so many of them may lie below it by chance.
 * Source: the sign test; Conover, "Practical Nonparametric Statistics", heading "Confidence intervals for quantiles".
 */
export function interval(pairs) {
  const sorted = [...pairs].sort((a, b) => a - b);
  const { length } = sorted;
  let [below, chance, cut] = [0.5 ** length, 0.5 ** length, 0];
  while (2 * below <= 0.05 && cut < length / 2) {
    cut += 1;
    chance *= (length - cut + 1) / cut;
    below += chance;
  }
  const [low, high] = [sorted[Math.max(0, cut - 1)], sorted[length - Math.max(1, cut)]];
  const words = `${median(sorted).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`;
  return cut === 0 ? `${words}, too few pairs for an interval` : words;
}
