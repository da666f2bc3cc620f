import { connectPhases, type ConnectPhase, type PhaseTimes } from '../base/endpoint';
import { addErrors, type ErrorClass, type ErrorCounts } from '../base/errorClass';
import { LatencyHistogram, type HistogramCounts } from '../measure/histogram';
import {
  type MembershipCounts,
  MessageCounts,
  TargetCounts,
  noConnections,
  type ConnectionCounts,
  SessionCounts,
  type CallSample,
  type ConnectionSample,
  type EntrySample,
  type GeneratorSample,
  type StepSample,
  type WorkerSample,
} from '../measure/sample';
import { PushedCounts } from '../measure/pushed';
import type { DroppedConnection, ErrorExample } from '../measure/summary';
import { shownText, type ConnectFailure } from '../wire/connectFailure';

const examplesPerClass = 3;
const keptDrops = 100;

/** Targets with counts of their own: each has histograms in each worker. */
const mostTargets = 50;

/** How late messages of a step leave. */
export class Slip {
  readonly times = new LatencyHistogram();
  maxUs = 0;

  /** One of the warm-up is in no percentile. */
  record(us: number, warmup = false): void {
    if (us > this.maxUs) this.maxUs = us;
    if (!warmup) this.times.record(us);
  }
}

/** How many of the URLs have counts of their own: all, or none where there is one or too many. */
export function countedTargets(urls: number): number {
  return urls > 1 && urls <= mostTargets ? urls : 0;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

type WithoutUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

const withoutUndefined = <T extends object>(values: T): WithoutUndefined<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as WithoutUndefined<T>;

export class EntryRecorder extends MessageCounts {
  /** Run time in which deliveries count that a hub makes by itself. */
  measureUs = 0;
  untilUs = Infinity;
  /** By how much the clocks of two agents may differ in the step. */
  ambiguousUs = 0;
  /** Run time at which the measured time ends, by the clock of the worker, whoever leads. */
  measuredUntilUs = Infinity;

  /** Of sessions: where each call counts, by its number; what they have counted is taken as the entry's, too. */
  calls: readonly CallRecorder[] | undefined;
  sessions: SessionCounts | undefined;

  /** @param slip of the step: how late messages leave is the generator's, not an entry's */
  constructor(readonly slip = new Slip()) {
    super();
  }

  measureUntil(us: number): void {
    this.measuredUntilUs = us;
    for (const call of this.calls ?? []) call.measureUntil(us);
  }

  countWireOut(bytes: number, nowUs: number): void {
    this.wireBytesOut += bytes;
    if (nowUs > this.measuredUntilUs) this.wireBytesOutLater += bytes;
  }

  beginCalls(count: number): void {
    if (count === 0) return;
    this.calls = Array.from({ length: count }, () => new CallRecorder(this.slip));
    for (const call of this.calls) call.ambiguousUs = this.ambiguousUs;
    this.sessions = new SessionCounts();
  }

  /** Since the last call; see {@link MessageCounts.take}. */
  sampleEntry(keep: boolean): EntrySample {
    const { calls, sessions } = this;
    if (calls === undefined) return this.take(keep);
    const taken = calls.map((call) => call.sampleCall(keep));
    for (const call of taken) this.add(call);
    const counted = this.take(keep);
    const ofSessions = sessions!.take(keep);
    const isNews = [...taken, counted, ofSessions].some((sample) =>
      Object.values(sample).some((value) => value !== 0 && !isEmptyObject(value)),
    );
    return isNews ? { ...counted, sessions: ofSessions, calls: taken } : counted;
  }
}

export class CallRecorder extends EntryRecorder {
  errors: ErrorCounts = {};
  /** Of the first of them, until it is taken. */
  errorText: string | undefined;
  private hasText = false;
  brokenOff = 0;
  /** Events that were deliveries of calls. */
  ofCalls = 0;

  failed(errorClass: ErrorClass, text: string): void {
    addErrors(this.errors, { [errorClass]: 1 });
    if (this.hasText) return;
    this.hasText = true;
    this.errorText = shownText(text);
  }

  sampleCall(keep: boolean): CallSample {
    const { errors, errorText, brokenOff, ofCalls } = this;
    this.errors = {};
    this.errorText = undefined;
    this.brokenOff = this.ofCalls = 0;
    return {
      ...{ ...this.take(keep), errors, brokenOff },
      ...(errorText !== undefined && { errorText }),
      ...(ofCalls > 0 && { ofCalls }),
    };
  }
}

export class StepRecorder extends EntryRecorder {
  errors: ErrorCounts = {};
  warmupErrors: ErrorCounts = {};
  /** Nothing is measured yet, and errors are counted apart. */
  warming = false;
  /** Where senders and receivers count: one for each entry, this one where there is only one. */
  readonly entries: readonly EntryRecorder[];
  /** Where connections move. */
  membership: MembershipCounts | undefined;
  /** What hubs send on their own in its measured time, of run time in microseconds. */
  readonly pushed = new PushedCounts();
  measuredFromUs = 0;
  measuredToUs = Infinity;
  /** After its drain a step still counts deliveries, as late ones. */
  drained = false;
  /** Payload of its messages, where that is the step's. */
  messageBytes: number | undefined;
  /** Run time at which its drain ends at the latest. */
  lateFromUs = Infinity;
  /** What has left after the measured time is waited for as long. */
  drainUs = 0;
  /** By agent: how long before it was sent one of its messages came at most, microseconds; and of whom that is news. */
  private readonly mostAhead = new Map<number, number>();
  private readonly news = new Set<number>();
  private suspendedUs = 0;
  private readGapMaxUs = 0;
  unread = 0;

  constructor(
    readonly step: number,
    entries = 1,
  ) {
    super();
    this.entries =
      entries === 1 ? [this] : Array.from({ length: entries }, () => new EntryRecorder(this.slip));
  }

  /** For so long the worker did not read, or not run at all, while the step was measured or drained. */
  didNotRead(readGapUs: number, suspendedUs: number): void {
    if (this.drained) return;
    this.readGapMaxUs = Math.max(this.readGapMaxUs, readGapUs);
    this.suspendedUs = Math.max(this.suspendedUs, suspendedUs);
  }

  override measureUntil(us: number): void {
    super.measureUntil(us);
    for (const entry of this.entries) if (entry !== this) entry.measureUntil(us);
  }

  cutShort(nowUs: number): void {
    this.measureUntil(Math.min(this.measuredUntilUs, nowUs));
  }

  isLate(nowUs: number, sentUs: number): boolean {
    return this.drained || nowUs > this.lateFrom(sentUs);
  }

  lateFrom(sentUs: number): number {
    return Math.max(this.lateFromUs, sentUs + this.drainUs);
  }

  /** A delivery of that agent came so long before it was sent. */
  cameAhead(agent: number, us: number): void {
    if (us <= (this.mostAhead.get(agent) ?? 0)) return;
    this.mostAhead.set(agent, us);
    this.news.add(agent);
  }

  /** Since the last call; undefined when nothing was counted. */
  sample(): StepSample | undefined {
    const keep = !this.drained;
    const entries =
      this.entries.length === 1 ? [] : this.entries.map((one) => one.sampleEntry(keep));
    for (const entry of entries) this.add(entry);
    const counted = this.sampleEntry(keep);
    const slip = this.slip.times.take(keep);
    const membership = this.membership?.take();
    const { step, errors, suspendedUs, unread } = this;
    const pushed = this.pushed.take();
    const [slipMaxUs, readGapMaxUs] = [this.slip.maxUs, this.readGapMaxUs].map(Math.ceil);
    const warmupErrors = isEmpty(this.warmupErrors) ? undefined : this.warmupErrors;
    // A session may begin, or a callback come, in a second without a message.
    const anything =
      !isEmpty(errors) ||
      warmupErrors ||
      suspendedUs > 0 ||
      pushed ||
      readGapMaxUs! > 0 ||
      entries.some(({ calls }) => calls !== undefined) ||
      Object.values(counted).some((count) => count !== 0);
    if (!anything && membership === undefined) return undefined;
    this.errors = {};
    this.warmupErrors = {};
    this.suspendedUs = this.readGapMaxUs = this.slip.maxUs = this.unread = 0;
    const parts = entries.length === 0 ? undefined : entries;
    const optional = withoutUndefined({ warmupErrors, slip, membership, entries: parts, pushed });
    const ahead = [...this.news].flatMap((agent) => [agent, this.mostAhead.get(agent)!]);
    this.news.clear();
    return {
      ...{ step, ...counted, errors, ...optional },
      ...(ahead.length > 0 && { ahead }),
      ...(suspendedUs > 0 && { suspendedUs }),
      ...(slipMaxUs && { slipMaxUs }),
      ...(readGapMaxUs && { readGapMaxUs }),
      ...(unread > 0 && { unread }),
    };
  }
}

const isEmptyObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && isEmpty(value);

const isEmpty = (counts: object): boolean => Object.keys(counts).length === 0;

/** A call of a client method, when it came; `bytes` without what marks its end. */
export interface Push {
  readonly name: string;
  readonly bytes: number;
  readonly atUs: number;
}

export class Recorder {
  readonly steps: StepRecorder[] = [];
  /** One for each URL, where targets have counts of their own; else empty. */
  readonly targets: readonly TargetCounts[];
  current: StepRecorder | undefined;
  readonly soFar: Mutable<ConnectionCounts> = { ...noConnections };
  /** Set when the run is over. */
  life: ConnectionSample['life'] | undefined;
  /** Since when what is read now may have waited for it. */
  unreadSinceUs = (nowUs: number): number => nowUs;
  private readonly reconnectTimes = new LatencyHistogram();
  readonly connectTimes = new LatencyHistogram();
  private readonly phaseTimes = new Map<ConnectPhase, LatencyHistogram>();
  private droppedOnes: DroppedConnection[] = [];
  private keptDrops = 0;
  private errors: ErrorCounts = {};
  private examples: ErrorExample[] = [];
  private readonly exampleTexts = new Map<ErrorClass, Set<string>>();

  constructor(
    targets = 0,
    private readonly targetOf: (connection: number) => number = () => 0,
    private readonly entries = 1,
    private readonly severalClocks = false,
    /** Of each entry: how many calls its sessions have. */
    private readonly calls: readonly number[] = [],
  ) {
    this.targets = Array.from({ length: targets }, () => new TargetCounts());
  }

  /** Undefined where the connection's target has no counts of its own. */
  target(connection: number): TargetCounts | undefined {
    return this.targets.length === 0 ? undefined : this.targets[this.targetOf(connection)];
  }

  beginStep(index: number, ambiguousUs = 0): StepRecorder {
    const recorder = new StepRecorder(index, this.entries);
    recorder.entries.forEach((entry, position) => {
      entry.ambiguousUs = ambiguousUs;
      entry.beginCalls(this.calls[position] ?? 0);
    });
    this.steps[index] = recorder;
    this.current = recorder;
    return recorder;
  }

  /** A delivery that was meant and is the first of its number, in that step; `fromAgent`: another one, else absent. */
  delivered(
    step: number,
    counted: EntryRecorder,
    connection: number,
    intendedUs: number,
    sentUs: number,
    nowUs: number,
    fromAgent?: number,
  ): boolean {
    const own = this.steps[step];
    if (own?.isLate(nowUs, sentUs) === true) {
      counted.late += 1;
      if (!own.drained && this.unreadSinceUs(nowUs) <= own.lateFrom(sentUs)) own.unread += 1;
      return false;
    }
    counted.received += 1;
    if (own !== undefined && nowUs > own.measuredUntilUs) counted.receivedLater += 1;
    const target = this.target(connection);
    if (target !== undefined) {
      target.received += 1;
      target.latency.record(nowUs - intendedUs);
    }
    counted.latency.record(nowUs - intendedUs);
    counted.sendLatency.record(nowUs - sentUs);
    if (!this.severalClocks) return true;
    if (fromAgent === undefined) counted.latencySameAgent.record(nowUs - intendedUs);
    else if (nowUs < sentUs) {
      counted.negative += 1;
      own?.cameAhead(fromAgent, sentUs - nowUs);
    }
    return true;
  }

  /**
   * Something has come that is no delivery, and counts in the measured time of the step that goes on.
   *
   * @param name of the client method that was called; absent: it answers something, and only its bytes count
   * @param bytes without what marks its end
   */
  arrived(nowUs: number, wireBytes: number, name?: string, bytes = 0): void {
    const step = this.current;
    if (step === undefined || nowUs < step.measuredFromUs || nowUs > step.measuredToUs) return;
    step.wireBytesOut += wireBytes;
    if (name !== undefined) step.pushed.add(name, 1, bytes);
  }

  /** The step that goes on ends before its time. */
  endMeasuring(nowUs: number): void {
    const step = this.current;
    if (step !== undefined) step.measuredToUs = Math.min(step.measuredToUs, nowUs);
  }

  /** A session has waited for what had come then: it is a delivery after all. */
  awaited({ name, bytes, atUs }: Push): void {
    const step = this.current!;
    if (atUs >= step.measuredFromUs && atUs <= step.measuredToUs) step.pushed.add(name, -1, -bytes);
  }

  /** With the split of the try that succeeded. */
  opened(connection: number, tookUs: number, phases: PhaseTimes): void {
    this.soFar.connected += 1;
    this.connectTimes.record(tookUs);
    const target = this.target(connection);
    if (target !== undefined) {
      target.connected += 1;
      target.connectTimes.record(tookUs);
    }
    for (const phase of connectPhases) {
      const us = phases[phase];
      if (us === undefined) continue;
      let times = this.phaseTimes.get(phase);
      if (times === undefined) this.phaseTimes.set(phase, (times = new LatencyHistogram()));
      times.record(us);
    }
  }

  neverOpened(connection: number, { errorClass, message }: ConnectFailure): void {
    this.soFar.failed += 1;
    const target = this.target(connection);
    if (target !== undefined) target.failed += 1;
    this.error(errorClass, message);
  }

  /** A connection that had counted as failed was opened after all. */
  openedAfterAll(connection: number, tookUs: number, phases: PhaseTimes): void {
    this.soFar.failed -= 1;
    this.soFar.openedLate += 1;
    const target = this.target(connection);
    if (target !== undefined) target.failed -= 1;
    this.opened(connection, tookUs, phases);
  }

  reopened(tookUs: number): void {
    this.soFar.reconnected += 1;
    this.reconnectTimes.record(tookUs);
  }

  /** Closed without our asking; `first` the first time this happens to the connection. */
  lost(drop: DroppedConnection & { readonly errorClass: ErrorClass }, first: boolean): void {
    this.soFar.drops += 1;
    if (first) {
      this.soFar.dropped += 1;
      const target = this.target(drop.connection);
      if (target !== undefined) target.dropped += 1;
    }
    this.error(drop.errorClass, drop.text);
    if ((this.keptDrops += 1) <= keptDrops) this.droppedOnes.push(drop);
  }

  /** @param call of the current step, where it was one of a session */
  error(errorClass: ErrorClass, text: string, call?: CallRecorder): void {
    this.errors[errorClass] = (this.errors[errorClass] ?? 0) + 1;
    const step = this.current;
    if (step !== undefined && !step.drained) {
      addErrors(step.warming ? step.warmupErrors : step.errors, { [errorClass]: 1 });
      if (call !== undefined && !step.warming) call.failed(errorClass, text);
    }
    const kept = this.exampleTexts.get(errorClass) ?? new Set();
    if (kept.size < examplesPerClass && !kept.has(text)) {
      this.exampleTexts.set(errorClass, kept.add(text));
      this.examples.push({ errorClass, text });
    }
  }

  /** Since the last call. */
  take(worker: number, tick: number, generator: GeneratorSample): Omit<WorkerSample, 'atUs'> {
    const steps: StepSample[] = [];
    for (const recorder of this.steps) {
      const sample = (recorder as StepRecorder | undefined)?.sample();
      if (sample !== undefined) steps.push(sample);
    }
    const phaseTimes: Partial<Record<ConnectPhase, HistogramCounts>> = {};
    for (const [phase, times] of this.phaseTimes) {
      const counts = times.take(false);
      if (counts !== undefined) phaseTimes[phase] = counts;
    }
    const { soFar, life, targets, droppedOnes, errors, examples } = this;
    const connections: ConnectionSample = {
      soFar: { ...soFar },
      ...withoutUndefined({
        life,
        connectTimes: this.connectTimes.take(false),
        reconnectTimes: this.reconnectTimes.take(false),
        phaseTimes: isEmpty(phaseTimes) ? undefined : phaseTimes,
        targets: isEmpty(targets) ? undefined : targets.map((target) => target.take(true)),
        droppedOnes: isEmpty(droppedOnes) ? undefined : droppedOnes,
      }),
    };
    this.errors = {};
    this.droppedOnes = [];
    this.life = undefined;
    this.examples = [];
    return { worker, tick, connections, steps, generator, errors, errorExamples: examples };
  }
}
