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
  PushedCounts,
} from '../measure/sample';
import type { DroppedConnection, ErrorExample } from '../measure/summary';
import { shownText, type ConnectFailure } from '../wire/connectFailure';

const examplesPerClass = 3;
const keptDrops = 100;

const mostTargets = 50;

export class Slip {
  readonly times = new LatencyHistogram();
  maxUs = 0;

  record(us: number, warmup = false): void {
    if (us > this.maxUs) this.maxUs = us;
    if (!warmup) this.times.record(us);
  }
}

/** All, or 0 where there is one URL or too many. */
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
  measureUs = 0;
  untilUs = Infinity;
  /** Uncertainty between the clocks of two agents in this step. */
  ambiguousUs = 0;
  measuredUntilUs = Infinity;

  /** Of sessions, one for each call; their counts are added to the entry's. */
  calls: readonly CallRecorder[] | undefined;
  sessions: SessionCounts | undefined;

  /** @param slip of the step: late sending is the generator's fault, not an entry's */
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
  warming = false;
  /** One per entry; the step itself where there is only one entry. */
  readonly entries: readonly EntryRecorder[];
  membership: MembershipCounts | undefined;
  readonly pushed = new PushedCounts();
  measuredFromUs = 0;
  measuredToUs = Infinity;
  drained = false;
  /** Payload of its messages, in a search for the message size. */
  messageBytes: number | undefined;
  lateFromUs = Infinity;
  /** Messages sent after the measured time have the full drain time. */
  drainUs = 0;
  /**
   * By agent: the largest time, microseconds, by which a message arrived before it was sent; and whose maximum is
   * new.
   */
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

  /** Longest gap without reading, and longest suspension, while the step was measured or drained. */
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

  cameAhead(agent: number, us: number): void {
    if (us <= (this.mostAhead.get(agent) ?? 0)) return;
    this.mostAhead.set(agent, us);
    this.news.add(agent);
  }

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
    // Sessions may begin, or callbacks come, in a second without messages.
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

/** A client method called by the hub; `bytes` without record separator or length prefix. */
export interface PushedMessage {
  readonly name: string;
  readonly bytes: number;
  readonly atUs: number;
}

export class Recorder {
  readonly steps: StepRecorder[] = [];
  /** One per URL where targets are counted apart; else empty. */
  readonly targets: readonly TargetCounts[];
  current: StepRecorder | undefined;
  readonly soFar: Mutable<ConnectionCounts> = { ...noConnections };
  life: ConnectionSample['life'] | undefined;
  /** Since when input read at `nowUs` may have been waiting. */
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
    private readonly calls: readonly number[] = [],
  ) {
    this.targets = Array.from({ length: targets }, () => new TargetCounts());
  }

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

  /** Counts the first arrival of an expected delivery. @param fromAgent set if another agent sent it */
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
   * Counts a message that is no delivery. @param name client method; absent for completions and items, of which only
   * bytes count
   */
  arrived(nowUs: number, wireBytes: number, name?: string, bytes = 0): void {
    const step = this.current;
    if (step === undefined || nowUs < step.measuredFromUs || nowUs > step.measuredToUs) return;
    step.wireBytesOut += wireBytes;
    if (name !== undefined) step.pushed.add(name, 1, bytes);
  }

  endMeasuring(nowUs: number): void {
    const step = this.current;
    if (step !== undefined) step.measuredToUs = Math.min(step.measuredToUs, nowUs);
  }

  /** A session has waited for this push: it is a delivery after all. */
  awaited({ name, bytes, atUs }: PushedMessage): void {
    const step = this.current!;
    if (atUs >= step.measuredFromUs && atUs <= step.measuredToUs) step.pushed.add(name, -1, -bytes);
  }

  /** `phases` of the try that succeeded. */
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

  /** Dropped; `first`: for the first time. */
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

  /** @param call of a session in the current step */
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
