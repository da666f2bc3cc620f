import type { MergedTick } from '../sample';

/** Latency may grow by so much of the time that passes, as a share of the precision that is searched with: what grows has no end. */
const growthShare = 0.01;
/** Less than that may be caches that fill, whatever the precision. */
const leastGrowth = 5e-5;
/** Deviations that an end of the interval lies from its middle: 95 of 100 hold the truth. */
const deviations = 2;
const fewestTicks = 5;
/** Seconds in a row that say the same say less than as many alone: at most by this they are taken for alike. */
const mostAlike = 0.9;

/** Of latency, in seconds per second of time. */
export interface Growth {
  readonly kind: 'stays' | 'grows' | 'open';
  /** The truth lies so: from the lowest to the highest growth that the seconds of the step do not contradict. */
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  /** More than that is a queue without an end. */
  readonly limit: number;
}

/**
 * Whether deliveries fall behind while a step is measured. A target above its capacity by a share keeps so much of the
 * time in its queue: latency grows by that share, second by second, and misses any limit if the step only lasts long
 * enough. The growth is the median of the slopes between all pairs of seconds (Theil and Sen), so that a few slow
 * seconds make none; how sure it is follows from how many pairs of seconds agree on their order (Kendall). Where that
 * leaves open on which side of the limit it lies, more time has to say.
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

  /** Undefined where hardly anything arrives: then it is not latency that tells. */
  growth(): Growth | undefined {
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
