import type { ConnectPhase } from '../base/endpoint';
import type { ErrorCounts } from '../base/errorClass';
import type { Metric } from '../base/slo';
import type { JudgedLatency, LatencySummary } from './latencySummary';

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
  /** Code of the first reason where it is not valid; see {@link import('./judge/verdict').generatorProblems}. */
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
  | 'completed'
  | 'stopped'
  | 'threshold'
  | 'targetLost'
  | 'workerLost'
  | 'interrupted';

/** One failure kept with its text, for people; at most a few per class. */
export interface ErrorExample {
  readonly errorClass: string;
  readonly text: string;
}

/** The result adds scenario, estimate, recommendation and verdict. */
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
    /** The embedded hub or an emulator has answered, see {@link import('../results/result').emulatedBy}. */
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
  /** Those of connecting included. */
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}

/** Microseconds that one connection took to open. */
export interface ConnectTimes {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Closed without our asking. */
export interface DroppedConnection {
  readonly connection: number;
  /** Seconds since the run began, and how long the connection had been open. */
  readonly atS: number;
  readonly openS: number;
  readonly errorClass: string;
  readonly text: string;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

/** Over all connections that were ever open. */
export interface LifeSummary {
  /** Closed without our asking, each time; closed by us to be opened again; opened again. */
  readonly drops: number;
  readonly closed: number;
  readonly reconnects: number;
  /** One successful try to open a connection again. */
  readonly reconnectUs: Quantiles;
  /** From a connection's first opening to the end of the run, and how much of it it was down. */
  readonly lifeSpanMs: Quantiles;
  readonly downMs: Quantiles;
  /**
   * Share of its life span that a connection was open, 0…1: over all time of all connections, and what 50,
   * 90, 95 and 99 % of the connections reached at least.
   */
  readonly sla: Quantiles & { readonly mean: number };
}

/** A time in which fewer connections were open than the objective allows. */
export interface Recovery {
  /** When it began, in measured seconds of the step. */
  readonly atS: number;
  /** Most connections that were missing at once. */
  readonly missing: number;
  /** Seconds until enough connections took part again; null when that was not within the step. */
  readonly connectionsS: number | null;
  /**
   * Seconds until the end of the first whole second in which deliveries were inside the latency objectives
   * again, with those that stayed away slower than any limit; null when that was not within the step, absent where nothing is sent.
   */
  readonly latencyS?: number | null;
}

/** Over the whole run. */
export interface TargetSummary {
  readonly url: string;
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  /** Deliveries of all steps to connections of this target, with their latency from the intended time. */
  readonly received: number;
  readonly connectUs: ConnectTimes;
  readonly latencyUs: LatencySummary;
}

/** What became of the connections of a run. What is optional is absent in results of earlier versions. */
export interface ConnectionSummary {
  readonly requested: number;
  readonly connected: number;
  readonly failed: number;
  /** Closed without our asking; each connection once. */
  readonly dropped: number;
  readonly reconnected: number;
  /**
   * Closed by us to be opened again, and down since a try of that has failed; none of them is in `dropped`.
   * As of now, so one that comes back leaves it; absent when there are none.
   */
  readonly notBack?: number;
  readonly connectUs: ConnectTimes;
  /** The time of the try that succeeded, split; phases that never happened are absent. */
  readonly connectPhasesUs?: Readonly<Partial<Record<ConnectPhase, ConnectTimes>>>;
  /** Connections opened per second while the ramp was going on. */
  readonly openedPerSecond?: number;
  /** Hub pings, both ways. */
  readonly pings?: { readonly sent: number; readonly received: number };
  /** The first connections that were dropped; a long list is cut. */
  readonly drops?: readonly DroppedConnection[];
  /** Only where connections are opened again. */
  readonly life?: LifeSummary;
  /** Only where there are several URLs, and not very many. */
  readonly targets?: readonly TargetSummary[];
}
