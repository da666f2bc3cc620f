import type { Random } from '../../src/base/random';
import { LatencyHistogram, type HistogramCounts } from '../../src/measure/histogram';
import { LatencyBlocks } from '../../src/measure/latencyBlocks';
import { judgedLatency } from '../../src/measure/latencySummary';
import type { StepSummary } from '../../src/measure/summary';
import { sampleStep } from '../unit/results/sampleResult';
import { normal } from './simulatedServers';

/** A step in whose seconds these deliveries arrived, each with its latency in microseconds. */
export function measuredStep(
  seconds: readonly (readonly number[])[],
  change: { readonly index?: number; readonly senders?: number; readonly lost?: number } = {},
): StepSummary {
  const { index = 1, senders = 700, lost = 0 } = change;
  const all = new LatencyHistogram();
  const blocks = new LatencyBlocks();
  for (const [tick, latencies] of seconds.entries()) {
    for (const us of latencies) all.record(us);
    blocks.add(tick, countsAsTheyCome(latencies));
  }
  const latencyUs = all.summary();
  const [received, expected] = [latencyUs.count, latencyUs.count + lost];
  const perSecond = received / Math.max(1, seconds.length);
  const latencyBlocks = blocks.stored();
  return {
    ...sampleStep(index),
    ...{ index, senders, seconds: seconds.length, latencyUs, expected, received, lost },
    ...{
      sent: expected,
      offered: expected,
      sentPerSecond: perSecond,
      receivedPerSecond: perSecond,
    },
    histogram: all.encode(),
    ...(latencyBlocks && { latencyBlocks }),
    ...(lost > 0 && {
      judgedUs: judgedLatency({
        ...{ expected, received },
        latencyAtShareUs: (share) => all.valueAtShare(share),
      }),
    }),
  };
}

/** Without a histogram, which takes far longer than its counts. */
export function countsAsTheyCome(latencies: readonly number[]): HistogramCounts {
  const pairs = new Float64Array(2 * latencies.length);
  for (const [at, us] of latencies.entries()) pairs.set([Math.round(us), 1], 2 * at);
  return { pairs, minUs: Math.min(...latencies), maxUs: Math.max(...latencies), sumUs: 0 };
}

/** How deliveries of a made-up server depend on each other. */
export interface Process {
  readonly perSecond: number;
  /** Of the level of one second with that of the next, 0…1, and how far it wanders (of the logarithm). */
  readonly correlation: number;
  readonly wandering: number;
  /** Share of the seconds with a stall, in which a tenth of the deliveries wait up to 0.2 s. */
  readonly stalls?: number;
  /** All latencies times this. */
  readonly factor?: number;
}

/** Latencies around 2 ms whose level wanders from second to second: an autoregressive process of the first order. */
export function wanderingSeconds(
  { perSecond, correlation, wandering, stalls = 0, factor = 1 }: Process,
  seconds: number,
  random: Random,
): number[][] {
  let level = (wandering / Math.sqrt(1 - correlation ** 2)) * normal(random);
  return Array.from({ length: seconds }, () => {
    level = correlation * level + wandering * normal(random);
    const stallUs = random.next() < stalls ? 200_000 * random.next() : 0;
    return Array.from({ length: perSecond }, (_, at) => {
      const waiting = at < perSecond / 10 ? stallUs * (1 - (10 * at) / perSecond) : 0;
      return factor * (2000 * Math.exp(level + 0.5 * normal(random)) + waiting);
    });
  });
}
