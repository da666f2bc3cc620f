import type { StepProgress, Waiting } from '../snapshot';
import type { MergedTick } from '../sample';
import { percentileShare, type Percentile } from '../../base/objectives/percentile';
import type { Slo } from '../../base/slo';
import type { Recovery } from '../summary';

/** What less than this is waited for may well be on its way. */
const leastShownS = 0.5;
const mostMarks = 4096;

interface Mark {
  readonly atUs: number;
  readonly expected: number;
  readonly received: number;
}

/** Fewer arrived up to now than were due at a moment before: at least one of those is missing, whichever. */
export class WaitingWatch {
  private marks: Mark[] = [];
  private knownUs = 0;
  private received = 0;

  /** Every arrival up to `knownUs` (run time) is in `received`; nothing in `expected` was due after `countedUs`. */
  note(knownUs: number, countedUs: number, expected: number, received: number): void {
    [this.knownUs, this.received] = [knownUs, received];
    const last = this.marks.at(-1);
    const isNew = last?.expected !== expected || last.received !== received;
    const first = this.marks.findIndex((mark) => mark.expected > received);
    this.marks = first < 0 ? [] : this.marks.slice(first);
    if (isNew && expected > received) this.marks.push({ atUs: countedUs, expected, received });
    if (this.marks.length > mostMarks) this.marks = this.marks.filter((_, at) => at % 2 === 0);
  }

  waiting(): Waiting | undefined {
    const { marks, knownUs, received } = this;
    const secondsSince = (mark: Mark | undefined): number =>
      Math.max(0, (knownUs - (mark?.atUs ?? knownUs)) / 1_000_000);
    const oldestS = secondsSince(marks[0]);
    if (oldestS < leastShownS) return undefined;
    return { oldestS, silentS: secondsSince(marks.find((mark) => mark.received === received)) };
  }
}

interface Stall {
  /** Nothing arrives at all, or what arrives leaves older ones behind. */
  readonly kind: 'silent' | 'behind';
  /** At least so long, with one decimal: `2.1`. */
  readonly seconds: string;
  readonly count: number;
}

const leastSilentS = 0.5;

/** The wait of a step that is going on; undefined when 1 % of what has arrived took as long. */
export function detectStall(
  step: Pick<StepProgress, 'waiting' | 'outstanding' | 'over' | 'latencyUs'>,
): Stall | undefined {
  const { waiting, outstanding: count, over, latencyUs } = step;
  if (over || waiting === undefined || waiting.oldestS * 1e6 <= latencyUs.p99) return undefined;
  const { oldestS, silentS } = waiting;
  const words = (seconds: number): string => (Math.floor(seconds * 10) / 10).toFixed(1);
  return silentS >= leastSilentS
    ? { kind: 'silent', seconds: words(silentS), count }
    : { kind: 'behind', seconds: words(oldestS), count };
}

/** Growth of latency that is tolerated, as a share of the precision of the search. */
const growthShare = 0.01;
/** Less than that may be caches that fill, whatever the precision. */
const leastGrowth = 5e-5;
/** Standard deviations from the middle of the interval to its ends (95 %). */
const deviations = 2;
const fewestTicks = 5;
/** Neighbouring seconds are taken for alike by no more than this. */
const mostAlike = 0.9;

export interface LatencyGrowth {
  readonly kind: 'stays' | 'grows' | 'open';
  /** From the lowest to the highest growth that the seconds of the step allow. */
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  readonly limit: number;
}

/**
 * A target above its capacity queues: latency grows second by second, and misses any limit if the step lasts long
 * enough. The growth is the median slope between all pairs of seconds (Theil and Sen), so that a few slow seconds
 * make none; its interval follows from how many pairs agree on their order (Kendall).
 */
export class BacklogWatch {
  private readonly seconds: { readonly atS: number; readonly p50Us: number }[] = [];
  private readonly limit: number;

  /** The measured time of the step, run time; the precision of the search, 0…. */
  constructor(
    private readonly fromUs: number,
    private readonly toUs: number,
    precision: number,
  ) {
    this.limit = Math.max(leastGrowth, precision * growthShare);
  }

  tick({ tick, received, latencyUs }: Pick<MergedTick, 'tick' | 'received' | 'latencyUs'>): void {
    const isWithin = (tick - 1) * 1e6 >= this.fromUs && tick * 1e6 <= this.toUs;
    if (isWithin && received > 0) this.seconds.push({ atS: tick, p50Us: latencyUs.p50 });
  }

  growth(): LatencyGrowth | undefined {
    const { seconds, limit } = this;
    if (seconds.length < fewestTicks) return undefined;
    const slopes = seconds
      .flatMap((one, at) =>
        seconds
          .slice(at + 1)
          .map((other) => (other.p50Us - one.p50Us) / (other.atS - one.atS) / 1e6),
      )
      .sort((a, b) => a - b);
    const middle = slopes[Math.floor(slopes.length / 2)]!;
    const [count, pairs] = [seconds.length, slopes.length];
    const deviation = Math.sqrt((count * (count - 1) * (2 * count + 5)) / 18);
    const reach = (deviations * deviation * this.stretch(middle)) / 2;
    const low = slopes[Math.floor(pairs / 2 - reach)] ?? -Infinity;
    const high = slopes[Math.ceil(pairs / 2 + reach)] ?? Infinity;
    const kind = low > limit ? 'grows' : high <= limit ? 'stays' : 'open';
    return { kind, low, middle, high, limit };
  }

  /** By which the interval is wider because seconds that follow each other are alike, once the growth is taken out. */
  private stretch(growth: number): number {
    const { seconds } = this;
    const rest = seconds.map(({ atS, p50Us }) => p50Us - growth * 1e6 * atS);
    const mean = rest.reduce((sum, each) => sum + each, 0) / rest.length;
    let [own, next] = [0, 0];
    rest.forEach((each, at) => {
      own += (each - mean) ** 2;
      if (at > 0) next += (each - mean) * (rest[at - 1]! - mean);
    });
    const alike = own > 0 ? Math.min(mostAlike, Math.max(0, next / own)) : 0;
    return Math.sqrt((1 + alike) / (1 - alike));
  }
}

/** Of one step; connections that flap more than that are no recovery. */
const mostRecoveries = 100;
const tickUs = 1_000_000;

interface RecoveryFacts {
  readonly slo: Slo;
  readonly connections: number;
  readonly measureUs: number;
  readonly endUs: number;
  /** When all connections are dropped on purpose, and from when on they stop taking part for that. */
  readonly storm?: { readonly fromUs: number; readonly atUs: number };
  readonly sends: boolean;
}

interface Outage {
  readonly fromUs: number;
  missing: number;
  backUs: number | undefined;
}

interface Second {
  readonly startUs: number;
  readonly received: number;
  readonly behind: number;
  readonly within: readonly number[];
}

type SecondFacts = Pick<MergedTick, 'tick' | 'expected' | 'received' | 'latency'>;

/** Finds when too few take part, and how long until they are back and latency is inside its objectives again. */
export class RecoveryWatch {
  private readonly outages: Outage[] = [];
  private readonly seconds: Second[] = [];
  private readonly limits: readonly (readonly [Percentile, number])[];
  private readonly needed: number;

  constructor(private readonly facts: RecoveryFacts) {
    const { slo, connections } = facts;
    this.limits = Object.entries(slo.latencyUs) as [Percentile, number][];
    this.needed = Math.ceil((1 - (slo.dropped ?? 0)) * connections - 1e-9);
  }

  open(atUs: number, count: number): void {
    const { connections, storm, measureUs, endUs } = this.facts;
    if (atUs < measureUs || atUs > endUs) return;
    const last = this.outages.at(-1);
    const current = last?.backUs === undefined ? last : undefined;
    if (count >= this.needed) {
      if (current !== undefined) current.backUs = Math.max(atUs, current.fromUs);
      return;
    }
    const missing = connections - count;
    if (current !== undefined) {
      current.missing = Math.max(current.missing, missing);
    } else if (this.outages.length < mostRecoveries) {
      const leadsToStorm = storm !== undefined && atUs >= storm.fromUs && atUs < storm.atUs;
      const fromUs = leadsToStorm ? storm.atUs : atUs;
      this.outages.push({ fromUs, missing, backUs: undefined });
    }
  }

  /** Deliveries of a second of the run, in order; those of the drain too, which show what came after all. */
  second({ tick, expected, received, latency }: SecondFacts): void {
    if (this.outages.length === 0) return;
    const within = this.limits.map(([, limit]) => latency.classCounts([limit + 1])[0]!);
    this.seconds.push({
      startUs: (tick - 1) * tickUs,
      received,
      behind: expected - received,
      within,
    });
  }

  recoveries(): Recovery[] {
    const { measureUs, endUs, sends } = this.facts;
    return this.outages.map(({ fromUs, missing, backUs }) => {
      const calm = this.seconds.find(
        ({ startUs }, at) => startUs >= (backUs ?? endUs) && startUs < endUs && this.isCalm(at),
      );
      const calmUs = calm && calm.startUs + tickUs;
      const secondsTo = (atUs: number | undefined): number | null =>
        atUs === undefined ? null : (atUs - fromUs) / 1_000_000;
      return {
        atS: (fromUs - measureUs) / 1_000_000,
        missing,
        connectionsS: secondsTo(backUs),
        ...(sends && { latencyS: secondsTo(calmUs) }),
      };
    });
  }

  /**
   * Whether a second met all latency objectives, a missing delivery being slower than any limit. What was on its way
   * when the second ended is not missing if, at the end of this second or of a later one within the limit, as many
   * have arrived as were due.
   */
  private isCalm(at: number): boolean {
    const { received, within } = this.seconds[at]!;
    const isMet = ([metric, limit]: readonly [Percentile, number], position: number): boolean => {
      let behind = 0;
      const later = this.seconds.slice(at, at + 1 + Math.ceil(limit / tickUs));
      const missing = Math.min(...later.map((each) => (behind += each.behind)));
      const judged = received + Math.max(0, missing);
      return within[position]! >= percentileShare(metric) * judged - 1e-6;
    };
    return received > 0 && this.limits.every(isMet);
  }
}
