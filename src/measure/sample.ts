/** What workers count, and how it travels: raw numbers that can be added up, never a percentile. */
import type { PushedSummary, DroppedConnection, ErrorExample, MembershipSummary } from './summary';
import type { ConnectPhase } from '../base/endpoint';
import type { ErrorCounts } from '../base/errorClass';
import { LatencyHistogram, type HistogramCounts } from './histogram';
import type { LatencySummary } from './latencySummary';

/** Of a class that counts: its numbers, and its histograms as far as they have a value. */
type SampleOf<Kind> = {
  readonly [Key in keyof Kind as Kind[Key] extends number ? Key : never]: number;
} & {
  readonly [
    Key in keyof Kind as Kind[Key] extends LatencyHistogram ? Key : never
  ]?: HistogramCounts;
};

/** Something that is counted: a worker counts and gives samples, the lead adds up those of all workers. */
abstract class Tally<Kind> {
  /** The last field of a class that is counted: those before it are its parts, those of classes that extend it are not. */
  protected abstract readonly parts: readonly string[];

  take(keep = false): SampleOf<Kind> {
    const own = this as unknown as Record<string, number | LatencyHistogram>;
    const taken: Record<string, number | HistogramCounts> = {};
    for (const name of this.parts) {
      const part = own[name]!;
      const counts = typeof part === 'number' ? part : part.take(keep);
      if (counts !== undefined) taken[name] = counts;
      if (typeof part === 'number') own[name] = 0;
    }
    return taken as SampleOf<Kind>;
  }

  add(sample: SampleOf<Kind>): void {
    const own = this as unknown as Record<string, number | LatencyHistogram>;
    const more = sample as Readonly<Record<string, number | HistogramCounts | undefined>>;
    for (const name of this.parts) {
      const [part, value] = [own[name]!, more[name]];
      if (typeof value === 'number') own[name] = (part as number) + value;
      else if (value !== undefined) (part as LatencyHistogram).add(value);
    }
  }
}

/** Of one entry in one step. Fields are written directly: this is the hot path of a worker. */
export class MessageCounts extends Tally<MessageCounts> {
  offered = 0;
  /** Messages that were due at senders that were not connected, or for clients that never were; no part of `offered`. */
  skipped = 0;
  sent = 0;
  expected = 0;
  received = 0;
  /** The part of `received` that came after the measured time. */
  receivedLater = 0;
  duplicated = 0;
  outOfOrder = 0;
  /** Expected ones that came after the drain: no part of `received`, nor of any latency. */
  late = 0;
  extra = 0;
  /** To receivers that were joining or leaving at that moment, so that nobody expects them. */
  leaving = 0;
  /**
   * Sent to another agent too near to a join or leave for the two clocks; counted by the sender, whether they come or
   * not.
   */
  ambiguous = 0;
  /** Deliveries from another agent that came, by the clocks of the two, before they were sent; they count as 0. */
  negative = 0;
  payloadBytesIn = 0;
  payloadBytesOut = 0;
  wireBytesIn = 0;
  wireBytesOut = 0;
  wireBytesOutLater = 0;
  /** Messages whose last receiver is waited for, where that is measured; and how long those took that reached it. */
  toReach = 0;
  readonly timeToAll = new LatencyHistogram();
  readonly latency = new LatencyHistogram();
  readonly sendLatency = new LatencyHistogram();
  /** The part of `latency` whose senders are of the receiver's agent: it needs no two clocks. Empty with one agent. */
  readonly latencySameAgent = new LatencyHistogram();
  protected readonly parts = Object.keys(this);
}

export type CountsSample = SampleOf<MessageCounts>;
const noMessages: CountsSample = new MessageCounts().take();

/** Of what has come after a step was judged: whatever it was, it came too late to count. */
export function countAsLate(sample: CountsSample): CountsSample {
  const { late, received, duplicated, outOfOrder, extra, leaving } = sample;
  const { wireBytesIn, wireBytesOut, wireBytesOutLater } = sample;
  const uncounted = { ...noMessages, wireBytesIn, wireBytesOut, wireBytesOutLater };
  return { ...uncounted, late: late + received, duplicated, outOfOrder, extra, leaving };
}

export class MembershipCounts extends Tally<MembershipCounts> {
  joins = 0;
  joinsFailed = 0;
  leaves = 0;
  leavesFailed = 0;
  /** Due while the connection's previous move was not answered yet. */
  skipped = 0;
  readonly joinLatency = new LatencyHistogram();
  readonly leaveLatency = new LatencyHistogram();
  protected readonly parts = Object.keys(this);

  record(joined: boolean, worked: boolean, us: number): void {
    if (worked) (joined ? this.joinLatency : this.leaveLatency).record(us);
    const what = joined ? 'joins' : 'leaves';
    this[worked ? what : (`${what}Failed` as const)] += 1;
  }

  summary(): MembershipSummary {
    const { joins, joinsFailed, leaves, leavesFailed, skipped, joinLatency, leaveLatency } = this;
    const times = { joinUs: joinLatency.summary(), leaveUs: leaveLatency.summary() };
    return { joins, joinsFailed, leaves, leavesFailed, skipped, ...times };
  }
}

export class SessionCounts extends Tally<SessionCounts> {
  started = 0;
  completed = 0;
  brokenOff = 0;
  /** Due, and not begun: the one before of their sender is still going on. May fall. */
  waiting = 0;
  /** Of the completed ones, from their due time. */
  readonly duration = new LatencyHistogram();
  protected readonly parts = Object.keys(this);
}

export class TargetCounts extends Tally<TargetCounts> {
  connected = 0;
  failed = 0;
  dropped = 0;
  received = 0;
  readonly connectTimes = new LatencyHistogram();
  readonly latency = new LatencyHistogram();
  protected readonly parts = Object.keys(this);
}

/** Over all connections; milliseconds and millionths, since a histogram ends at an hour of microseconds. */
export class LifeCounts extends Tally<LifeCounts> {
  lifeUs = 0;
  downUs = 0;
  readonly lifeMs = new LatencyHistogram();
  readonly downMs = new LatencyHistogram();
  readonly unavailableMillionths = new LatencyHistogram();
  protected readonly parts = Object.keys(this);

  record(spanUs: number, downUs: number): void {
    this.lifeMs.record(spanUs / 1000);
    this.downMs.record(downUs / 1000);
    this.unavailableMillionths.record(spanUs > 0 ? (downUs / spanUs) * 1_000_000 : 0);
    this.lifeUs += spanUs;
    this.downUs += downUs;
  }
}

export interface CallSample extends SampleOf<MessageCounts> {
  readonly errors: ErrorCounts;
  readonly errorText?: string;
  readonly brokenOff: number;
  /** Of an event: those of its deliveries that were also deliveries of a call; absent: none. */
  readonly ofCalls?: number;
}

export interface EntrySample extends SampleOf<MessageCounts> {
  /** In the order of the scenario; absent where the entry has no sessions, or there is nothing new of them. */
  readonly calls?: readonly CallSample[];
  readonly sessions?: SampleOf<SessionCounts>;
}

/** What one worker counted for one step since its previous sample, all entries together. */
export interface StepSample extends EntrySample {
  readonly step: number;
  /** Of the measured time and the drain. */
  readonly errors: ErrorCounts;
  readonly warmupErrors?: ErrorCounts;
  readonly slip?: HistogramCounts;
  readonly membership?: SampleOf<MembershipCounts>;
  readonly entries?: readonly EntrySample[];
  readonly pushed?: readonly PushedSample[];
  /** The longest time in its measured time and drain in which the worker did not run, microseconds; absent: none. */
  readonly suspendedUs?: number;
  /** Of them, whole microseconds; the longest slip that of its warm-up, too; absent: none since the previous sample. */
  readonly slipMaxUs?: number;
  readonly readGapMaxUs?: number;
  /** The part of `late` that had perhaps come in time: the worker did not read meanwhile; absent: none. */
  readonly unread?: number;
  /**
   * Alternately the number of an agent, and by how many microseconds at most its deliveries came before they were
   * sent; only where that has grown.
   */
  readonly ahead?: readonly number[];
}

export interface ConnectionCounts {
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  /** Drops, repeated ones of a connection included; connections closed by us; connections opened again. */
  readonly drops: number;
  readonly closed: number;
  readonly reconnected: number;
  /** Connections that could not be opened at first; they are part of `connected`. */
  readonly openedLate: number;
  /** See {@link import('./summary').ConnectionSummary}. */
  readonly notBack: number;
  readonly pingsSent: number;
  readonly pingsReceived: number;
}

export const noConnections: ConnectionCounts = {
  ...{ connected: 0, failed: 0, dropped: 0, drops: 0, closed: 0, reconnected: 0 },
  ...{ openedLate: 0, notBack: 0, pingsSent: 0, pingsReceived: 0 },
};

export interface ConnectionSample {
  readonly soFar: ConnectionCounts;
  readonly connectTimes?: HistogramCounts;
  readonly phaseTimes?: Readonly<Partial<Record<ConnectPhase, HistogramCounts>>>;
  readonly reconnectTimes?: HistogramCounts;
  readonly targets?: readonly SampleOf<TargetCounts>[];
  readonly life?: SampleOf<LifeCounts>;
  readonly droppedOnes?: readonly DroppedConnection[];
}

export interface GeneratorSample {
  /** Step that was being measured all the time; 0 outside of measuring. */
  readonly step: number;
  readonly elapsedUs: number;
  readonly busyUs: number;
  readonly gcUs: number;
  readonly loopDelay?: HistogramCounts;
}

/** What may still be put right by what other agents report. */
export interface UnsettledMessages {
  /** Messages of which it is not certain yet how many deliveries are to be expected. */
  readonly messages: number;
  /** Deliveries that are expected of them meanwhile, beyond those that are certain. */
  readonly deliveries: number;
}

export interface ClockSample {
  /** So far at most its clock was off in the last seconds, microseconds. */
  readonly errorUs: number;
  /** How often it was found since the run began that a clock had been moved. */
  readonly jumps: number;
}

export interface WorkerSample {
  readonly worker: number;
  /** Whole seconds since the run's origin at which the sample was due. */
  readonly tick: number;
  readonly atUs: number;
  readonly connections: ConnectionSample;
  readonly unsettled?: UnsettledMessages;
  readonly steps: readonly StepSample[];
  readonly clock?: ClockSample;
  readonly generator: GeneratorSample;
  readonly errors: ErrorCounts;
  readonly errorExamples: readonly ErrorExample[];
}

export interface MergedTick extends Readonly<
  Record<'tick' | 'offered' | 'sent' | 'expected' | 'received', number>
> {
  readonly latency: LatencyHistogram;
  readonly latencyUs: LatencySummary;
  /** False when a worker's sample did not come in time. */
  readonly complete: boolean;
}

export interface PushedSample extends Pick<PushedSummary, 'name' | 'messages'> {
  /** NaN where nobody sees them. */
  readonly bytes: number;
}

/** Of all names beyond the first {@link mostPushedNames}: a hostile server may invent as many as it likes. */
export const otherPushes = '…';
const mostPushedNames = 100;
const longestName = 100;

interface Counts {
  messages: number;
  bytes: number;
}

export class PushedCounts {
  private readonly counts = new Map<string, Counts>();

  /** Negative numbers take back what turned out to be expected. */
  add(name: string, messages: number, bytes: number): void {
    let own = this.counts.get(name);
    if (own === undefined) {
      const isFull = this.counts.size >= mostPushedNames;
      const key = isFull ? otherPushes : name.slice(0, longestName);
      own = this.counts.get(key) ?? { messages: 0, bytes: 0 };
      this.counts.set(key, own);
    }
    own.messages += messages;
    own.bytes += bytes;
  }

  take(): PushedSample[] | undefined {
    if (this.counts.size === 0) return undefined;
    const taken = [...this.counts].flatMap(([name, counts]) =>
      counts.messages === 0 ? [] : [{ name, ...counts }],
    );
    this.counts.clear();
    return taken.length === 0 ? undefined : taken;
  }

  /** How often a client method was called, in whatever case: that of names of client methods does not matter. */
  times(method: string): number {
    let sum = 0;
    for (const [name, { messages }] of this.counts)
      if (name.toLowerCase() === method.toLowerCase()) sum += messages;
    return sum;
  }

  summary(seconds: number): PushedSummary[] {
    return [...this.counts]
      .filter(([, { messages }]) => messages > 0)
      .map(([name, { messages, bytes }]) => ({
        ...{ name, messages, bytes: Number.isNaN(bytes) ? null : bytes },
        perSecond: seconds > 0 ? Math.round((messages / seconds) * 1000) / 1000 : 0,
      }))
      .sort((a, b) => b.messages - a.messages);
  }
}
