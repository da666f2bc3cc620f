import type { LatencyMetric } from '../../base/objectives/percentile';
import type { LatencySummary } from '../latencySummary';

/** How the later run (b) stands to the earlier one (a). */
export type Change = 'same' | 'better' | 'worse';

/** `unlike`: they cannot be compared, for {@link Comparison.reasons}. */
export type ComparisonVerdict = Change | 'unlike';

export const comparedKeys = [
  'p50',
  'p90',
  'p95',
  'p99',
  'p999',
  'p9999',
] as const satisfies readonly (keyof LatencySummary)[];
export type ComparedKey = (typeof comparedKeys)[number];

/** Percentiles that are always judged; objectives of a scenario add theirs. */
export const alwaysJudgedMetrics: readonly LatencyMetric[] = ['p50', 'p90', 'p99'];

export type MissingIntervalReason =
  /** Fewer than {@link minimumBlocks} blocks of time, or none stored. */
  | 'short'
  /** Too few deliveries for this percentile. */
  | 'few'
  /** The percentile falls on a lost delivery, in one of the runs or both. */
  | 'lost';

export interface ComparedPercentile {
  /** Microseconds, over what was expected; null where that rank was lost. */
  readonly a: number | null;
  readonly b: number | null;
  /** b / a; null where one of them is lost. */
  readonly ratio: number | null;
  /** Where the ratio lies with 95 % confidence, for all that is judged together; null with the reason in `without`. */
  readonly interval: readonly [low: number, high: number] | null;
  readonly without?: MissingIntervalReason;
  readonly change?: Change;
}

export interface ComparedNumber {
  readonly a: number;
  readonly b: number;
  readonly change?: Change;
}

export interface ComparedCall {
  readonly name: string;
  readonly entry?: string;
  /** Microseconds; absent where one of both has no answers. */
  readonly p50?: ComparedNumber;
  readonly p99?: ComparedNumber;
  readonly lost: ComparedNumber;
}

export interface ComparedSessions extends Readonly<
  Record<'started' | 'completed' | 'brokenOff', ComparedNumber>
> {
  readonly entry?: string;
  /** How long those took that were completed, microseconds; absent where one of both has none. */
  readonly p50?: ComparedNumber;
  readonly p99?: ComparedNumber;
}

export interface ComparedStep {
  readonly index: number;
  readonly senders: number;
  /** Undefined where nothing can be said of it, for the reason in `problem`. */
  readonly verdict?: Change;
  readonly problem?: string;
  readonly latency: Readonly<Partial<Record<ComparedKey, ComparedPercentile>>>;
  /** Shares of the expected deliveries, 0…1, and their counts. */
  readonly lostShare: ComparedNumber;
  readonly lost: ComparedNumber;
  readonly sentPerSecond: ComparedNumber;
  readonly receivedPerSecond: ComparedNumber;
  /** Of one core, by the busiest worker, 0…1. */
  readonly cpuShare: ComparedNumber;
  /** Measured time, seconds. */
  readonly seconds: ComparedNumber;
  readonly calls?: readonly ComparedCall[];
  readonly sessions?: readonly ComparedSessions[];
}

export interface Difference {
  /** `tool`, `machine.cores`, `target.url`, or a key of the scenario file such as `config.transport`. */
  readonly what: string;
  readonly a: string;
  readonly b: string;
  /** The load is another one: the runs cannot be compared. */
  readonly load?: true;
}

export interface ComparedRun {
  readonly id: string;
  /** Of its scenario: the id without the time. */
  readonly name: string;
  readonly startedAt: string;
  readonly tool: string;
}

export interface Comparison {
  readonly verdict: ComparisonVerdict;
  readonly sentence: string;
  readonly a: ComparedRun;
  readonly b: ComparedRun;
  /** Change of a percentile, 0…, up to which nothing is called better or worse. */
  readonly tolerance: number;
  /** That all intervals of what is judged hold together. */
  readonly confidence: number;
  readonly steps: readonly ComparedStep[];
  readonly differences: readonly Difference[];
  /** Why the verdict is `unlike`, and what limits any other. */
  readonly reasons: readonly string[];
}

/** Blocks of time it takes to say what chance does. */
export const minimumBlocks = 10;
export const confidenceLevel = 0.95;
export const defaultTolerance = 0.1;
