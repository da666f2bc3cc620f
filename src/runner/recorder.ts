import { connectPhases, type ConnectPhase, type PhaseTimes } from '../base/endpoint';
import { addErrors, type ErrorClass, type ErrorCounts } from '../base/errorClass';
import type { DroppedConnection } from '../measure/summary';
import { LatencyHistogram, type HistogramCounts } from '../measure/histogram';
import {
  StepCounts,
  type ConnectionCounts,
  type ConnectionSample,
  type EntrySample,
  type ErrorSample,
  type GeneratorSample,
  type LifeSample,
  type MembershipSample,
  type StepSample,
  type TargetSample,
  type WorkerSample,
} from '../measure/sample';
import type { ConnectFailure } from '../wire/connectFailure';

/** Different failures kept with their text, for each class. */
const examplesPerClass = 3;
/** Dropped connections that one worker reports one by one. */
const keptDrops = 100;

/** A histogram that exists only while something was recorded since the last sample. */
class IntervalHistogram {
  private histogram: LatencyHistogram | undefined;

  record(us: number): void {
    this.histogram ??= new LatencyHistogram();
    this.histogram.record(us);
  }

  add(counts: HistogramCounts): void {
    this.histogram ??= new LatencyHistogram();
    this.histogram.add(counts);
  }

  /** Counts since the last call. The memory is kept for the next interval only when `keep` is set. */
  take(keep: boolean): HistogramCounts | undefined {
    const { histogram } = this;
    if (histogram === undefined || histogram.count === 0) {
      if (!keep) this.histogram = undefined;
      return undefined;
    }
    const counts = histogram.counts();
    if (keep) histogram.reset();
    else this.histogram = undefined;
    return counts;
  }
}

/** Targets with counts of their own: each has histograms in each worker. */
const mostTargets = 50;

/** How many of the URLs have counts of their own: all, or none where there is one or too many. */
export function countedTargets(urls: number): number {
  return urls > 1 && urls <= mostTargets ? urls : 0;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

type Happened<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> };

/** Without what did not happen. */
const happened = <T extends object>(values: T): Happened<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Happened<T>;

/** What one worker counts for one of several targets. */
class TargetRecorder {
  readonly soFar = { connected: 0, failed: 0, dropped: 0, received: 0 };
  readonly connectTimes = new IntervalHistogram();
  readonly latency = new IntervalHistogram();

  take(): TargetSample {
    const connectTimes = this.connectTimes.take(false);
    const latency = this.latency.take(true);
    return { soFar: { ...this.soFar }, ...happened({ connectTimes, latency }) };
  }
}

/** Joins and leaves of one step, where connections move. */
class MembershipRecorder {
  /** Whether anything moves at all. */
  moves = false;
  counts = { ...noMoves };
  private readonly joinLatency = new IntervalHistogram();
  private readonly leaveLatency = new IntervalHistogram();

  /** A move that is over. */
  record(joined: boolean, worked: boolean, us: number): void {
    if (worked) (joined ? this.joinLatency : this.leaveLatency).record(us);
    const what = joined ? 'joins' : 'leaves';
    this.counts[worked ? what : (`${what}Failed` as const)] += 1;
  }

  /** A move that was due while the connection's previous one was not answered yet. */
  skip(): void {
    this.counts.skipped += 1;
  }

  /** What happened since the last call; undefined where nothing ever does. */
  take(): MembershipSample | undefined {
    if (!this.moves) return undefined;
    const { counts } = this;
    this.counts = { ...noMoves };
    const joinLatency = this.joinLatency.take(false);
    const leaveLatency = this.leaveLatency.take(false);
    return { ...counts, ...happened({ joinLatency, leaveLatency }) };
  }
}

const noMoves = { joins: 0, joinsFailed: 0, leaves: 0, leavesFailed: 0, skipped: 0 };

/** What one worker counts for one entry in one step. */
export class EntryRecorder extends StepCounts {
  readonly latency = new IntervalHistogram();
  readonly sendLatency = new IntervalHistogram();
  /** Run time in which deliveries count that a hub makes by itself. */
  measureUs = 0;
  untilUs = Infinity;

  /** @param slip of the step: how late messages leave is the generator's, not an entry's */
  constructor(readonly slip = new IntervalHistogram()) {
    super();
  }

  /** What was counted since the last call. */
  takeEntry(keep: boolean): EntrySample {
    const latency = this.latency.take(keep);
    const sendLatency = this.sendLatency.take(keep);
    return { ...this.takeCounts(), ...happened({ latency, sendLatency }) };
  }

  protected add({ latency, sendLatency, ...counts }: EntrySample): void {
    this.addCounts(counts);
    if (latency !== undefined) this.latency.add(latency);
    if (sendLatency !== undefined) this.sendLatency.add(sendLatency);
  }
}

/** What one worker counts for one step, all entries together. */
export class StepRecorder extends EntryRecorder {
  errors: ErrorCounts = {};
  warmupErrors: ErrorCounts = {};
  /** Nothing is measured yet, and errors are counted apart. */
  warming = false;
  /** Where senders and receivers count: one for each entry, this one where there is only one. */
  readonly entries: readonly EntryRecorder[];
  readonly membership = new MembershipRecorder();
  /** After its drain a step still counts deliveries, as late ones. */
  drained = false;
  /** Run time at which its drain ends at the latest, by the clock of the machine. */
  lateFromUs = Infinity;

  constructor(
    readonly step: number,
    entries = 1,
  ) {
    super();
    this.entries =
      entries === 1 ? [this] : Array.from({ length: entries }, () => new EntryRecorder(this.slip));
  }

  /** What was counted since the last call; undefined when that is nothing. */
  take(): StepSample | undefined {
    const keep = !this.drained;
    const entries = this.entries.length === 1 ? [] : this.entries.map((one) => one.takeEntry(keep));
    for (const entry of entries) this.add(entry);
    const counted = this.takeEntry(keep);
    const slip = this.slip.take(keep);
    const membership = this.membership.take();
    const { step, errors } = this;
    const warmupErrors = isEmpty(this.warmupErrors) ? undefined : this.warmupErrors;
    const anything =
      !isEmpty(errors) || warmupErrors || Object.values(counted).some((count) => count !== 0);
    if (!anything && membership === undefined) return undefined;
    this.errors = {};
    this.warmupErrors = {};
    const parts = entries.length === 0 ? undefined : entries;
    return {
      step,
      ...counted,
      errors,
      ...happened({ warmupErrors, slip, membership, entries: parts }),
    };
  }
}

const isEmpty = (counts: object): boolean => Object.keys(counts).length === 0;

/** Everything one worker counts. */
export class Recorder {
  readonly steps: StepRecorder[] = [];
  /** One for each URL, where targets have counts of their own; else empty. */
  readonly targets: readonly TargetRecorder[];
  current: StepRecorder | undefined;
  /** Of the connections. */
  readonly soFar: Required<Mutable<ConnectionCounts>> = {
    ...{ connected: 0, failed: 0, dropped: 0, drops: 0, closed: 0, reconnected: 0 },
    ...{ openedLate: 0, notBack: 0, pingsSent: 0, pingsReceived: 0 },
  };
  /** Set when the run is over. */
  life: LifeSample | undefined;
  private readonly reconnectTimes = new IntervalHistogram();
  readonly connectTimes = new IntervalHistogram();
  private readonly phaseTimes = new Map<ConnectPhase, IntervalHistogram>();
  private droppedOnes: DroppedConnection[] = [];
  private keptDrops = 0;
  private errors: ErrorCounts = {};
  private examples: ErrorSample[] = [];
  private readonly exampleTexts = new Map<ErrorClass, Set<string>>();

  /**
   * @param targets URLs with counts of their own
   * @param entries use cases side by side
   */
  constructor(
    targets = 0,
    private readonly targetOf: (connection: number) => number = () => 0,
    private readonly entries = 1,
  ) {
    this.targets = Array.from({ length: targets }, () => new TargetRecorder());
  }

  /** What is counted for the target of a connection; undefined where it has no counts of its own. */
  target(connection: number): TargetRecorder | undefined {
    return this.targets.length === 0 ? undefined : this.targets[this.targetOf(connection)];
  }

  beginStep(index: number): StepRecorder {
    const recorder = new StepRecorder(index, this.entries);
    this.steps[index] = recorder;
    this.current = recorder;
    return recorder;
  }

  /** A delivery that was meant and is the first of its number, in that step. */
  delivered(
    step: number,
    counted: EntryRecorder,
    connection: number,
    intendedUs: number,
    sentUs: number,
    nowUs: number,
  ): void {
    counted.received += 1;
    const own = this.steps[step];
    if (own !== undefined && (own.drained || nowUs > own.lateFromUs)) counted.late += 1;
    const target = this.target(connection);
    if (target !== undefined) {
      target.soFar.received += 1;
      target.latency.record(nowUs - intendedUs);
    }
    counted.latency.record(nowUs - intendedUs);
    counted.sendLatency.record(nowUs - sentUs);
  }

  /** A connect that has succeeded, with the split of its last try. */
  opened(connection: number, tookUs: number, phases: PhaseTimes): void {
    this.soFar.connected += 1;
    this.connectTimes.record(tookUs);
    const target = this.target(connection);
    if (target !== undefined) {
      target.soFar.connected += 1;
      target.connectTimes.record(tookUs);
    }
    for (const phase of connectPhases) {
      const us = phases[phase];
      if (us === undefined) continue;
      let times = this.phaseTimes.get(phase);
      if (times === undefined) this.phaseTimes.set(phase, (times = new IntervalHistogram()));
      times.record(us);
    }
  }

  /** A connection that could not be opened. */
  neverOpened(connection: number, { errorClass, message }: ConnectFailure): void {
    this.soFar.failed += 1;
    const target = this.target(connection);
    if (target !== undefined) target.soFar.failed += 1;
    this.error(errorClass, message);
  }

  /** A connection that had counted as failed was opened after all. */
  openedAfterAll(connection: number, tookUs: number, phases: PhaseTimes): void {
    this.soFar.failed -= 1;
    this.soFar.openedLate += 1;
    const target = this.target(connection);
    if (target !== undefined) target.soFar.failed -= 1;
    this.opened(connection, tookUs, phases);
  }

  /** A connection that was opened again. */
  reopened(tookUs: number): void {
    this.soFar.reconnected += 1;
    this.reconnectTimes.record(tookUs);
  }

  /** A connection that was closed without our asking; `first` the first time this happens to it. */
  lost(drop: DroppedConnection & { readonly errorClass: ErrorClass }, first: boolean): void {
    this.soFar.drops += 1;
    if (first) {
      this.soFar.dropped += 1;
      const target = this.target(drop.connection);
      if (target !== undefined) target.soFar.dropped += 1;
    }
    this.error(drop.errorClass, drop.text);
    if ((this.keptDrops += 1) <= keptDrops) this.droppedOnes.push(drop);
  }

  error(errorClass: ErrorClass, text: string): void {
    this.errors[errorClass] = (this.errors[errorClass] ?? 0) + 1;
    const step = this.current;
    if (step !== undefined && !step.drained)
      addErrors(step.warming ? step.warmupErrors : step.errors, { [errorClass]: 1 });
    const kept = this.exampleTexts.get(errorClass) ?? new Set();
    if (kept.size < examplesPerClass && !kept.has(text)) {
      this.exampleTexts.set(errorClass, kept.add(text));
      this.examples.push({ errorClass, text });
    }
  }

  /** Everything since the last call, but for the time. */
  take(worker: number, tick: number, generator: GeneratorSample): Omit<WorkerSample, 'atUs'> {
    const steps: StepSample[] = [];
    for (const recorder of this.steps) {
      const sample = (recorder as StepRecorder | undefined)?.take();
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
      ...happened({
        life,
        connectTimes: this.connectTimes.take(false),
        reconnectTimes: this.reconnectTimes.take(false),
        phaseTimes: isEmpty(phaseTimes) ? undefined : phaseTimes,
        targets: isEmpty(targets) ? undefined : targets.map((target) => target.take()),
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
