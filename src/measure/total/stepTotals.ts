import {
  type StepSample,
  PushedCounts,
  MembershipCounts,
  MessageCounts,
  SessionCounts,
  countAsLate,
  type CallSample,
  type CountsSample,
  type EntrySample,
  type GeneratorSample,
} from '../sample';
import { addErrors, totalErrors, type ErrorCounts } from '../../base/errorClass';
import type { Lateness, JudgedDeliveries } from '../../base/objectives/objective';
import { sloForStep, type Slo } from '../../base/slo';
import { LatencyHistogram } from '../histogram';
import type { AbortWatch } from '../judge/abortWatch';
import { LatencyBlocks } from '../latencyBlocks';
import { generatorProblem, rejudgeAfterDrain, judgeStep } from '../judge/verdict';
import { type RecoveryWatch, WaitingWatch } from '../judge/stepWatches';
import { judgedLatency, type JudgedLatency } from '../latencySummary';
import { StepClocks } from './stepClocks';
import type {
  CallProgress,
  EntryProgress,
  MessageProgress,
  StepProgress,
  Waiting,
} from '../snapshot';
import type {
  CallSummary,
  GeneratorHealth,
  SessionSummary,
  StepConnections,
  StepSummary,
  Verdict,
  EntrySummary,
  MessageSummary,
} from '../summary';

interface CallFacts {
  readonly name: string;
  readonly times?: number;
  readonly recorded?: number;
  /** Client method that is only counted: nothing of it is sent or expected. */
  readonly comes?: string;
}

interface EntryFacts {
  readonly name: string;
  readonly senders: number;
  readonly calls?: readonly CallFacts[];
}

/** Sums of what all workers counted for a step, or for one entry in it; percentiles are of the sums only. */
class MessageTotals extends MessageCounts {
  readonly within: readonly MessageTotals[] = [];
  protected isSettled = false;
  /** Deliveries that agents which were lost may have been owed, at most. */
  private pendingLoss = 0;
  /** An agent was lost: what it had sent since its last report nobody knows, and others have received it. */
  private isUnsaid = false;

  override add(sample: CountsSample): void {
    super.add(this.isSettled ? countAsLate(sample) : sample);
  }

  /** What is missing now may be what an agent had received and could not report before it was lost. */
  notePendingLoss(): void {
    for (const part of this.within) part.notePendingLoss();
    this.isUnsaid = true;
    this.pendingLoss = Math.max(this.pendingLoss, this.expected - this.delivered().received);
  }

  /** Expects no more of what is still missing of that; returns how many deliveries. */
  dropPendingLoss(): number {
    if (this.within.length > 0) {
      const sum = this.within.reduce((total, part) => total + part.dropPendingLoss(), 0);
      this.expected -= sum;
      return sum;
    }
    const forgiven = Math.min(this.pendingLoss, this.expected - this.delivered().received);
    this.expected -= forgiven;
    this.pendingLoss = 0;
    return forgiven;
  }

  /**
   * A server that invents messages must not hide a loss nor turn it negative; what one part has too much makes up for no
   * other's loss. `late` is the part of what is missing that has come after all.
   */
  delivered(): { received: number; receivedLater: number; late: number; extra: number } {
    let [received, receivedLater, late] = [0, 0, 0];
    for (const part of this.within) {
      const of = part.delivered();
      received += of.received;
      receivedLater += of.receivedLater;
      late += of.late;
    }
    if (this.within.length === 0) {
      received = Math.min(this.received, this.expected);
      receivedLater = within(this.receivedLater, received);
      late = within(this.late, this.expected - received);
    }
    const surplus = this.received - received + Math.max(0, this.late - late);
    return { received, receivedLater, late, extra: this.extra + (this.isUnsaid ? 0 : surplus) };
  }

  get arrived(): number {
    return this.received + this.late;
  }

  /** Nothing of it is expected any more: it takes less memory, and still counts what comes. */
  pack(): void {
    for (const part of this.within) part.pack();
    for (const each of [this.latency, this.sendLatency, this.latencySameAgent, this.timeToAll])
      each.pack();
  }

  settle(): void {
    for (const part of this.within) part.settle();
    this.isSettled = true;
  }

  protected get judgedUs(): JudgedLatency | undefined {
    const { expected } = this;
    const { received } = this.delivered();
    if (received >= expected) return undefined;
    return judgedLatency({ ...this.latencies, expected, received });
  }

  protected get latencies(): Pick<JudgedDeliveries, 'latencyAtShareUs'> {
    return { latencyAtShareUs: (share) => this.latency.valueAtShare(share) };
  }

  messageProgress(senders: number, elapsedS: number): MessageProgress {
    const { offered, skipped, sent, expected } = this;
    const { received, receivedLater } = this.delivered();
    const judgedUs = this.isSettled ? this.judgedUs : undefined;
    const perSecond = (count: number): number => (elapsedS > 0 ? count / elapsedS : 0);
    return {
      ...{ senders, offered, skipped, sent, expected, received, receivedLater },
      outstanding: expected - received,
      sentPerSecond: perSecond(sent),
      receivedPerSecond: perSecond(received - receivedLater),
      latencyUs: this.latency.summary(),
      ...(judgedUs && { judgedUs }),
      ...(this.toReach > 0 && { timeToAllUs: this.timeToAll.summary() }),
    };
  }

  protected messages(senders: number, seconds: number): MessageSummary {
    const { received, receivedLater, late, extra } = this.delivered();
    const perSecond = (count: number): number =>
      seconds > 0 ? Math.round((count / seconds) * 1000) / 1000 : 0;
    const { offered, skipped, sent, expected, duplicated, outOfOrder, ambiguous, negative } = this;
    const { leaving, payloadBytesIn, payloadBytesOut } = this;
    const { latency, latencySameAgent, judgedUs } = this;
    return {
      ...{ senders, offered, skipped, sent, expected, received, receivedLater },
      lost: expected - received,
      ...{ duplicated, outOfOrder, late, extra, leaving, payloadBytesIn, payloadBytesOut },
      ...(ambiguous > 0 && { ambiguous }),
      ...(negative > 0 && { negative }),
      sentPerSecond: perSecond(sent),
      receivedPerSecond: perSecond(received - receivedLater),
      wireBytesIn: known(this.wireBytesIn),
      wireBytesOut: known(this.wireBytesOut),
      ...(this.wireBytesOutLater !== 0 && { wireBytesOutLater: known(this.wireBytesOutLater) }),
      latencyUs: latency.summary(),
      ...(judgedUs && { judgedUs }),
      sendLatencyUs: this.sendLatency.summary(),
      ...(latencySameAgent.count > 0 && { latencySameAgentUs: latencySameAgent.summary() }),
      ...(this.toReach > 0 && {
        timeToAllUs: this.timeToAll.summary(),
        timeToAllMissed: this.toReach - this.timeToAll.count,
      }),
      histogram: latency.encode(),
    };
  }
}

const within = (part: number, whole: number): number => Math.max(0, Math.min(part, whole));

const known = (sum: number): number | null => (Number.isNaN(sum) ? null : sum);

class CallTotals extends MessageTotals {
  readonly errors: ErrorCounts = {};
  private errorText: string | undefined;
  brokenOff = 0;
  private ofCalls = 0;

  constructor(private readonly facts: CallFacts) {
    super();
  }

  get name(): string {
    return this.facts.name;
  }

  addCall(sample: CallSample): void {
    this.add(sample);
    addErrors(this.errors, sample.errors);
    this.errorText ??= sample.errorText;
    this.brokenOff += sample.brokenOff;
    if (!this.isSettled) this.ofCalls += sample.ofCalls ?? 0;
  }

  progress(entry: string | undefined, pushed: PushedCounts): CallProgress {
    const { lost: outstanding, judgedUs, ...summary } = this.summary(entry, pushed);
    return { ...summary, outstanding, ...(this.isSettled && judgedUs && { judgedUs }) };
  }

  summary(entry: string | undefined, pushed: PushedCounts): CallSummary {
    const { sent, skipped, expected, latency, judgedUs, errors, errorText } = this;
    const { payloadBytesOut, ofCalls } = this;
    const { received } = this.delivered();
    const { comes, ...facts } = this.facts;
    return {
      ...facts,
      ...(comes !== undefined && { came: pushed.times(comes) }),
      ...(entry !== undefined && { entry }),
      ...(skipped > 0 && { skipped }),
      ...{ sent, expected, received, lost: expected - received, latencyUs: latency.summary() },
      ...(judgedUs && { judgedUs }),
      ...(payloadBytesOut > 0 && { payloadBytesOut }),
      ...(ofCalls > 0 && { ofCalls }),
      errors,
      ...(errorText !== undefined && { errorText }),
    };
  }
}

const sessionSummary = (
  { started, completed, brokenOff, waiting, duration }: SessionCounts,
  brokenOffAt: Readonly<Record<string, number>>,
): SessionSummary => ({
  ...{ started, completed, brokenOff, ...(waiting > 0 && { waiting }) },
  ...{ brokenOffAt, durationUs: duration.summary() },
});

class SendingTotals extends MessageTotals {
  readonly calls: readonly CallTotals[];
  private readonly sessionCounts: SessionCounts | undefined;
  override readonly within: readonly MessageTotals[];

  constructor(calls: readonly CallFacts[] = [], entries: readonly MessageTotals[] = []) {
    super();
    this.calls = calls.map((call) => new CallTotals(call));
    this.within = calls.length > 0 ? this.calls : entries;
    if (calls.length > 0) this.sessionCounts = new SessionCounts();
  }

  protected addSessions({ calls, sessions }: EntrySample): void {
    calls?.forEach((call, at) => this.calls[at]?.addCall(call));
    if (sessions !== undefined) this.sessionCounts?.add(sessions);
  }

  get sessions(): SessionSummary | undefined {
    const { calls, sessionCounts } = this;
    if (sessionCounts === undefined) return undefined;
    const brokenOffAt: Record<string, number> = {};
    for (const call of calls) if (call.brokenOff > 0) brokenOffAt[call.name] = call.brokenOff;
    return sessionSummary(sessionCounts, brokenOffAt);
  }

  addTo(sum: SessionCounts): void {
    if (this.sessionCounts === undefined) return;
    const { started, completed, brokenOff, waiting, duration } = this.sessionCounts;
    sum.started += started;
    sum.completed += completed;
    sum.brokenOff += brokenOff;
    sum.waiting += waiting;
    sum.duration.add(duration.counts());
  }
}

class EntryTotals extends SendingTotals {
  constructor(private readonly facts: EntryFacts) {
    super(facts.calls);
  }

  get name(): string {
    return this.facts.name;
  }

  addEntry(sample: EntrySample): void {
    this.add(sample);
    this.addSessions(sample);
  }

  progress(elapsedS: number): EntryProgress {
    const { sessions } = this;
    const { name, senders } = this.facts;
    return { name, ...this.messageProgress(senders, elapsedS), ...(sessions && { sessions }) };
  }

  summary(seconds: number): EntrySummary {
    const { sessions } = this;
    const { name, senders } = this.facts;
    return { name, ...this.messages(senders, seconds), ...(sessions && { sessions }) };
  }
}

export interface StepFacts {
  readonly index: number;
  readonly senders: number;
  readonly entries?: readonly EntryFacts[];
  readonly calls?: readonly CallFacts[];
  /** Its senders only wait for what hubs send on their own. */
  readonly listens?: boolean;
  /** Messages leave as calls to a service. */
  readonly byCalls?: boolean;
  readonly isLast?: boolean;
}

interface WorkerLoad {
  elapsedUs: number;
  busyUs: number;
  gcUs: number;
}

export class StepTotals extends SendingTotals {
  readonly errors: ErrorCounts = {};
  readonly warmupErrors: ErrorCounts = {};
  readonly entries: readonly EntryTotals[];
  private readonly blocks = new LatencyBlocks();
  private readonly slip = new LatencyHistogram();
  private readonly loopDelay = new LatencyHistogram();
  private readonly loads = new Map<number, WorkerLoad>();
  private suspendedUs = 0;
  private readonly lateness = new WorstLateness();
  /** CPU time of the process over the measured time, set when that is over. */
  cpuUs = 0;
  seconds = 0;
  connections: StepConnections | undefined;
  recovery: RecoveryWatch | undefined;
  private membership: MembershipCounts | undefined;
  readonly pushed = new PushedCounts();
  private readonly waitingWatch = new WaitingWatch();
  /** All that was counted up to then (run time) is in the sums. */
  knownUs = 0;
  readonly clocks = new StepClocks();
  agentsComplete: number | undefined;
  objectives: AbortWatch | undefined;
  /** Set once, after the drain: late deliveries no longer change it. */
  verdict: Verdict | undefined;

  constructor(readonly facts: StepFacts) {
    const entries = (facts.entries ?? []).map((entry) => new EntryTotals(entry));
    super(facts.calls, entries);
    this.entries = entries;
  }

  /** @param tick of the sample; without it, the deliveries are in no block of time */
  override add(sample: StepSample, tick?: number): void {
    super.add(sample);
    // A worker reports a step from its warm-up on.
    const isMeasured = sample.offered > 0 || sample.expected !== 0 || sample.received !== 0;
    if (tick !== undefined && isMeasured && this.verdict === undefined)
      this.blocks.add(tick, sample.latency, this.lastSecond);
    if (sample.slip !== undefined) this.slip.add(sample.slip);
    this.suspended(sample.suspendedUs);
    this.lateness.add(sample);
    sample.entries?.forEach((entry, position) => this.entries[position]?.addEntry(entry));
    this.addSessions(sample);
    for (const { name, messages, bytes } of sample.pushed ?? [])
      this.pushed.add(name, messages, bytes);
    addErrors(this.errors, sample.errors);
    addErrors(this.warmupErrors, sample.warmupErrors ?? {});
    if (sample.membership !== undefined)
      (this.membership ??= new MembershipCounts()).add(sample.membership);
  }

  private get lastSecond(): number {
    return this.seconds > 0 ? Math.max(0, Math.ceil(this.seconds) - 1) : Infinity;
  }

  /**
   * All that was counted up to `fromUs` is in the sums, nothing after `toUs` (run time); of what is expected
   * `uncertain` deliveries are not certain yet.
   */
  watch(fromUs: number, toUs: number, uncertain = 0): void {
    const certain = this.expected - uncertain;
    const { received } = this.delivered();
    this.waitingWatch.note(fromUs, toUs, certain, received);
    this.objectives?.note(toUs, certain, this.toReach, received);
    this.knownUs = fromUs;
  }

  sloFrom(slo: Slo): Slo {
    return sloForStep(slo, this.facts.isLast === true);
  }

  waiting(): Waiting | undefined {
    return this.verdict === undefined ? this.waitingWatch.waiting() : undefined;
  }

  addGenerator(worker: number, sample: GeneratorSample): void {
    const load = this.loads.get(worker) ?? { elapsedUs: 0, busyUs: 0, gcUs: 0 };
    load.elapsedUs += sample.elapsedUs;
    load.busyUs += sample.busyUs;
    load.gcUs += sample.gcUs;
    this.loads.set(worker, load);
    if (sample.loopDelay !== undefined) this.loopDelay.add(sample.loopDelay);
  }

  override pack(): void {
    super.pack();
    this.slip.pack();
    this.loopDelay.pack();
    this.blocks.settle();
  }

  suspended(us = 0): void {
    this.suspendedUs = Math.max(this.suspendedUs, us);
  }

  get wasSuspended(): boolean {
    return this.suspendedUs > 0 && this.verdict === undefined;
  }

  /** Health of the generator so far; from the verdict on, as far as that goes by it. */
  generator(): GeneratorHealth {
    const busiest = (part: 'busyUs' | 'gcUs'): number =>
      [...this.loads.values()].reduce((most, load) => {
        return load.elapsedUs > 0 ? Math.min(1, Math.max(most, load[part] / load.elapsedUs)) : most;
      }, 0);
    const { offered, sent, suspendedUs, lateness, verdict } = this;
    const messages = sent + this.received;
    const measured = {
      cpuUsPerMessage: messages > 0 ? this.cpuUs / messages : 0,
      cpuShare: busiest('busyUs'),
      loopDelayP99Us: this.loopDelay.valueAtShare(0.99),
      slipP99Us: this.slip.valueAtShare(0.99),
      ...{ slipMaxUs: lateness.slipMaxUs, readGapMaxUs: lateness.readGapMaxUs },
      gcShare: busiest('gcUs'),
      ...(suspendedUs > 0 && { suspendedUs: Math.round(suspendedUs) }),
    };
    const { byCalls = false } = this.facts;
    const problem = generatorProblem({ offered, sent, byCalls, generator: measured }, verdict);
    return { ...measured, valid: problem === undefined, ...(problem && { cause: problem.code }) };
  }

  judge(slo: Slo): Verdict {
    this.dropPendingLoss();
    this.settle();
    const { offered, sent } = this;
    const { byCalls = false, listens = false } = this.facts;
    const senders = listens ? 0 : this.facts.senders;
    const generator = this.generator();
    const measures = { ...this.deliveries(), senders, offered, sent, byCalls, generator };
    return judgeStep(measures, this.sloFrom(slo));
  }

  deliveries(): JudgedDeliveries {
    const sessions = this.allSessions();
    const { received, receivedLater } = this.delivered();
    const sessionsOf = this.entries.flatMap(({ name, sessions: own }) =>
      own ? [{ name, ...own }] : [],
    );
    return {
      ...{ offered: this.offered, skipped: this.skipped, sent: this.sent },
      ...{ seconds: this.seconds, errors: this.errors, expected: this.expected },
      ...{ received, receivedLater },
      duplicated: this.duplicated,
      ...(sessions && { sessions }),
      ...(sessionsOf.length > 0 && { sessionsOf }),
      ...this.latencies,
      ...this.across,
      lateness: this.lateness,
      ...(this.toReach > 0 && {
        timeToAll: {
          messages: this.toReach,
          reached: this.timeToAll.count,
          atShareUs: (share: number) => this.timeToAll.valueAtShare(share),
        },
      }),
    };
  }

  private get across(): Pick<JudgedDeliveries, 'across'> {
    const { clocks, latency, latencySameAgent } = this;
    const { errorUs, problem } = clocks;
    if (errorUs === undefined || latency.count === latencySameAgent.count) return {};
    const inside = {
      count: latencySameAgent.count,
      latencyAtShareUs: (share: number) => latencySameAgent.valueAtShare(share),
    };
    return { across: { errorUs, ...(problem !== undefined && { wrong: problem }), inside } };
  }

  clockFacts(): Pick<StepSummary, 'clockErrorUs' | 'clockJumps'> {
    const { errorUs, jumps } = this.clocks;
    return {
      ...(errorUs !== undefined && { clockErrorUs: Math.ceil(errorUs) }),
      ...(jumps > 0 && { clockJumps: jumps }),
    };
  }

  sessionProgress(): Pick<StepProgress, 'calls' | 'sessions'> {
    const sessions = this.allSessions();
    if (sessions === undefined) return {};
    return { calls: this.eachCall((call, entry) => call.progress(entry, this.pushed)), sessions };
  }

  private sessionParts(): Pick<StepSummary, 'calls' | 'sessions'> {
    const sessions = this.allSessions();
    if (sessions === undefined) return {};
    return { calls: this.eachCall((call, entry) => call.summary(entry, this.pushed)), sessions };
  }

  private allSessions(): SessionSummary | undefined {
    const { entries, sessions: own } = this;
    if (own !== undefined || entries.every(({ calls }) => calls.length === 0)) return own;
    const sum = new SessionCounts();
    const brokenOffAt: Record<string, number> = {};
    for (const entry of entries) {
      entry.addTo(sum);
      for (const [name, count] of Object.entries(entry.sessions?.brokenOffAt ?? {}))
        brokenOffAt[name] = (brokenOffAt[name] ?? 0) + count;
    }
    return sessionSummary(sum, brokenOffAt);
  }

  private eachCall<T>(make: (call: CallTotals, entry: string | undefined) => T): T[] {
    return [
      ...this.calls.map((call) => make(call, undefined)),
      ...this.entries.flatMap(({ calls, name }) => calls.map((call) => make(call, name))),
    ];
  }

  summary(slo: Slo, cutShort: Verdict): StepSummary {
    const { facts, seconds, entries, verdict, agentsComplete } = this;
    const latencyBlocks = this.blocks.stored();
    const pushed = this.pushed.summary(seconds);
    return {
      index: facts.index,
      seconds,
      ...this.messages(facts.senders, seconds),
      ...(latencyBlocks !== undefined && { latencyBlocks }),
      ...(entries.length > 0 && { entries: entries.map((entry) => entry.summary(seconds)) }),
      ...this.sessionParts(),
      ...(pushed.length > 0 && { pushed }),
      errors: this.errors,
      ...(totalErrors(this.warmupErrors) > 0 && { warmupErrors: this.warmupErrors }),
      generator: this.generator(),
      ...(this.connections !== undefined && { connections: this.connections }),
      ...(this.recovery !== undefined && { recoveries: this.recovery.recoveries() }),
      ...(this.membership !== undefined && { membership: this.membership.summary() }),
      ...(agentsComplete !== undefined && { agentsComplete }),
      ...this.clockFacts(),
      verdict:
        verdict === undefined
          ? cutShort
          : rejudgeAfterDrain(verdict, this.deliveries(), this.sloFrom(slo)),
    };
  }
}

/** How late the worst worker was in a step. */
export class WorstLateness implements Lateness {
  slipMaxUs = 0;
  readGapMaxUs = 0;
  unread = 0;

  add({ slipMaxUs = 0, readGapMaxUs = 0, unread = 0 }: StepSample): void {
    this.slipMaxUs = Math.max(this.slipMaxUs, slipMaxUs);
    this.readGapMaxUs = Math.max(this.readGapMaxUs, readGapMaxUs);
    this.unread += unread;
  }
}
