import type { Random } from '../../base/random';
import {
  decodeBlock,
  coarseBucketCount,
  coarseBucketStartUs,
  type StoredBlocks,
} from '../latencyBlocks';
import { minimumBlocks } from './comparison';

interface BlockTable {
  readonly blocks: number;
  readonly places: readonly number[];
  /** Deliveries up to and including a place: those of all blocks for the first place, then for the next. */
  readonly upTo: Float64Array;
}

/** @throws ExpectedError `blocks-damaged` */
export function buildBlockTable({ counts }: StoredBlocks): BlockTable {
  const decoded = counts.map(decodeBlock);
  const places = Array.from({ length: coarseBucketCount }, (_, place) => place).filter((place) =>
    decoded.some((block) => block[place]! > 0),
  );
  const blocks = decoded.length;
  const upTo = new Float64Array(blocks * places.length);
  for (const [block, found] of decoded.entries()) {
    let sum = 0;
    for (const [at, place] of places.entries()) upTo[at * blocks + block] = sum += found[place]!;
  }
  return { blocks, places, upTo };
}

export function countFilledBlocks({ blocks, places, upTo }: BlockTable): number {
  const last = Math.max(0, places.length - 1) * blocks;
  return upTo.subarray(last, last + blocks).filter((count) => count > 0).length;
}

/** Deliveries up to a place of the table, each block counted so many times. */
function below({ blocks, upTo }: BlockTable, times: Float64Array, at: number): number {
  let sum = 0;
  const first = at * blocks;
  if (at >= 0)
    for (let block = 0; block < blocks; block++) sum += times[block]! * upTo[first + block]!;
  return sum;
}

interface FoundShare {
  /** Logarithm of the latency, µs, at least 1. */
  readonly log: number;
  readonly at: number;
}

/** Starts at the place `near`: draws differ little from each other. */
function atRank(table: BlockTable, times: Float64Array, rank: number, near: number): FoundShare {
  const { places } = table;
  // Deliveries below the place that is looked for, and up to it.
  let [first, from, last, to] = [0, 0, places.length - 1, rank];
  let [at, step] = [near, 1];
  while (at >= first && at < last) {
    const found = below(table, times, at);
    if (found >= rank) {
      [last, to] = [at, found];
      at -= step;
    } else {
      [first, from] = [at + 1, found];
      at += step;
    }
    step *= 2;
  }
  while (first < last) {
    const middle = (first + last) >> 1;
    const found = below(table, times, middle);
    if (found >= rank) [last, to] = [middle, found];
    else [first, from] = [middle + 1, found];
  }
  const within = to > from ? Math.min(1, (rank - from) / (to - from)) : 1;
  const [lowUs, highUs] = [
    coarseBucketStartUs(places[first]!),
    coarseBucketStartUs(places[first]! + 1),
  ];
  // Within a place deliveries are spread evenly; whole microseconds stand for themselves.
  const us = highUs - lowUs <= 1 ? lowUs : lowUs + (highUs - lowUs) * within;
  return { log: Math.log(Math.max(1, us)), at: first };
}

/** Leaves out blocks in which nothing arrived. @throws ExpectedError `blocks-damaged` */
export function p99OverTime(
  stored: StoredBlocks,
): { readonly atS: number; readonly p99Us: number }[] {
  const table = buildBlockTable(stored);
  const times = new Float64Array(table.blocks);
  return stored.counts.flatMap((_counts, block) => {
    times.fill(0);
    times[block] = 1;
    const count = table.places.length === 0 ? 0 : below(table, times, table.places.length - 1);
    if (count === 0) return [];
    const { log } = atRank(table, times, 0.99 * count, table.places.length >> 1);
    return [{ atS: block * stored.seconds, p99Us: Math.round(Math.exp(log)) }];
  });
}

export interface ResampledPercentile {
  /** Logarithm of the latency in the blocks; natural, µs. */
  readonly log: number;
  /** How far it was from there in each draw, widened to what blocks of this length do not see. */
  readonly deviations: Float64Array;
  readonly variance: number;
  /** What the variance is known by: Student's degrees of freedom. */
  readonly freedom: number;
}

/**
 * Draws as many blocks as there are, again and again, and takes the percentiles of each draw: the circular block
 * bootstrap. Deliveries of one run depend on each other, by queues and stalls, and so do seconds near each other;
 * therefore neighbours are drawn together, as many as the autocorrelation of the deliveries beyond the percentile
 * asks for. Sources: H. R. Künsch, "The Jackknife and the Bootstrap for General Stationary Observations", Annals of
 * Statistics 17 (1989); D. N. Politis and J. P. Romano, "A Circular Block-Resampling Procedure for Stationary
 * Data" (1992).
 *
 * So few blocks see too little of what lasts long. The variance is therefore widened to that of an autoregressive
 * process with the same correlation, as in D. W. K. Andrews and J. C. Monahan, "An Improved Heteroskedasticity and
 * Autocorrelation Consistent Covariance Matrix Estimator", Econometrica 60 (1992).
 */
export function resamplePercentiles(
  table: BlockTable,
  shares: readonly number[],
  draws: number,
  random: Random,
): ResampledPercentile[] {
  const count = table.blocks;
  const once = new Float64Array(count).fill(1);
  const all = (times: Float64Array): number => below(table, times, table.places.length - 1);
  const known = shares.map((share) => {
    const { log, at } = atRank(table, once, share * all(once), table.places.length >> 1);
    return { share, log, near: at, correlation: correlationOf(beyond(table, log, share)) };
  });
  const longest = Math.max(...known.map(({ correlation }) => lastingOf(correlation)));
  const together = Math.max(1, Math.min(Math.floor(count / minimumBlocks), Math.ceil(longest)));
  const deviations = known.map(() => new Float64Array(draws));
  const times = new Float64Array(count);
  for (let draw = 0; draw < draws; draw++) {
    drawBlocks(times, together, random);
    const drawn = all(times);
    for (const [at, { share, near }] of known.entries())
      deviations[at]![draw] = atRank(table, times, share * drawn, near).log;
  }
  const groups = count / together;
  return known.map(({ log, correlation }, at) => {
    const unseen = lastingOf(correlation) / seenBy(together, correlation);
    const widened = Math.sqrt(Math.max(1, unseen) * (groups / (groups - 1)));
    const drawn = deviations[at]!;
    const middle = quantileOf(Float64Array.from(drawn).sort(), 0.5);
    let variance = 0;
    for (const [draw, value] of drawn.entries()) {
      drawn[draw] = (value - middle) * widened;
      variance += drawn[draw] ** 2 / draws;
    }
    const freedom = Math.max(leastFreedom, Math.min(groups, count / lastingOf(correlation)) - 1);
    return { log, deviations: drawn, variance, freedom };
  });
}

/** Fewer would make any interval endless. */
const leastFreedom = 4;

/** How often each block is drawn: neighbours together, the last followed by the first. */
function drawBlocks(times: Float64Array, together: number, random: Random): void {
  times.fill(0);
  for (let left = times.length; left > 0; left -= together) {
    const first = random.below(times.length);
    for (let at = 0; at < Math.min(together, left); at++) {
      const block = (first + at) % times.length;
      times[block]! += 1;
    }
  }
}

/** For each block, deliveries up to the percentile above those that are its due. */
function beyond({ blocks, places, upTo }: BlockTable, log: number, share: number): number[] {
  const us = Math.exp(log);
  const found = places.findIndex((place) => coarseBucketStartUs(place + 1) > us);
  const at = found < 0 ? places.length - 1 : found;
  const [lowUs, highUs] = [coarseBucketStartUs(places[at]!), coarseBucketStartUs(places[at]! + 1)];
  const within = Math.min(1, Math.max(0, (us - lowUs) / (highUs - lowUs)));
  const last = (places.length - 1) * blocks;
  return Array.from({ length: blocks }, (_, block) => {
    const before = at > 0 ? upTo[(at - 1) * blocks + block]! : 0;
    const due = share * upTo[last + block]!;
    return before + (upTo[at * blocks + block]! - before) * within - due;
  });
}

const mostCorrelation = 0.9;

/**
 * Of neighbours, 0…0.9. A short series shows too little of it: the mean error of the estimate is −(1 + 3ρ)/n.
 * Source: M. G. Kendall, "Note on Bias in the Estimation of Autocorrelation", Biometrika 41 (1954).
 */
function correlationOf(series: readonly number[]): number {
  const count = series.length;
  const mean = series.reduce((sum, value) => sum + value, 0) / count;
  let [own, next] = [0, 0];
  for (let at = 0; at < count; at++) {
    own += (series[at]! - mean) ** 2;
    if (at > 0) next += (series[at]! - mean) * (series[at - 1]! - mean);
  }
  if (!(own > 0)) return 0;
  const seen = next / own;
  return Math.min(mostCorrelation, Math.max(0, seen + (1 + 3 * seen) / count));
}

/** By how much the variance of a sum grows by correlation: so many blocks are worth one independent. */
const lastingOf = (correlation: number): number => (1 + correlation) / (1 - correlation);

/** The same as far as sums of so many neighbours show it. */
function seenBy(together: number, correlation: number): number {
  let seen = 1;
  for (let lag = 1; lag < together; lag++) seen += 2 * (1 - lag / together) * correlation ** lag;
  return seen;
}

function quantileOf(sorted: Float64Array, share: number): number {
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
  return low + (high - low) * (place - Math.floor(place));
}

/**
 * Where the ratio b / a of a percentile lies, with a probability of error that is shared by `together` intervals
 * (Bonferroni). The two ends are those of the draws, which need not be symmetric, stretched from the normal
 * distribution to Student's; the degrees of freedom are those of two unlike variances (B. L. Welch, Biometrika 34,
 * 1947).
 */
export function ratioInterval(
  a: ResampledPercentile,
  b: ResampledPercentile,
  confidence: number,
  together: number,
): readonly [low: number, high: number] {
  const differences = b.deviations.map((deviation, draw) => deviation - a.deviations[draw]!);
  differences.sort();
  const sum = a.variance + b.variance;
  const freedom =
    sum > 0 ? sum ** 2 / (a.variance ** 2 / a.freedom + b.variance ** 2 / b.freedom) : Infinity;
  const stretched = studentQuantile((1 - confidence) / together, freedom) / normal95;
  const [low, high] = [quantileOf(differences, 0.025), quantileOf(differences, 0.975)];
  return [Math.exp(stretched * Math.min(0, low)), Math.exp(stretched * Math.max(0, high))];
}

/** Of the normal distribution: 95 % lie between minus and plus this. */
const normal95 = 1.959964;

/** What a value of Student's distribution is beyond, either way, with that probability (0…1); relative error below 1 % from 4 degrees on. */
function studentQuantile(probability: number, freedom: number): number {
  const z = normalQuantile(probability);
  if (!Number.isFinite(freedom)) return z;
  // Cornish-Fisher expansion; Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.5.
  return (
    z +
    (z ** 3 + z) / (4 * freedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * freedom ** 3) +
    (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92_160 * freedom ** 4)
  );
}

/** The same of the normal distribution; error below 0.00045 (Abramowitz and Stegun, 26.2.23). */
function normalQuantile(probability: number): number {
  const t = Math.sqrt(-2 * Math.log(Math.min(1, Math.max(1e-12, probability)) / 2));
  return (
    t -
    (2.515517 + 0.802853 * t + 0.010328 * t ** 2) /
      (1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3)
  );
}
