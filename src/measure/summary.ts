/** What a run has measured, as results store it. Percentiles are microseconds unless their names say otherwise. */
import { connectPhases, type ConnectPhase } from '../base/endpoint';
import type { ErrorCounts } from '../base/errorClass';
import type { SearchSummary } from '../base/searchSummary';
import type { Words } from '../base/sentence';
import type { Metric } from '../base/slo';
import { maximumBlocks } from './latencyBlocks';
import type { JudgedLatency } from './latencySummary';
import {
  count,
  each,
  flag,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  some,
  text,
  time,
  type Shape,
  type TypeOf,
} from './shape';

/** Entries of a mix; a scenario has fewer. */
export const maximumEntries = 100;
/** Calls of the sessions of all entries. */
export const maximumCalls = 1000;
const maximumAgents = 1000;

const isTrue = flag as Shape<true>;
const counts = record(count);
export const errorCounts = counts as Shape<ErrorCounts>;
export const latency = object({
  count,
  ...each(['min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'], number),
});
export const judgedLatency: Shape<JudgedLatency> = object(
  each(['p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'], nullable(number)),
);
const metric = text as Shape<Metric>;
/** Absent: each step is judged by it. */
export const lastStep = optional(oneOf(['last']));

/** Sentences in sentences go no deeper than a result may. */
export const sentenceOrText: Shape<Words> = (value, at) =>
  typeof value === 'string' ? undefined : sentences(value, at);
const sentences = object({ text, values: list(sentenceOrText, 1000) });

/** The worst worker counts. Results of earlier versions do not say how late it was at most. */
export const generatorHealth = object({
  /** CPU time of the whole process per message sent or received. */
  cpuUsPerMessage: number,
  /** Of one core, by the busiest worker, 0…1. */
  cpuShare: number,
  /** 0 where a worker sends all the time: it sets no timer. */
  loopDelayP99Us: number,
  slipP99Us: number,
  ...some(['slipMaxUs', 'readGapMaxUs'], number),
  gcShare: number,
  /** The longest time in which a process of it did not run, in the measured time or the drain; absent: none. */
  suspendedUs: optional(number),
  /** False when the generator was the bottleneck. */
  valid: flag,
  /** Code of the reason. */
  cause: optional(text),
});
export type GeneratorHealth = TypeOf<typeof generatorHealth>;

export const verdictStatus = oneOf(['pass', 'fail', 'invalid', 'incomplete']);
export type VerdictStatus = TypeOf<typeof verdictStatus>;

const sloCheck = object({
  metric,
  name: optional(text),
  step: lastStep,
  /** Microseconds for a latency, 0…1 for a share, a count, or a number per second. */
  limit: number,
  /** In the unit of `limit`; null when the rank was lost. */
  value: nullable(number),
  met: flag,
  /**
   * `inside`: the clocks of agents leave the whole undecided, so deliveries inside single agents decide. `nothing`:
   * undecided, because these are too few, or because the generator was late by more than the limit is missed.
   */
  by: optional(oneOf(['inside', 'nothing'])),
});
export type SloCheck = TypeOf<typeof sloCheck>;

const verdictReason = object({
  /** Stable name, e.g. `slo-p99`, `slip`, `stopped`. */
  code: text,
  step: optional(count),
  rule: optional(object({ metric, limit: number, name: optional(text), step: lastStep })),
  /** Without its step; absent in results of earlier versions. */
  words: optional(sentenceOrText),
  message: text,
});
export type VerdictReason = TypeOf<typeof verdictReason>;

export const verdict = object({
  status: verdictStatus,
  reasons: list(verdictReason, 100_000),
  /** Those on which nothing was measured are absent. */
  checks: optional(list(sloCheck, 1000)),
});
export type Verdict = TypeOf<typeof verdict>;

/** Messages and deliveries of a step, or of one of its entries: `expected` = `received` + `lost`. */
const messages = object({
  /** `offered`: messages due at senders that were connected. */
  ...each(['senders', 'offered', 'sent', 'expected'], count),
  /** Messages due at senders that were not connected, unless we had closed them; absent in results of schema 1. */
  skipped: optional(count),
  /** Each expected delivery once that came before the drain was over. */
  received: count,
  /** The part of `received` that came after the measured time; absent in results of schema 1. */
  receivedLater: optional(count),
  /** `extra`: deliveries to connections that should not have got them. */
  ...each(['lost', 'duplicated', 'outOfOrder', 'extra'], count),
  /** Part of `lost` that came after the drain. */
  late: count,
  /** To receivers that were joining or leaving at that moment; results of schema 1 had them in `extra`. */
  leaving: optional(count),
  /** Deliveries on neither side of a join or leave, which count nowhere; absent: none. */
  ambiguous: optional(count),
  /** Deliveries between agents that came, by their clocks, before they were sent; absent: none. */
  negative: optional(count),
  /** Of the measured time. */
  ...each(['sentPerSecond', 'receivedPerSecond'], count),
  /** `in` is client → service, `out` is service → client, as in the guides. */
  ...each(['payloadBytesIn', 'payloadBytesOut'], count),
  /** null where nobody sees them: an official client has sockets of its own. */
  ...each(['wireBytesIn', 'wireBytesOut'], nullable(number)),
  /** The part of it that came after the measured time; absent: none. */
  wireBytesOutLater: optional(nullable(number)),
  /** From the intended time, of what was received. */
  latencyUs: latency,
  /** The same over what was expected, as judged; absent where all had arrived when the drain ended. */
  judgedUs: optional(judgedLatency),
  sendLatencyUs: latency,
  /** The part of `latencyUs` between connections of one agent, on one clock; absent: there was one agent. */
  latencySameAgentUs: optional(latency),
  /** From the intended time until the last receiver had the message; absent: not measured. */
  timeToAllUs: optional(latency),
  /** Messages that never reached all of their receivers, and are in no time above. */
  timeToAllMissed: optional(count),
  /** HdrHistogram V2, deflated, base64, of `latencyUs`. */
  histogram: text,
});
export type MessageSummary = TypeOf<typeof messages>;

/** Sessions due in the measured time of a step; those in no count but `started` were still going on at its end. */
export const sessionSummary = object({
  ...each(['started', 'completed', 'brokenOff'], count),
  /** Never got their turn, as the one before of their sender had not ended; absent: none. */
  waiting: optional(number),
  /** By the name of the call at which they ended; absent where none was broken off there. */
  brokenOffAt: counts,
  /** From the due time of those that were completed to the end of their last call. */
  durationUs: latency,
});
export type SessionSummary = TypeOf<typeof sessionSummary>;

const entrySummary = object({
  ...messages.fields,
  /** Name of its use case, with a number where several entries have the same. */
  name: text,
  sessions: optional(sessionSummary),
});
export type EntrySummary = TypeOf<typeof entrySummary>;

/** One call of the sessions of a step. A delivery it asks for is its answer, or a callback at one receiver. */
export const callSummary = object({
  /** Its hub method or event, numbered where a session has it more than once. */
  name: text,
  /** The use case it belongs to, as {@link EntrySummary} names it; absent where there is only one. */
  entry: optional(text),
  skipped: optional(count),
  ...each(['sent', 'expected', 'received', 'lost'], count),
  latencyUs: latency,
  judgedUs: optional(judgedLatency),
  /** How often each session makes it; absent: once, or no fixed number of times. */
  times: optional(count),
  /** Of a replay: what the recording has of it, as often as it is replayed in the step. */
  recorded: optional(number),
  /** Callbacks, or of a replay items, of that name that came, which nobody expects: see {@link StepSummary.pushed}. */
  came: optional(number),
  /** Answers, items or payloads of what was received; absent: nothing. */
  payloadBytesOut: optional(count),
  /** Of an event: how many of `received` were deliveries of calls too, which the service sent once; absent: none. */
  ofCalls: optional(number),
  errors: errorCounts,
  /** Of one of them, at most 200 characters; absent where there are none. */
  errorText: optional(text),
});
export type CallSummary = TypeOf<typeof callSummary>;

/** Messages of one name that hubs sent on their own in the measured time of a step. */
export const pushedSummary = object({
  /** Client method as the hub calls it; `…` for those beyond the first hundred names. */
  name: text,
  messages: number,
  /** Of the messages without what marks their ends; null where nobody sees them. */
  bytes: nullable(number),
  perSecond: number,
});
export type PushedSummary = TypeOf<typeof pushedSummary>;
/** Those that came most often first: a hundred names, and all others. */
export const pushedSummaries = list(pushedSummary, 101);

const membershipSummary = object({
  /** `skipped`: moves due while the connection's previous one was still unanswered. */
  ...each(['joins', 'joinsFailed', 'leaves', 'leavesFailed', 'skipped'], count),
  /** From the moment a move was due to the hub's completion, of those that worked. */
  ...each(['joinUs', 'leaveUs'], latency),
});
export type MembershipSummary = TypeOf<typeof membershipSummary>;

const stepConnections = object({
  ...each(['requested', 'open'], count),
  /** With those that will be closed next and take part no more; absent: none. */
  held: optional(count),
});
export type StepConnections = TypeOf<typeof stepConnections>;

/** A time in which fewer connections were open than the objective allows. */
const recovery = object({
  /** Measured seconds of the step. */
  atS: number,
  missing: count,
  /** Until enough took part again; null: not within the step. */
  connectionsS: nullable(number),
  /** Until the end of the first second inside the latency objectives; null as above, absent where nothing is sent. */
  latencyS: optional(nullable(number)),
});
export type Recovery = TypeOf<typeof recovery>;

const stepSummary = object({
  index: count,
  /** Measured time, warm-up and drain not included. */
  seconds: count,
  ...messages.fields,
  /** `latencyUs` over time, coarse; absent where nothing was measured. */
  latencyBlocks: optional(object({ seconds: count, counts: list(text, maximumBlocks) })),
  entries: optional(list(entrySummary, maximumEntries)),
  calls: optional(list(callSummary, maximumCalls)),
  sessions: optional(sessionSummary),
  pushed: optional(pushedSummaries),
  /** Of the measured time and the drain after it. */
  errors: errorCounts,
  warmupErrors: optional(errorCounts),
  generator: generatorHealth,
  connections: optional(stepConnections),
  recoveries: optional(list(recovery, 1000)),
  membership: optional(membershipSummary),
  agentsComplete: optional(count),
  /** By how much a latency between two agents may be off, the most of the step; absent: all had one process. */
  clockErrorUs: optional(count),
  clockJumps: optional(count),
  verdict,
});
export type StepSummary = TypeOf<typeof stepSummary>;

const agentStep = object({
  index: count,
  sent: count,
  received: count,
  /** From the intended time, of what its connections have received; absent: nothing. */
  p99Us: optional(number),
  ...each(['cpuShare', 'loopDelayP99Us', 'slipP99Us', 'gcShare'], number),
});
export type AgentStep = TypeOf<typeof agentStep>;

const agentStatuses = ['done', 'left', 'lost'] as const;
export const liveAgentStatuses = ['running', 'silent', 'leaving', ...agentStatuses] as const;
const agentSummary = object({
  index: count,
  node: text,
  status: oneOf(agentStatuses),
  /** Newest whole second of run time of which it has reported. */
  lastTick: count,
  /** By how much its clock may have differed from that of the lead, the most of the run. */
  clockErrorUs: count,
  clockJumps: optional(count),
  share: number,
  lastStep: optional(agentStep),
});
export type AgentSummary = TypeOf<typeof agentSummary>;

const agentProgress = object({
  ...agentSummary.fields,
  status: oneOf(liveAgentStatuses),
});
export const agentsProgress = list(agentProgress, maximumAgents);
export type AgentProgress = TypeOf<typeof agentProgress>;

/** Of one connection that has opened. */
const connectTimes = object(each(['p50', 'p99', 'max'], number));
export type ConnectTimes = TypeOf<typeof connectTimes>;

const targetSummary = object({
  url: text,
  ...each(['connected', 'failed', 'dropped', 'received'], count),
  connectUs: connectTimes,
  latencyUs: latency,
});

const droppedConnection = object({
  connection: number,
  /** Since the run began, and how long it had been open. */
  ...each(['atS', 'openS'], number),
  errorClass: text,
  text,
});
export type DroppedConnection = TypeOf<typeof droppedConnection>;

const quantiles = object(each(['p50', 'p90', 'p95', 'p99'], number));
export type Quantiles = TypeOf<typeof quantiles>;

const lifeSummary = object({
  /** Closed without our asking, each time; closed by us to be opened again; opened again. */
  ...each(['drops', 'closed', 'reconnects'], count),
  /** One successful try to open a connection again. */
  reconnectUs: quantiles,
  /** Since the first opening, and how much of it it was down. */
  ...each(['lifeSpanMs', 'downMs'], quantiles),
  /** Share of its life span that a connection was open, 0…1; quantiles: what so many reached at least. */
  sla: object({ ...quantiles.fields, mean: number }),
});
export type LifeSummary = TypeOf<typeof lifeSummary>;

type PhaseTimes = Readonly<Partial<Record<ConnectPhase, ConnectTimes>>>;

const connectionSummary = object({
  /** `dropped`: each connection once. */
  ...each(['requested', 'connected', 'failed', 'dropped', 'reconnected'], count),
  /** Closed by us and down since a failed try to reopen, as of now; none of them is in `dropped`. Absent: none. */
  notBack: optional(count),
  connectUs: connectTimes,
  /** The time of the try that succeeded, split; phases that never happened are absent. */
  connectPhasesUs: optional(object(some(connectPhases, connectTimes)) as Shape<PhaseTimes>),
  /** During the ramp. */
  openedPerSecond: optional(count),
  pings: optional(object(each(['sent', 'received'], count))),
  /** The first ones; a long list is cut. */
  drops: optional(list(droppedConnection, 10_000)),
  life: optional(lifeSummary),
  targets: optional(list(targetSummary, 1000)),
});
export type ConnectionSummary = TypeOf<typeof connectionSummary>;

const ending = oneOf([
  ...(['completed', 'stopped', 'threshold', 'targetLost', 'workerLost', 'interrupted'] as const),
]);
export type Ending = TypeOf<typeof ending>;

const errorExample = object({ errorClass: text, text });
export type ErrorExample = TypeOf<typeof errorExample>;

/** What of it results store. */
export const runSummary = object({
  startedAt: time,
  endedAt: time,
  ending,
  /** Why the run ended before its plan was done, for people. */
  endingMessage: optional(text),
  target: object({
    kind: text,
    url: text,
    dialect: optional(text as Shape<'recordLatency' | 'measure'>),
    emulated: optional(isTrue),
  }),
  machine: object({ cores: count, workers: count, node: text, platform: text }),
  agents: optional(list(agentSummary, maximumAgents)),
  connections: connectionSummary,
  steps: list(stepSummary, 10_000),
  plannedSteps: optional(count),
  errors: errorCounts,
  errorExamples: list(errorExample, 10_000),
});

export interface RunSummary extends TypeOf<typeof runSummary> {
  readonly search?: SearchSummary;
  /** As the reason of a verdict has it; not stored. */
  readonly endingWords?: Words;
  /** Where it is a defect; not stored. */
  readonly endingStack?: string;
}
