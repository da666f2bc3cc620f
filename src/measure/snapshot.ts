/** How a run stands, as it is shown while it goes on and stored with its result. */
import type { Words } from '../base/sentence';
import { maximumSeries } from './observed';
import { searchKinds } from '../base/searchSummary';
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
  wrong,
  type Shape,
  type TypeOf,
} from './shape';
import {
  agentsProgress,
  callSummary,
  errorCounts,
  generatorHealth,
  judgedLatency,
  latency,
  maximumCalls,
  maximumEntries,
  pushedSummaries,
  sessionSummary,
  verdictStatus,
  sentenceOrText,
} from './summary';

/** Lower bounds: samples come once a second. */
const waiting = object({
  /** The oldest of them was due at least so long ago. */
  oldestS: number,
  /** Nothing at all has arrived for at least so long while some were due. */
  silentS: number,
});
export type Waiting = TypeOf<typeof waiting>;

export type Phase =
  | 'connecting'
  | 'preparing'
  | 'warmup'
  | 'measuring'
  | 'draining'
  | 'closing'
  | 'done';

const messageProgress = object({
  ...each(['senders', 'offered', 'sent', 'expected', 'received'], count),
  ...some(['skipped', 'receivedLater'], count),
  /** Expected and not yet received; part of it may still be on its way. */
  outstanding: count,
  ...each(['sentPerSecond', 'receivedPerSecond'], count),
  ...{ latencyUs: latency, judgedUs: optional(judgedLatency), timeToAllUs: optional(latency) },
});
export type MessageProgress = TypeOf<typeof messageProgress>;

const entryProgress = object({
  ...messageProgress.fields,
  ...{ name: text, sessions: optional(sessionSummary) },
});
export type EntryProgress = TypeOf<typeof entryProgress>;

const withoutLost = ({ lost: _lost, ...fields }: typeof callSummary.fields) => fields;
const callProgress = object({ ...withoutLost(callSummary.fields), outstanding: count });
export type CallProgress = TypeOf<typeof callProgress>;

/** An objective that is not met by now, in the words of a verdict. */
export interface MissedSoFar {
  readonly message: string;
  /** Absent in samples of earlier versions. */
  readonly words?: Words;
  /** Nothing that may still come can mend it. */
  readonly isFinal?: true;
}
/** Earlier versions wrote other members; see `parseSample`. */
const missed = object({
  ...{ message: optional(text), words: optional(sentenceOrText), isFinal: optional(flag) },
}) as Shape<unknown> as Shape<MissedSoFar>;

const stepProgress = object({
  index: count,
  ...messageProgress.fields,
  /** Drained and judged: what is outstanding is lost. */
  over: flag,
  verdict: optional(verdictStatus),
  ...each(['elapsedS', 'totalS'], number),
  /** How long what is outstanding is waited for; absent when that is not long. */
  waiting: optional(waiting),
  /** Absent where all objectives are met by now. */
  missed: optional(missed),
  ...each(['duplicated', 'outOfOrder'], count),
  /** Deliveries below 100, 200, … 1,000 ms, each class apart, and those slower. */
  latencyClasses: optional(list(number, 11)),
  ...some(['errors', 'warmupErrors'], number),
  ...some(['payloadBytesIn', 'payloadBytesOut', 'clockErrorUs', 'clockJumps'], count),
  entries: optional(list(entryProgress, maximumEntries)),
  calls: optional(list(callProgress, maximumCalls)),
  sessions: optional(sessionSummary),
  pushed: optional(pushedSummaries),
  latencySameAgentUs: optional(latency),
  generator: generatorHealth,
});
export type StepProgress = TypeOf<typeof stepProgress>;

const searchProgress = object({
  of: oneOf(searchKinds),
  value: number,
  ...each(['low', 'high'], nullable(number)),
});
export type SearchProgress = TypeOf<typeof searchProgress>;

/** Values of a moment by names, as many as there are series. */
const values: Shape<Readonly<Record<string, number>>> = (value, at) =>
  Object.keys(value ?? {}).length > maximumSeries
    ? wrong(at, `an object of at most ${maximumSeries}`)
    : record(number)(value, at);

/** About once a second and at each change of phase; a line of `samples.jsonl`. */
export const snapshotShape = object({
  atMs: number,
  /** Number of the tick the sample belongs to; rises by one a second. */
  tick: number,
  phase: text as Shape<Phase>,
  connections: object({
    ...each(['requested', 'connected', 'failed', 'dropped'], count),
    /** Absent in stored samples that do not know it. */
    takingPart: optional(number),
    reconnected: optional(count),
    connectP99Us: number,
  }),
  step: optional(stepProgress),
  stepCount: number,
  /** How far a search is; `stepCount` is then the steps begun so far. */
  search: optional(searchProgress),
  /** Counts and latency of this tick alone; absent when nothing was measured in it. */
  interval: optional(
    object({
      /** Part of the tick in which messages of a step were being sent. */
      seconds: count,
      /** The same with the drain after it: the part in which deliveries counted. */
      receivingSeconds: number,
      ...each(['offered', 'sent', 'received'], count),
      latencyUs: latency,
    }),
  ),
  errors: errorCounts,
  /** The processes that generate the load, where there are several; not in every snapshot, and kept of the newest alone. */
  agents: optional(agentsProgress),
  observed: optional(values),
  problem: optional(text),
  /** False when a worker's sample for this tick came too late to be in it. */
  complete: flag,
});
export type Snapshot = TypeOf<typeof snapshotShape>;
