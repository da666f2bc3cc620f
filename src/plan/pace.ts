import { mixBits } from './draws';
import type { PlanIntervals } from './plan';
import type { StagesSpec } from '../scenario/scenario';

/** Times are microseconds from the step's start. */
export interface Pacing {
  /** Infinity without senders. */
  readonly nextDueUs: number;
  /** Takes the next message, sent at `nowUs`; returns its sender's index among the worker's. */
  take(nowUs: number): number;
  /** Messages of a sender not taken yet and due in [fromUs, untilUs). */
  left(position: number, fromUs: number, untilUs: number): number;
}

/**
 * Even due times: message j of a step (from 0) is due at `j × interval / senders`, and sender `j mod senders` sends
 * it. A worker takes those of its own senders.
 */
export class Pace implements Pacing {
  /** Next message: how often each sender has sent, and the index in `ranks`. */
  private round = 0;
  private position = 0;

  /** `ranks`: ranks of this worker's senders among all of the step, rising. */
  constructor(
    private readonly ranks: Uint32Array,
    private readonly senders: number,
    private readonly intervalUs: number,
  ) {}

  get nextDueUs(): number {
    if (this.ranks.length === 0) return Infinity;
    return (this.round + this.ranks[this.position]! / this.senders) * this.intervalUs;
  }

  take(): number {
    const sender = this.position;
    this.position += 1;
    if (this.position === this.ranks.length) {
      this.position = 0;
      this.round += 1;
    }
    return sender;
  }

  left(position: number, fromUs: number, untilUs: number): number {
    const offset = this.ranks[position]! / this.senders;
    const nextRound = this.round + (position < this.position ? 1 : 0);
    const firstRound = Math.max(nextRound, this.firstRoundAt(fromUs, offset));
    return Math.max(0, this.firstRoundAt(untilUs, offset) - firstRound);
  }

  /** First round due at or after `atUs`, by the same arithmetic. */
  private firstRoundAt(atUs: number, offset: number): number {
    let round = Math.ceil(atUs / this.intervalUs - offset);
    while ((round + offset) * this.intervalUs < atUs) round += 1;
    while ((round - 1 + offset) * this.intervalUs >= atUs) round -= 1;
    return round;
  }
}

export interface DrawnPaceSpec {
  /** Ranks of this worker's senders among all of the step, rising. */
  readonly ranks: Uint32Array;
  readonly timing: Timing;
  readonly activity?: Activity | undefined;
  /** As in the Azure SignalR benchmark: intervals count from the previous send, so slowness lowers the rate. */
  readonly closed?: boolean;
}

type NextDue = ReturnType<Timing['resumed']>;

/** Uneven due times, or a varying number of senders: merges the times of each sender. */
export class DrawnPace implements Pacing {
  private readonly dueUs: Float64Array;
  private readonly numbers: Uint32Array;
  /** Sender indexes as a binary heap by due time. */
  private readonly heap: Uint32Array;

  constructor(private readonly spec: DrawnPaceSpec) {
    const { ranks, timing } = spec;
    this.dueUs = new Float64Array(ranks.length);
    this.numbers = new Uint32Array(ranks.length);
    ranks.forEach((rank, position) => this.set(position, 0, timing.firstUs(rank)));
    const byDue = (a: number, b: number): number => this.dueUs[a]! - this.dueUs[b]! || a - b;
    this.heap = Uint32Array.from(ranks.keys()).sort(byDue);
  }

  get nextDueUs(): number {
    return this.heap.length === 0 ? Infinity : this.dueUs[this.heap[0]!]!;
  }

  take(nowUs: number): number {
    const position = this.heap[0]!;
    const { ranks, timing, closed } = this.spec;
    const dueUs = this.dueUs[position]!;
    const number = this.numbers[position]! + 1;
    const beforeUs = closed ? Math.max(dueUs, nowUs) : dueUs;
    this.set(position, number, timing.nextUs(ranks[position]!, number, beforeUs));
    this.sink();
    return position;
  }

  left(position: number, fromUs: number, untilUs: number): number {
    let next: NextDue = { number: this.numbers[position]!, dueUs: this.dueUs[position]! };
    let count = 0;
    while (next.dueUs < untilUs) {
      if (next.dueUs >= fromUs) count += 1;
      // With closed pacing the next due time depends on when this one is sent.
      if (this.spec.closed) break;
      const rank = this.spec.ranks[position]!;
      const number = next.number + 1;
      next = this.whenActive(rank, number, this.spec.timing.nextUs(rank, number, next.dueUs));
    }
    return count;
  }

  private set(position: number, number: number, dueUs: number): void {
    if (this.spec.activity === undefined) {
      this.numbers[position] = number;
      this.dueUs[position] = dueUs;
      return;
    }
    const next = this.whenActive(this.spec.ranks[position]!, number, dueUs);
    this.numbers[position] = next.number;
    this.dueUs[position] = next.dueUs;
  }

  /** That message, or the sender's first after it while active. */
  private whenActive(rank: number, number: number, dueUs: number): NextDue {
    const { activity, timing } = this.spec;
    let next: NextDue = { number, dueUs };
    while (activity !== undefined && !activity.isActive(rank, next.dueUs)) {
      const fromUs = activity.activeFromUs(rank, next.dueUs);
      if (fromUs === Infinity) return { number: next.number, dueUs: Infinity };
      next = timing.resumed(rank, next.number + 1, Math.max(fromUs, next.dueUs));
    }
    return next;
  }

  private sink(): void {
    const { heap, dueUs } = this;
    const moved = heap[0]!;
    const movedUs = dueUs[moved]!;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && dueUs[heap[child + 1]!]! < dueUs[heap[child]!]!) child += 1;
      if (dueUs[heap[child]!]! >= movedUs) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moved;
  }
}

/**
 * Uneven due times of one sender: pure functions of sender and message number. Times are microseconds from the step's
 * start; message numbers begin at 0.
 */
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

export const createDraw =
  (seed: number): Draw =>
  (rank, number, purpose = purposes.gap) =>
    (mixBits(seed ^ mixBits(rank ^ mixBits(number * mostPurposes + purpose))) + 0.5) / 2 ** 32;

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
        gap:
          // Closed pacing: nothing is drawn.
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

interface Corner {
  readonly atUs: number;
  readonly value: number;
}

/** Number of active senders over time, by the stages of a step. Times are microseconds from its start. */
export class Activity {
  private readonly corners: readonly Corner[];

  /** `startUs`: end of the warm-up; `share`: the entry's share of all senders. */
  constructor({ from, stages }: StagesSpec, startUs = 0, share = 1) {
    let atUs = startUs;
    const corners: Corner[] = [{ atUs, value: from * share }];
    const add = (value: number): void => {
      // Of several corners at one time only the first and last matter.
      if (corners.at(-2)?.atUs === atUs && corners.at(-1)!.atUs === atUs) corners.pop();
      corners.push({ atUs, value });
    };
    for (const { to, overMs, holdMs } of stages) {
      atUs += overMs * 1000;
      add(to * share);
      atUs += holdMs * 1000;
      add(to * share);
    }
    this.corners = corners;
  }

  /** Interpolated; constant before the first and after the last stage. */
  at(us: number): number {
    const { corners } = this;
    const next = this.nextCorner(us);
    const before = corners[Math.max(0, next - 1)]!;
    const after = corners[next];
    if (next === 0 || after === undefined) return before.value;
    const passed = (us - before.atUs) / (after.atUs - before.atUs);
    return before.value + passed * (after.value - before.value);
  }

  private nextCorner(us: number): number {
    let [from, to] = [0, this.corners.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.corners[middle]!.atUs > us) to = middle;
      else from = middle + 1;
    }
    return from;
  }

  /** Senders are active in the order of their ranks; half a sender rounds a ramp to whole ones. */
  isActive(rank: number, us: number): boolean {
    return this.at(us) > rank + 0.5;
  }

  /** First time from `us` on at which the sender is active; Infinity if never. */
  activeFromUs(rank: number, us: number): number {
    const { corners } = this;
    const least = rank + 0.5;
    if (this.at(us) > least) return us;
    // Two corners may have that time.
    for (let at = Math.max(1, this.nextCorner(us) - 2); at < corners.length; at++) {
      const [from, to] = [corners[at - 1]!, corners[at]!];
      if (to.atUs < us || to.value <= least) continue;
      if (from.value > least) return Math.max(us, from.atUs);
      const passed = (least - from.value) / (to.value - from.value);
      return Math.max(us, from.atUs + passed * (to.atUs - from.atUs));
    }
    return Infinity;
  }
}
