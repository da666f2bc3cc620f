/** Uneven due times of one sender: pure functions of sender and message number. */
import { mixed } from './draws';
import type { PlanIntervals } from './plan';

/** Times are microseconds from the step's start; message numbers begin at 0. */
export interface Timing {
  firstUs(rank: number): number;
  /** `beforeUs`: due time of the message before, with closed pacing its send time. */
  nextUs(rank: number, number: number, beforeUs: number): number;
  /** First message from `number` on due at or after `atUs`, after a pause of the sender. */
  resumed(rank: number, number: number, atUs: number): { number: number; dueUs: number };
}

/** Uniform in (0, 1); the same in all workers for the same arguments. */
export type Draw = (rank: number, number: number, purpose?: number) => number;

/** Draws for one purpose are independent of others. */
const purposes = { gap: 0, angle: 1, phase: 2 } as const;
const mostPurposes = 4;

export const drawsOf =
  (seed: number): Draw =>
  (rank, number, purpose = purposes.gap) =>
    (mixed(seed ^ mixed(rank ^ mixed(number * mostPurposes + purpose))) + 0.5) / 2 ** 32;

/** Golden ratio: any first few of its multiples, modulo 1, are about evenly spread. */
const golden = (Math.sqrt(5) - 1) / 2;

/** One message per interval; `placeOf` gives its place in it, 0…1. */
function everyInterval(intervalUs: number, placeOf: Draw): Timing {
  const dueUs = (rank: number, number: number): number =>
    (number + placeOf(rank, number)) * intervalUs;
  return {
    firstUs: (rank) => dueUs(rank, 0),
    nextUs: (rank, number) => dueUs(rank, number),
    resumed(rank, from, atUs) {
      const number = Math.max(from, Math.floor(atUs / intervalUs));
      const due = dueUs(rank, number);
      if (due >= atUs) return { number, dueUs: due };
      return { number: number + 1, dueUs: dueUs(rank, number + 1) };
    },
  };
}

/** Senders that are active together are about evenly spread, however many they are. */
export const evenTiming = (intervalUs: number): Timing =>
  everyInterval(intervalUs, (rank) => (rank * golden) % 1);

/** One message at a random time in each interval: counts stay exact. */
export const jitterTiming = everyInterval;

/** Random gaps whose mean is the interval. */
export function drawnTiming(intervalUs: number, gaps: PlanIntervals, draw: Draw): Timing {
  const { gap, longerGap } = gapsOf(gaps);
  // A random moment falls into a longer gap than the average: this keeps the rate constant from the start.
  const restUs = (rank: number, number: number): number =>
    draw(rank, number, purposes.phase) * longerGap(rank, number, draw) * intervalUs;
  return {
    firstUs: (rank) => restUs(rank, 0),
    nextUs: (rank, number, beforeUs) =>
      beforeUs + Math.max(1, gap(rank, number, draw) * intervalUs),
    resumed: (rank, number, atUs) => ({ number, dueUs: atUs + restUs(rank, number) }),
  };
}

type Gap = (rank: number, number: number, draw: Draw) => number;

/**
 * Gaps with mean 1, and gaps weighted by their length (inspection paradox: W. Feller, *An Introduction to Probability
 * Theory*, volume II, I.4).
 */
function gapsOf({ distribution, spread }: PlanIntervals): Record<'gap' | 'longerGap', Gap> {
  switch (distribution) {
    case 'exponential': {
      const gap: Gap = (rank, number, draw) => -Math.log(draw(rank, number));
      // Erlang with shape 2: a random part of it is exponential again.
      const longerGap: Gap = (rank, number, draw) =>
        -Math.log(draw(rank, number)) - Math.log(draw(rank, number, purposes.angle));
      return { gap, longerGap };
    }
    case 'uniform': {
      const [least, most] = [1 - spread, 1 + spread];
      return {
        // Closed pacing draws nothing.
        gap:
          spread === 0
            ? () => 1
            : (rank, number, draw) => least + (most - least) * draw(rank, number),
        longerGap: (rank, number, draw) =>
          Math.sqrt(least ** 2 + (most ** 2 - least ** 2) * draw(rank, number)),
      };
    }
    case 'lognormal': {
      const variance = Math.log(1 + spread ** 2);
      const deviation = Math.sqrt(variance);
      const gap =
        (shift: number): Gap =>
        (rank, number, draw) =>
          Math.exp(shift * variance + deviation * normal(rank, number, draw));
      return { gap: gap(-0.5), longerGap: gap(0.5) };
    }
  }
}

/** Box and Muller, *A Note on the Generation of Random Normal Deviates*, 1958. */
const normal: Gap = (rank, number, draw) =>
  Math.sqrt(-2 * Math.log(draw(rank, number))) *
  Math.cos(2 * Math.PI * draw(rank, number, purposes.angle));
