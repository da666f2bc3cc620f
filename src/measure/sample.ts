import type { ErrorCounts } from '../base/errorClass';
import type { HistogramCounts } from './histogram';
import type { Counts } from './stepCounts';

/** What one worker counted for one step since its previous sample. */
export interface StepSample extends Counts {
  readonly step: number;
  readonly errors: ErrorCounts;
  readonly latency?: HistogramCounts;
  readonly sendLatency?: HistogramCounts;
  readonly slip?: HistogramCounts;
}

/** Connections of one worker, as they are now. */
export interface ConnectionSample {
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  /** Connects that are over, since the previous sample. */
  readonly connectTimes?: HistogramCounts;
}

/** How busy one worker was since its previous sample. */
export interface GeneratorSample {
  /** Step that was being measured all the time; 0 outside of measuring. */
  readonly step: number;
  readonly elapsedUs: number;
  /** Time the event loop was not idle. */
  readonly busyUs: number;
  readonly gcUs: number;
  readonly loopDelay?: HistogramCounts;
}

/** One failure with its text. */
export interface ErrorSample {
  readonly errorClass: string;
  readonly text: string;
}

/** One worker's raw numbers for one tick: mergeable, never a percentile. */
export interface WorkerSample {
  readonly worker: number;
  /** Whole seconds since the run's origin at which the sample was due. */
  readonly tick: number;
  readonly connections: ConnectionSample;
  readonly steps: readonly StepSample[];
  readonly generator: GeneratorSample;
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorSample[];
}
