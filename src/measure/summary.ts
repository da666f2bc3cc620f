import type { ErrorCounts } from '../base/errorClass';
import type { LatencyMetric, ShareMetric } from '../base/slo';

/** Latency of the deliveries of one step, in microseconds; all 0 when `count` is 0. */
export interface LatencySummary {
  readonly count: number;
  readonly min: number;
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
  readonly max: number;
}

/** How hard the load generator itself had to work in a step; the worst worker counts. */
export interface GeneratorHealth {
  /** CPU time of the whole process per message sent or received, microseconds. */
  readonly cpuUsPerMessage: number;
  /** Share of one core that the busiest worker used, 0…1. */
  readonly cpuShare: number;
  readonly loopDelayP99Us: number;
  /** How late messages left against their intended time, 99th percentile. */
  readonly slipP99Us: number;
  /** Share of the step the worst worker spent in garbage collection, 0…1. */
  readonly gcShare: number;
  /** False when the generator was the bottleneck: the step's numbers say nothing about the target. */
  readonly valid: boolean;
}

export type VerdictStatus = 'pass' | 'fail' | 'invalid' | 'incomplete';

export interface VerdictReason {
  /** Stable name, e.g. `slo-p99`, `slip`, `stopped`. */
  readonly code: string;
  readonly message: string;
}

/** One objective with what was measured against it. */
export interface SloCheck {
  readonly metric: LatencyMetric | ShareMetric;
  /** Microseconds for a latency, 0…1 for a share. */
  readonly limit: number;
  /** In the unit of `limit`; null when the rank asked for was lost, hence slower than any limit. */
  readonly value: number | null;
  readonly met: boolean;
}

export interface Verdict {
  readonly status: VerdictStatus;
  readonly reasons: readonly VerdictReason[];
  /** The objectives that were judged, met or not; those on which nothing was measured are absent. */
  readonly checks?: readonly SloCheck[];
}

/** What one step measured. Counts of deliveries: `expected` = `received` + `lost`. */
export interface StepSummary {
  /** From 1. */
  readonly index: number;
  readonly senders: number;
  /** Measured time, warm-up and drain not included. */
  readonly seconds: number;
  /** Messages due at senders that were connected. */
  readonly offered: number;
  readonly sent: number;
  readonly expected: number;
  /** Each expected delivery once. */
  readonly received: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  /** Part of `received` that came after the drain. */
  readonly late: number;
  /** Deliveries to connections that were not meant to get them. */
  readonly extra: number;
  readonly sentPerSecond: number;
  readonly receivedPerSecond: number;
  /** `in` is client → service, `out` is service → client, as in the guides. */
  readonly payloadBytesIn: number;
  readonly payloadBytesOut: number;
  readonly wireBytesIn: number;
  readonly wireBytesOut: number;
  /** From the intended time. */
  readonly latencyUs: LatencySummary;
  /** From the real send. */
  readonly sendLatencyUs: LatencySummary;
  /** HdrHistogram V2, deflated, base64, of `latencyUs`. */
  readonly histogram: string;
  readonly errors: ErrorCounts;
  readonly generator: GeneratorHealth;
  readonly verdict: Verdict;
}

/** Quantiles of the time one connection took to open, microseconds. */
export interface ConnectTimes {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ConnectionSummary {
  readonly requested: number;
  /** Ever opened. */
  readonly connected: number;
  /** Never opened. */
  readonly failed: number;
  /** Closed without our asking. */
  readonly dropped: number;
  readonly reconnected: number;
  readonly connectUs: ConnectTimes;
}

export type Ending =
  'completed' | 'stopped' | 'threshold' | 'targetLost' | 'workerLost' | 'interrupted';

/** One failure kept with its text, for people; at most a few per class. */
export interface ErrorExample {
  readonly errorClass: string;
  readonly text: string;
}

/** Everything a run measured; the result adds scenario, estimate, recommendation and the verdict. */
export interface RunSummary {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly ending: Ending;
  /** Why the run ended before its plan was done, for people. */
  readonly endingMessage?: string;
  /** Stack of the error behind it when that is a defect, for those who look into it; not stored. */
  readonly endingStack?: string;
  readonly target: { readonly kind: string; readonly url: string };
  readonly machine: {
    readonly cores: number;
    readonly node: string;
    readonly platform: string;
    readonly workers: number;
  };
  readonly connections: ConnectionSummary;
  readonly steps: readonly StepSummary[];
  /** All errors of the run, those of connecting included. */
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}
