import type { ErrorCounts } from '../base/errorClass';
import type { GeneratorHealth, LatencySummary } from './summary';

export type Phase =
  'connecting' | 'preparing' | 'warmup' | 'measuring' | 'draining' | 'closing' | 'done';

/** The step that is going on, or has just ended, as far as it is measured. */
export interface StepProgress {
  readonly index: number;
  readonly senders: number;
  /** Drained and judged: what is outstanding is lost. */
  readonly over: boolean;
  /** Measured seconds so far and in total. */
  readonly elapsedS: number;
  readonly totalS: number;
  readonly offered: number;
  readonly sent: number;
  readonly expected: number;
  readonly received: number;
  /** Expected and not yet received; part of it may still be on its way. */
  readonly outstanding: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  /** Mean rates since the step's measuring began. */
  readonly sentPerSecond: number;
  readonly receivedPerSecond: number;
  readonly latencyUs: LatencySummary;
  readonly generator: GeneratorHealth;
}

/** State of a run, about once a second and at each change of phase. Plain data. */
export interface Snapshot {
  /** Milliseconds since the run began. */
  readonly atMs: number;
  /** Number of the tick the sample belongs to; rises by one a second. */
  readonly tick: number;
  readonly phase: Phase;
  readonly connections: {
    readonly requested: number;
    readonly connected: number;
    readonly failed: number;
    readonly dropped: number;
    readonly connectP99Us: number;
  };
  /** The current step; absent before the first. */
  readonly step?: StepProgress;
  readonly stepCount: number;
  /** Rates and latency of this tick alone; absent when nothing was measured in it. */
  readonly interval?: {
    readonly seconds: number;
    readonly sent: number;
    readonly received: number;
    readonly latencyUs: LatencySummary;
  };
  readonly errors: ErrorCounts;
  /** False when a worker's sample for this tick came too late to be in it. */
  readonly complete: boolean;
}
