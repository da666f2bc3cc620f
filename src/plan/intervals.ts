/** When one sender's messages are due, where they are not evenly spaced: pure functions of sender and number. */
import { mixed } from './draws';
import type { PlanIntervals } from './plan';

/** Times are microseconds from the step's start; numbers of messages count from 0. */
export interface Timing {
  firstUs(rank: number): number;
  /** When message `number` is due, whose predecessor was due, or with closed pacing sent, at `beforeUs`. */
  nextUs(rank: number, number: number, beforeUs: number): number;
  /** The first message from `number` on that is due at or after `atUs`, of a sender that was silent until then. */
  resumed(rank: number, number: number, atUs: number): { number: number; dueUs: number };
}

/** Uniform in (0, 1), the same for the same sender, number and purpose: no worker's share of the senders changes it. */
export type Draw = (rank: number, number: number, purpose?: number) => number;

/** A purpose has draws of its own. */
const purposes = { gap: 0, angle: 1, phase: 2 } as const;
const mostPurposes = 4;

export const drawsOf =
  (seed: number): Draw =>
  (rank, number, purpose = purposes.gap) =>
    (mixed(seed ^ mixed(rank ^ mixed(number * mostPurposes + purpose))) + 0.5) / 2 ** 32;

/** Fraction of the golden ratio: any first few of its multiples, cut to 0…1, lie about evenly. */
const golden = (Math.sqrt(5) - 1) / 2;

/** A message in each interval, at the place in it that `placeOf` gives (0…1). */
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

/** Each sender keeps its interval, and those that send together lie about evenly, however many they are. */
export const evenTiming = (intervalUs: number): Timing =>
  everyInterval(intervalUs, (rank) => (rank * golden) % 1);

/** One message in each interval of a sender, somewhere in it: counts stay exact, the order is drawn. */
export const jitterTiming = everyInterval;

/** Gaps that are drawn from a distribution whose mean is the interval. */
export function drawnTiming(intervalUs: number, gaps: PlanIntervals, draw: Draw): Timing {
  const { gap, longerGap } = gapsOf(gaps);
  // Whoever looks at a moment finds itself in a gap that is longer than the usual one, anywhere in it: with that the
  // rate is the same from the first moment on.
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
 * Gaps with mean 1, and those of which each is as likely as it is long (inspection paradox: W. Feller, *An Introduction
 * to Probability Theory*, volume II, I.4).
 */
function gapsOf({ distribution, spread }: PlanIntervals): Record<'gap' | 'longerGap', Gap> {
  switch (distribution) {
    case 'exponential': {
      const gap: Gap = (rank, number, draw) => -Math.log(draw(rank, number));
      // Erlang of two: a part of it is exponential again.
      const longerGap: Gap = (rank, number, draw) =>
        -Math.log(draw(rank, number)) - Math.log(draw(rank, number, purposes.angle));
      return { gap, longerGap };
    }
    case 'uniform': {
      const [least, most] = [1 - spread, 1 + spread];
      return {
        // Closed pacing: nothing is drawn.
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
