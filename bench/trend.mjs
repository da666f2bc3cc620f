// The trend of a series of figures of a noisy machine: the slope by Theil and Sen (the median of the slopes of all
// pairs of points, which outliers do not move; Sen, "Estimates of the Regression Coefficient Based on Kendall's Tau",
// JASA 63, 1968), with an interval by the moving block bootstrap of what is left beside the line (Künsch, "The Jackknife
// and the Bootstrap for General Stationary Observations", Annals of Statistics 17, 1989), since neighbours are alike.
import { median } from './processes.mjs';

const rounds = 400;

/** A generator of numbers from 0 to 1 that gives the same ones for the same seed: mulberry32. */
function drawsOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function slopeOf(values) {
  const slopes = [];
  for (let from = 0; from < values.length; from++)
    for (let to = from + 1; to < values.length; to++)
      slopes.push((values[to] - values[from]) / (to - from));
  return median(slopes);
}

/**
 * Of evenly spaced values, per step from one to the next.
 *
 * @returns the slope, and the interval that holds it in 95 of 100 cases
 */
export function trendOf(values, seed = 1) {
  const slope = slopeOf(values);
  const draw = drawsOf(seed);
  const rest = values.map((value, at) => value - slope * at);
  const block = Math.max(1, Math.round(Math.cbrt(values.length)) * 2);
  const slopes = Array.from({ length: rounds }, () => {
    const drawn = [];
    while (drawn.length < values.length) {
      const from = Math.floor(draw() * (rest.length - block + 1));
      drawn.push(...rest.slice(from, from + block));
    }
    return slopeOf(values.map((_, at) => drawn[at] + slope * at));
  }).sort((a, b) => a - b);
  const at = (share) => slopes[Math.round(share * (rounds - 1))];
  return { slope, low: at(0.025), high: at(0.975) };
}

/** Whether values rise by more than this share of their median from the first to the last, beyond doubt: by the lower end of the interval. */
export function risesBeyond(share, values) {
  return trendOf(values).low * (values.length - 1) > share * median(values);
}

/** The medians of so many runs of values that follow one another. */
export function mediansOf(values, count) {
  const size = values.length / Math.min(count, values.length);
  return Array.from({ length: Math.min(count, values.length) }, (_, at) =>
    median(values.slice(Math.floor(at * size), Math.floor((at + 1) * size))),
  );
}
