import type { MergedTick } from '../sample';

/** Latency may grow by so much of the time that passes: more is a queue that has no end. */
export const mostGrowth = 0.01;
/** Less than that in all is no trend, on any machine. */
const leastRiseUs = 20_000;
const fewestTicks = 3;
/** Of all pairs of seconds, so many must show it. */
const risingShare = 0.75;

/**
 * Whether deliveries fall behind while a step is measured. A target above its capacity by a share keeps so much of the
 * time in its queue: latency grows by that share, second by second, and misses any limit if the step only lasts long
 * enough. The growth is the median of the slopes between all pairs of seconds (Theil and Sen), so that a few slow
 * seconds make none.
 */
export class BacklogWatch {
  private readonly seconds: { readonly atS: number; readonly p50Us: number }[] = [];

  /** The measured time of the step, run time. */
  constructor(
    private readonly fromUs: number,
    private readonly toUs: number,
  ) {}

  tick({ tick, received, latencyUs }: Pick<MergedTick, 'tick' | 'received' | 'latencyUs'>): void {
    const isWithin = (tick - 1) * 1e6 >= this.fromUs && tick * 1e6 <= this.toUs;
    if (isWithin && received > 0) this.seconds.push({ atS: tick, p50Us: latencyUs.p50 });
  }

  /** Seconds of latency per second of time, where it is more than may be; undefined where it is not. */
  growth(): number | undefined {
    const { seconds } = this;
    if (seconds.length < fewestTicks) return undefined;
    const slopes = seconds
      .flatMap((one, at) =>
        seconds.slice(at + 1).map((other) => (other.p50Us - one.p50Us) / (other.atS - one.atS)),
      )
      .sort((a, b) => a - b);
    const slope = slopes[Math.floor(slopes.length / 2)]!;
    const rising = slopes.filter((each) => each > 0).length / slopes.length;
    const spanS = seconds.at(-1)!.atS - seconds[0]!.atS;
    const growth = slope / 1e6;
    const isTrend = rising >= risingShare && slope * spanS >= leastRiseUs;
    return isTrend && growth > mostGrowth ? growth : undefined;
  }
}
