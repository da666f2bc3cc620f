import type { Words } from '../base/sentence';
import type { ConnectPhase } from '../base/endpoint';
import type { ErrorCounts } from '../base/errorClass';
import type { Lateness } from '../base/objectives/objective';
import type { Metric } from '../base/slo';
import type { SearchSummary } from '../base/searchSummary';
import type { StoredBlocks } from './latencyBlocks';
import type { JudgedLatency, LatencySummary } from './latencySummary';

/** The worst worker counts. Results of earlier versions do not say how late it was at most. */
export interface GeneratorHealth extends Partial<Omit<Lateness, 'unread'>> {
  /** CPU time of the whole process per message sent or received, microseconds. */
  readonly cpuUsPerMessage: number;
  /** Of one core, by the busiest worker, 0…1. */
  readonly cpuShare: number;
  /** 0 where a worker sends all the time: it sets no timer. */
  readonly loopDelayP99Us: number;
  readonly slipP99Us: number;
  readonly gcShare: number;
  /** The longest time in which a process of it did not run, in the measured time or the drain; absent: none. */
  readonly suspendedUs?: number;
  /** False when the generator was the bottleneck. */
  readonly valid: boolean;
  readonly cause?: string;
}

export type VerdictStatus = 'pass' | 'fail' | 'invalid' | 'incomplete';

export interface VerdictReason {
  /** Stable name, e.g. `slo-p99`, `slip`, `stopped`. */
  readonly code: string;
  readonly step?: number;
  readonly rule?: Pick<SloCheck, 'metric' | 'limit' | 'name' | 'step'>;
  /** Without its step; absent in results of earlier versions. */
  readonly words?: Words;
  readonly message: string;
}

export interface SloCheck {
  readonly metric: Metric;
  readonly name?: string;
  /** Only the last step is judged by it; absent: each is. */
  readonly step?: 'last';
  /** Microseconds for a latency, 0…1 for a share, a count, or a number per second. */
  readonly limit: number;
  /** In the unit of `limit`; null when the rank was lost. */
  readonly value: number | null;
  readonly met: boolean;
  /**
   * `inside`: the clocks of agents leave the whole undecided, so deliveries inside single agents decide. `nothing`:
   * undecided, because these are too few, or because the generator was late by more than the limit is missed.
   */
  readonly by?: 'inside' | 'nothing';
}

export interface Verdict {
  readonly status: VerdictStatus;
  readonly reasons: readonly VerdictReason[];
  /** Those on which nothing was measured are absent. */
  readonly checks?: readonly SloCheck[];
}

/** Messages and deliveries of a step, or of one of its entries: `expected` = `received` + `lost`. */
export interface MessageSummary {
  readonly senders: number;
  readonly offered: number;
  /** Messages due at senders that were not, unless we had closed them ourselves; absent in results of schema 1. */
  readonly skipped?: number;
  readonly sent: number;
  readonly expected: number;
  /** Each expected delivery once that came before the drain was over. */
  readonly received: number;
  /** The part of `received` that came after the measured time; absent in results of schema 1. */
  readonly receivedLater?: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly outOfOrder: number;
  /** Part of `lost` that came after the drain. */
  readonly late: number;
  readonly extra: number;
  /** Deliveries to receivers that were joining or leaving at that moment; absent in results of schema 1, which had them in `extra`. */
  readonly leaving?: number;
  /** Deliveries that could not be assigned to either side of a join or leave, and count nowhere; absent: none. */
  readonly ambiguous?: number;
  /** Deliveries between agents that came, by their clocks, before they were sent; absent: none. */
  readonly negative?: number;
  readonly sentPerSecond: number;
  /** Of what was received in the measured time. */
  readonly receivedPerSecond: number;
  /** `in` is client → service, `out` is service → client, as in the guides. */
  readonly payloadBytesIn: number;
  readonly payloadBytesOut: number;
  /** null where nobody sees them: an official client has sockets of its own. */
  readonly wireBytesIn: number | null;
  readonly wireBytesOut: number | null;
  /** The part of it that came after the measured time; absent: none. */
  readonly wireBytesOutLater?: number | null;
  /** From the intended time, of what was received. */
  readonly latencyUs: LatencySummary;
  /** The same over what was expected, as judged; absent where all had arrived when the drain ended. */
  readonly judgedUs?: JudgedLatency;
  readonly sendLatencyUs: LatencySummary;
  /** The part of `latencyUs` that lies between connections of one agent, on one clock; absent: there was one agent. */
  readonly latencySameAgentUs?: LatencySummary;
  /** From the intended time until a message had reached the last of its receivers; absent: not measured. */
  readonly timeToAllUs?: LatencySummary;
  /** Messages that never reached all of them, and are in no time above. */
  readonly timeToAllMissed?: number;
  /** HdrHistogram V2, deflated, base64, of `latencyUs`. */
  readonly histogram: string;
}

export interface EntrySummary extends MessageSummary {
  /** Name of its use case, with a number where several entries have the same. */
  readonly name: string;
  readonly sessions?: SessionSummary;
}

/** One call of the sessions of a step. A delivery it asks for is its answer, or a callback at one receiver. */
export interface CallSummary extends Pick<
  MessageSummary,
  'skipped' | 'sent' | 'expected' | 'received' | 'lost' | 'latencyUs' | 'judgedUs'
> {
  /** Its hub method or event, numbered where a session has it more than once. */
  readonly name: string;
  /** The use case it belongs to, as {@link EntrySummary} names it; absent where there is only one. */
  readonly entry?: string;
  /** How often each session makes it; absent: once, or no fixed number of times. */
  readonly times?: number;
  /** Of a replay: what the recording has of it, as often as it is replayed in the step. */
  readonly recorded?: number;
  /** Callbacks, or of a replay items, of that name that came, which nobody expects: see {@link StepSummary.pushed}. */
  readonly came?: number;
  /** Answers, items or payloads of what was received; absent: nothing. */
  readonly payloadBytesOut?: number;
  /** Of an event: how many of `received` were deliveries of calls too, which the service sent once; absent: none. */
  readonly ofCalls?: number;
  readonly errors: ErrorCounts;
  /** Of one of them, at most 200 characters; absent where there are none. */
  readonly errorText?: string;
}

/** Sessions due in the measured time of a step; those in no count but `started` were still going on at its end. */
export interface SessionSummary {
  readonly started: number;
  readonly completed: number;
  readonly brokenOff: number;
  /** Never got their turn, as the one before of their sender had not ended; absent: none. */
  readonly waiting?: number;
  /** By the name of the call at which they ended; absent where none was broken off there. */
  readonly brokenOffAt: Readonly<Record<string, number>>;
  /** From the due time of those that were completed to the end of their last call. */
  readonly durationUs: LatencySummary;
}

export interface StepSummary extends MessageSummary {
  readonly index: number;
  /** Measured time, warm-up and drain not included. */
  readonly seconds: number;
  /** `latencyUs` over time, coarse; absent where nothing was measured. */
  readonly latencyBlocks?: StoredBlocks;
  readonly entries?: readonly EntrySummary[];
  readonly calls?: readonly CallSummary[];
  readonly sessions?: SessionSummary;
  /** What hubs sent on their own, to all connections, in the measured time; those that came most often first. Absent: nothing. */
  readonly pushed?: readonly PushedSummary[];
  /** Of the measured time and the drain after it. */
  readonly errors: ErrorCounts;
  readonly warmupErrors?: ErrorCounts;
  readonly generator: GeneratorHealth;
  readonly connections?: StepConnections;
  readonly recoveries?: readonly Recovery[];
  readonly membership?: MembershipSummary;
  readonly agentsComplete?: number;
  /** By how much a latency between two agents may be off, the most of the step; absent: all had one process. */
  readonly clockErrorUs?: number;
  readonly clockJumps?: number;
  readonly verdict: Verdict;
}

export const mostPushedNames = 100;

/** Messages of one name that hubs sent on their own in the measured time of a step. */
export interface PushedSummary {
  /** Client method as the hub calls it; `…` for those beyond the first hundred names. */
  readonly name: string;
  readonly messages: number;
  /** Of the messages without what marks their ends; null where nobody sees them. */
  readonly bytes: number | null;
  readonly perSecond: number;
}

export interface MembershipSummary {
  readonly joins: number;
  readonly joinsFailed: number;
  readonly leaves: number;
  readonly leavesFailed: number;
  readonly skipped: number;
  /** From the moment a move was due to the hub's completion, of those that worked. */
  readonly joinUs: LatencySummary;
  readonly leaveUs: LatencySummary;
}

export interface StepConnections {
  readonly requested: number;
  readonly open: number;
  /** With those that will be closed next and take part no more; absent: none. */
  readonly held?: number;
}

export type Ending =
  | 'completed'
  | 'stopped'
  | 'threshold'
  | 'targetLost'
  | 'workerLost'
  | 'interrupted';

export interface ErrorExample {
  readonly errorClass: string;
  readonly text: string;
}

export const agentStatuses = ['done', 'left', 'lost'] as const;
export const liveAgentStatuses = ['running', 'silent', 'leaving', ...agentStatuses] as const;

export interface AgentStep extends Pick<
  GeneratorHealth,
  'cpuShare' | 'loopDelayP99Us' | 'slipP99Us' | 'gcShare'
> {
  readonly index: number;
  readonly sent: number;
  readonly received: number;
  /** From the intended time, of what its connections have received; absent: nothing. */
  readonly p99Us?: number;
}

export interface AgentProgress {
  /** From 1. */
  readonly index: number;
  readonly node: string;
  readonly status: (typeof liveAgentStatuses)[number];
  /** Newest whole second of run time of which it has reported. */
  readonly lastTick: number;
  /** By how much its clock may have differed from the coordinator's, the most of the run. */
  readonly clockErrorUs: number;
  readonly clockJumps?: number;
  readonly share: number;
  readonly lastStep?: AgentStep;
}

export interface AgentSummary extends AgentProgress {
  readonly status: (typeof agentStatuses)[number];
}

export interface RunSummary {
  readonly startedAt: string;
  readonly endedAt: string;
  readonly ending: Ending;
  /** Why the run ended before its plan was done, for people. */
  readonly endingMessage?: string;
  /** The same as the reason of a verdict has it; not stored. */
  readonly endingWords?: Words;
  /** Where it is a defect; not stored. */
  readonly endingStack?: string;
  readonly target: {
    readonly kind: string;
    readonly url: string;
    readonly dialect?: 'recordLatency' | 'measure';
    readonly emulated?: true;
  };
  readonly machine: {
    readonly cores: number;
    readonly node: string;
    readonly platform: string;
    readonly workers: number;
  };
  readonly agents?: readonly AgentSummary[];
  readonly connections: ConnectionSummary;
  readonly steps: readonly StepSummary[];
  readonly plannedSteps?: number;
  readonly search?: SearchSummary;
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}

/** Microseconds that one connection took to open. */
export type ConnectTimes = Readonly<Record<'p50' | 'p99' | 'max', number>>;

export interface DroppedConnection {
  readonly connection: number;
  /** Since the run began, and how long it had been open, seconds. */
  readonly atS: number;
  readonly openS: number;
  readonly errorClass: string;
  readonly text: string;
}

export type Quantiles = Readonly<Record<'p50' | 'p90' | 'p95' | 'p99', number>>;

export interface LifeSummary {
  /** Closed without our asking, each time; closed by us to be opened again; opened again. */
  readonly drops: number;
  readonly closed: number;
  readonly reconnects: number;
  /** One successful try to open a connection again. */
  readonly reconnectUs: Quantiles;
  /** Since the first opening, and how much of it it was down. */
  readonly lifeSpanMs: Quantiles;
  readonly downMs: Quantiles;
  /** Share of its life span that a connection was open, 0…1; quantiles: what so many reached at least. */
  readonly sla: Quantiles & { readonly mean: number };
}

/** A time in which fewer connections were open than the objective allows. */
export interface Recovery {
  readonly atS: number;
  readonly missing: number;
  /** Until enough took part again; null: not within the step. */
  readonly connectionsS: number | null;
  /** Until the end of the first second inside the latency objectives; null as above, absent where nothing is sent. */
  readonly latencyS?: number | null;
}

export interface TargetSummary {
  readonly url: string;
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  readonly received: number;
  readonly connectUs: ConnectTimes;
  readonly latencyUs: LatencySummary;
}

export interface ConnectionSummary {
  readonly requested: number;
  readonly connected: number;
  readonly failed: number;
  /** Each connection once. */
  readonly dropped: number;
  readonly reconnected: number;
  /** Closed by us and down since a failed try to reopen, as of now; none of them is in `dropped`. Absent: none. */
  readonly notBack?: number;
  readonly connectUs: ConnectTimes;
  /** The time of the try that succeeded, split; phases that never happened are absent. */
  readonly connectPhasesUs?: Readonly<Partial<Record<ConnectPhase, ConnectTimes>>>;
  readonly openedPerSecond?: number;
  readonly pings?: { readonly sent: number; readonly received: number };
  readonly drops?: readonly DroppedConnection[];
  readonly life?: LifeSummary;
  readonly targets?: readonly TargetSummary[];
}

const disturbances: ReadonlySet<string> = new Set(['starved', 'suspended', 'slip', 'unread']);

/** Whether a step is invalid by what is neither the target nor too much for the generator; `cause` is the code of its first reason. */
export const isDisturbance = (cause: string | undefined): boolean =>
  cause !== undefined && disturbances.has(cause);

/** Whether the target let nobody in: nothing else is to be said of the run. */
export const couldNotConnect = ({
  ending,
  steps,
  connections,
}: Pick<RunSummary, 'ending' | 'steps' | 'connections'>): boolean =>
  ending === 'targetLost' && steps.length === 0 && connections.connected === 0;
