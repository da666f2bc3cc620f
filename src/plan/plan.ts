import type { Slo } from '../base/slo';
import type { Parameters } from '../usecases/parameterSpec';

/** One step as all workers run it. */
export interface PlanStep {
  /** From 1. */
  readonly index: number;
  readonly senders: number;
  readonly warmupMs: number;
  readonly measureMs: number;
  readonly drainMs: number;
}

/** The part of a plan that one worker carries out. Plain data, safe to clone. */
export interface WorkerPlan {
  readonly worker: number;
  readonly workers: number;
  /** Connections this worker may have opening at the same time. */
  readonly connectInFlight: number;
}

/**
 * Who connects when and who sends what when, fixed before the run starts. Connection i belongs to
 * worker i mod workers. Plain data, safe to clone.
 */
export interface Plan {
  /** Tells this run's messages from those of any other, 32 bits. */
  readonly runId: number;
  readonly seed: number;
  readonly connections: number;
  readonly arrivingRate: number;
  readonly connectInFlight: number;
  readonly connectTimeoutMs: number;
  readonly pacing: 'open' | 'closed';
  readonly dialect: 'auto' | 'recordLatency' | 'measure';
  /** Name of the use case in the registry. */
  readonly useCase: string;
  readonly parameters: Parameters;
  readonly steps: readonly PlanStep[];
  readonly slo: Slo;
  readonly workers: readonly WorkerPlan[];
}
