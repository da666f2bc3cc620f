import type { ConnectPhase } from '../base/endpoint';
import type { ErrorCounts } from '../base/errorClass';
import type { HistogramCounts, LatencyHistogram } from './histogram';
import type { LatencySummary } from './latencySummary';
import type { DroppedConnection } from './summary';

/** Joins and leaves since the previous sample. */
export interface MembershipSample {
  readonly joins: number;
  readonly joinsFailed: number;
  readonly leaves: number;
  readonly leavesFailed: number;
  readonly skipped: number;
  readonly joinLatency?: HistogramCounts;
  readonly leaveLatency?: HistogramCounts;
}

/** What one worker counted for one entry in one step since its previous sample. */
export interface EntrySample extends Counts {
  readonly latency?: HistogramCounts;
  readonly sendLatency?: HistogramCounts;
}

/** What one worker counted for one step since its previous sample, all entries together. */
export interface StepSample extends EntrySample {
  readonly step: number;
  /** Of the measured time and the drain. */
  readonly errors: ErrorCounts;
  /** Absent when there were none. */
  readonly warmupErrors?: ErrorCounts;
  readonly slip?: HistogramCounts;
  readonly membership?: MembershipSample;
  /** Each of the entries, where there are several. */
  readonly entries?: readonly EntrySample[];
}

/** What one worker saw of one of several targets: running totals, and times since the previous sample. */
export interface TargetSample {
  /** `received` counts deliveries in measured time. */
  readonly soFar: Readonly<Record<'connected' | 'failed' | 'dropped' | 'received', number>>;
  readonly connectTimes?: HistogramCounts;
  readonly latency?: HistogramCounts;
}

/** When the connections of one worker were up and down, over all of them, as of now. */
export interface LifeSample {
  readonly lifeMs: HistogramCounts;
  readonly downMs: HistogramCounts;
  readonly unavailableMillionths: HistogramCounts;
  readonly lifeUs: number;
  readonly downUs: number;
}

/** Running totals of one worker's connections. */
export interface ConnectionCounts {
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  /** Drops, repeated ones of a connection included; connections closed by us; connections opened again. */
  readonly drops?: number;
  readonly closed?: number;
  readonly reconnected?: number;
  /** Connections that could not be opened at first; they are part of `connected`. */
  readonly openedLate?: number;
  /** See {@link import('./summary').ConnectionSummary}. */
  readonly notBack?: number;
  /** Hub pings. */
  readonly pingsSent?: number;
  readonly pingsReceived?: number;
}

/** Connections of one worker: running totals, and what came since the previous sample. */
export interface ConnectionSample {
  readonly soFar: ConnectionCounts;
  /** Connects that are over, as a whole and split into phases. */
  readonly connectTimes?: HistogramCounts;
  readonly phaseTimes?: Readonly<Partial<Record<ConnectPhase, HistogramCounts>>>;
  readonly reconnectTimes?: HistogramCounts;
  /** In the order of the URLs, where there are several. */
  readonly targets?: readonly TargetSample[];
  /** Once, at the end. */
  readonly life?: LifeSample;
  /** As far as they are kept. */
  readonly droppedOnes?: readonly DroppedConnection[];
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
  /** Run time at which it was taken, microseconds. */
  readonly atUs: number;
  readonly connections: ConnectionSample;
  readonly steps: readonly StepSample[];
  readonly generator: GeneratorSample;
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorSample[];
}

/** Names of everything that is counted for a step; `in` is client → service. */
const countNames = [
  'offered',
  'sent',
  'expected',
  'received',
  'duplicated',
  'outOfOrder',
  'late',
  'extra',
  'payloadBytesIn',
  'payloadBytesOut',
  'wireBytesIn',
  'wireBytesOut',
] as const;

/** Counts of one step as plain data; their meaning: {@link import('./summary').StepSummary}. */
export type Counts = Readonly<Record<(typeof countNames)[number], number>>;

/** The same, being counted. Fields are written directly: this is the hot path of a worker. */
export class StepCounts implements Counts {
  offered = 0;
  sent = 0;
  expected = 0;
  received = 0;
  duplicated = 0;
  outOfOrder = 0;
  late = 0;
  extra = 0;
  payloadBytesIn = 0;
  payloadBytesOut = 0;
  wireBytesIn = 0;
  wireBytesOut = 0;

  addCounts(counts: Counts): void {
    for (const name of countNames) this[name] += counts[name];
  }

  /** What was counted since the last call. */
  takeCounts(): Counts {
    const taken = Object.fromEntries(countNames.map((name) => [name, this[name]])) as Counts;
    for (const name of countNames) this[name] = 0;
    return taken;
  }
}

/** What all workers together did in one tick. */
export interface MergedTick {
  readonly tick: number;
  readonly offered: number;
  readonly sent: number;
  readonly expected: number;
  readonly received: number;
  readonly latency: LatencyHistogram;
  readonly latencyUs: LatencySummary;
  /** False when a worker's sample did not come in time. */
  readonly complete: boolean;
}
