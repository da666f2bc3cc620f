import type { ErrorCounts } from '../../base/errorClass';
import type { Metric } from '../../base/slo';
import type { ConnectionSummary, Recovery } from '../total/connectionSummary';
import type { JudgedLatency, LatencySummary } from '../latencySummary';

export type { ConnectionSummary, ConnectTimes } from '../total/connectionSummary';

/** How hard the load generator itself had to work in a step; the worst worker counts. */
export interface GeneratorHealth {
  /** CPU time of the whole process per message sent or received, microseconds. */
  readonly cpuUsPerMessage: number;
  /** Share of one core that the busiest worker used, 0…1. */
  readonly cpuShare: number;
  /** 0 where it was not measured: a worker that sends all the time sets no timer. */
  readonly loopDelayP99Us: number;
  /** How late messages left against their intended time, 99th percentile. */
  readonly slipP99Us: number;
  /** Share of the step the worst worker spent in garbage collection, 0…1. */
  readonly gcShare: number;
  /** False when the generator was the bottleneck: the step's numbers say nothing about the target. */
  readonly valid: boolean;
  /** Code of the first reason where it is not valid; see {@link import('../judge/generatorProblems').generatorProblems}. */
  readonly cause?: string;
}

export type VerdictStatus = 'pass' | 'fail' | 'invalid' | 'incomplete';

export interface VerdictReason {
  /** Stable name, e.g. `slo-p99`, `slip`, `stopped`. */
  readonly code: string;
  readonly message: string;
}

/** One objective with what was measured against it. */
export interface SloCheck {
  readonly metric: Metric;
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

/** Messages and deliveries of a step, or of one of its entries: `expected` = `received` + `lost`. */
export interface MessageSummary {
  readonly senders: number;
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
  /** null where nobody sees them: an official client has sockets of its own. */
  readonly wireBytesIn: number | null;
  readonly wireBytesOut: number | null;
  /** From the intended time, of what was received. */
  readonly latencyUs: LatencySummary;
  /** The same over what was expected, as judged; absent where all had arrived when the drain ended. */
  readonly judgedUs?: JudgedLatency;
  /** From the real send. */
  readonly sendLatencyUs: LatencySummary;
  /** HdrHistogram V2, deflated, base64, of `latencyUs`. */
  readonly histogram: string;
}

/** One of the use cases that a step ran side by side. */
export interface EntrySummary extends MessageSummary {
  /** Name of its use case, with a number where several entries have the same. */
  readonly name: string;
}

/** What one step measured, all its use cases together. */
export interface StepSummary extends MessageSummary {
  /** From 1. */
  readonly index: number;
  /** Measured time, warm-up and drain not included. */
  readonly seconds: number;
  /** In the order of the scenario; only where there are several. */
  readonly entries?: readonly EntrySummary[];
  /** Of the measured time and the drain after it. */
  readonly errors: ErrorCounts;
  /** Those of its warm-up, which is not measured; absent when there were none. */
  readonly warmupErrors?: ErrorCounts;
  readonly generator: GeneratorHealth;
  /** Connections at the end of the step; absent in results of earlier versions. */
  readonly connections?: StepConnections;
  /** Times with too few connections, where connections are opened again. */
  readonly recoveries?: readonly Recovery[];
  /** Only where connections move in and out of groups. */
  readonly membership?: MembershipSummary;
  readonly verdict: Verdict;
}

/** Connections that moved in and out of their groups in a step. */
export interface MembershipSummary {
  readonly joins: number;
  readonly joinsFailed: number;
  readonly leaves: number;
  readonly leavesFailed: number;
  /** Moves that were due while the connection's previous one was not answered yet. */
  readonly skipped: number;
  /** From the moment a move was due to the hub's completion, of those that worked. */
  readonly joinUs: LatencySummary;
  readonly leaveUs: LatencySummary;
}

export interface StepConnections {
  /** Requested up to and including this step. */
  readonly requested: number;
  /** Open and taking part. */
  readonly open: number;
  /** Open, with those that will be closed next and take part no more; absent when there are none. */
  readonly held?: number;
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
  readonly target: {
    readonly kind: string;
    readonly url: string;
    /** The bench contract that was spoken, agreed with the hub or written; absent when none was chosen. */
    readonly dialect?: 'recordLatency' | 'measure';
    /** The embedded hub or an emulator has answered, see {@link import('../../results/emulated').emulatedBy}. */
    readonly emulated?: true;
  };
  readonly machine: {
    readonly cores: number;
    readonly node: string;
    readonly platform: string;
    readonly workers: number;
  };
  readonly connections: ConnectionSummary;
  readonly steps: readonly StepSummary[];
  /** Steps of the plan, those not run included; absent in results of earlier versions. */
  readonly plannedSteps?: number;
  /** All errors of the run, those of connecting included. */
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}
