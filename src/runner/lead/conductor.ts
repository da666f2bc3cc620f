/** The lead of a run: orders to all workers, their reports put together, and a verdict on each step. */
import type { ErrorClass } from '../../base/errorClass';
import { Emitter, type Event } from '../../base/event';
import { hideSecrets } from '../../base/text';
import { formatCount } from '../../base/units';
import { complaintOf, firstErrorWords, lostWords } from '../../measure/judge/hubComplaint';
import { AbortWatch } from '../../measure/judge/abortWatch';
import { BacklogWatch } from '../../measure/judge/backlogWatch';
import {
  abortedWords,
  connectionChecks,
  withBacklog,
  withConnections,
} from '../../measure/judge/verdict';
import type { Phase, Snapshot } from '../../measure/snapshot';
import type {
  ConnectionSummary,
  Ending,
  RunSummary,
  Verdict,
  VerdictReason,
} from '../../measure/summary';
import { RunTotals } from '../../measure/total/runTotals';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { MergedTick } from '../../measure/sample';
import { RateWindows, TickMerger } from '../../measure/total/tickMerger';
import type { Plan, PlanStep } from '../../plan/plan';
import type { SearchSummary } from '../../search/searchSummary';
import { sendersOf } from '../../plan/population';
import type { FromWorker, StartWorkers, WorkerHost } from '../../protocol/worker';
import type { Passes, TargetProblems } from '../../targets/target';
import { entryNames } from '../../usecases/registry';
import { CpuMeter } from '../machineClock';
import type { JudgedConnections } from '../../base/objectives/objective';
import { ListedSteps, type StepSource } from './stepSource';
import { WorkerReports } from './workerReports';
import {
  connectionProgress,
  intervalOf,
  stepProgress,
  RecoveryPolling,
  type RunningStep,
} from './progress';

export interface ConductorContext {
  readonly startWorkers: StartWorkers;
  readonly keepGoing: boolean;
  /** Where the steps come from; absent: from the plan. */
  readonly steps?: StepSource;
  /** Time in which the target was asked something before the run: a silent one has had it already. */
  readonly askedMs?: number;
  /** They must not turn up in any text. */
  readonly secrets: readonly string[];
  readonly nowUs: () => number;
  /** With counts of their own, as they may be shown. */
  readonly targetUrls: readonly string[];
  readonly target: RunSummary['target'];
  /** Of the servers that were started for the run. */
  readonly problems?: TargetProblems | undefined;
  /** Renewed during the run, where somebody has signed in. */
  readonly passes?: Passes;
  readonly machine: RunSummary['machine'];
}

/** Leaves whatever is waited for; the ending is already noted. */
class EndedEarly extends Error {}

/** Failed connects after which a target that never answered is given up. */
const hopelessConnects = 20;
/** A target of which nothing is heard for so long is given up, unless the plan allows a single connect more. */
const hopelessMs = 22_500;
/** So is one that had connections, after as long without any. */
const deadMs = 47_000;
/** In a search, whose connections come back only because it opens them again. */
const deadInSearchMs = 15_000;
/** From the order to begin a step until its first message may be due, so that every worker has heard it. */
const leadUs = 100_000;
const drainPollMs = 25;
/** From the end of a step until every worker has said that its last message left; backlogs take a second. */
const sendingUs = 1_500_000;
/** From the end of a drain until every worker has reported what it had received by then. */
const reportingUs = 1_000_000;
const closeMs = 3000;
/** Between two looks at a target that recovers from a step. */
const recoveryPollMs = 250;
/** One that delivers nothing more for so long has recovered, or will not. */
const quietUs = 2_000_000;
const leastRecoveryMs = 5000;

/** Phases: connect, prepare, step by step warm up, measure and drain, close. */
export class Conductor implements Run {
  readonly finished: Promise<RunSummary>;
  private readonly snapshots = new Emitter<Snapshot>();
  readonly onSnapshot = this.snapshots.event;
  private readonly totals: RunTotals;
  private readonly ticks = new TickMerger();
  private readonly windows = new RateWindows();
  private readonly workers: WorkerHost;
  private readonly startedAt = new Date();
  private readonly startedUs: number;
  private readonly reports: WorkerReports;
  private readonly recovery: RecoveryPolling;
  private readonly steps: StepSource;
  /** Of the step that is measured, in a search. */
  private backlog: BacklogWatch | undefined;
  private phase: Phase = 'connecting';
  private ending: Ending | undefined;
  /** Asked at the end: what a server reports of it may come a moment later. */
  private endingMessage: (() => string) | undefined;
  /** Of a server that was started for the run. */
  private problem: string | undefined;
  private endingStack: string | undefined;
  /** The objective that has ended a step, in words. */
  private aborted: VerdictReason | undefined;
  private step: RunningStep | undefined;
  /** So far. */
  private requested = 0;
  private lastSampleUs = 0;
  private flushes = 0;
  /** The tick reported last; snapshots in between belong to it. */
  private lastTick = 0;

  constructor(
    private readonly plan: Plan,
    private readonly context: ConductorContext,
  ) {
    this.startedUs = context.nowUs();
    this.steps = context.steps ?? new ListedSteps(plan.steps);
    const shown = (text: string): string => hideSecrets(text, context.secrets);
    this.totals = new RunTotals(plan.connections, shown, context.targetUrls);
    this.workers = context.startWorkers({
      fact: (worker, fact) => {
        this.handle(worker, fact);
      },
      lost: (_worker, error) => {
        if (this.ending === undefined) this.endingStack = error.stack;
        this.end('workerLost', () => `A worker of the load generator was lost: ${error.message}`);
      },
    });
    const { workers } = this;
    this.reports = new WorkerReports(() => workers.alive);
    this.recovery = new RecoveryPolling(plan, plan.slo, context.nowUs, () => workers.takingPart());
    context.problems?.listen((text, count) => {
      this.reportProblem('ownServer', text, count);
    });
    context.passes?.onRenewed((pass) => this.workers.order({ type: 'renewed', pass }));
    context.passes?.onProblem((text) => {
      this.reportProblem('unauthorized', text);
    });
    this.finished = this.conduct();
  }

  stop(reason: StopReason): void {
    if (this.ending === undefined) this.end(reason);
    else void this.workers.end().then(() => this.reports.changed());
  }

  private async conduct(): Promise<RunSummary> {
    try {
      await this.reported('ready');
      const othersMove = this.plan.entries.some((entry) => entry.run.othersMove === true);
      for (
        let step = this.steps.next(0);
        step !== undefined;
        step = this.steps.next(this.elapsedUs)
      ) {
        const connections = step.connections ?? this.plan.connections;
        const more = connections > this.requested;
        if (more) await this.connect(connections);
        else if (connections < this.requested) await this.shrink(connections);
        if (more || othersMove) await this.prepare(step.index);
        await this.runStep(step);
      }
      this.ending ??= 'completed';
    } catch (error) {
      if (!(error instanceof EndedEarly)) throw error;
      await this.breakOff();
      this.judgeAborted();
    }
    await this.close();
    return this.summary();
  }

  private async connect(requested: number): Promise<void> {
    this.enter('connecting');
    const atUs = this.context.nowUs() + 20_000;
    this.reports.forget('connected');
    this.workers.order({ type: 'connect', atUs, from: this.requested, to: requested });
    this.requested = requested;
    const patienceMs = Math.max(
      hopelessMs - (this.context.askedMs ?? 0),
      this.plan.connectTimeoutMs > 18_000 ? this.plan.connectTimeoutMs + 1000 : 0,
    );
    const timer = setTimeout(() => {
      if (this.totals.connectionCounts().connected === 0) this.endUnreachable();
    }, patienceMs);
    try {
      await this.reported('connected');
      await this.flush();
    } finally {
      clearTimeout(timer);
      this.totals.rampSeconds += Math.max(0, this.context.nowUs() - atUs) / 1_000_000;
    }
    if (this.totals.connectionCounts().connected === 0) this.endUnreachable();
    this.throwIfEnded();
  }

  private get elapsedUs(): number {
    return this.context.nowUs() - this.startedUs;
  }

  /** A smaller step of a search: those that it has no place for are closed. */
  private async shrink(requested: number): Promise<void> {
    this.workers.order({ type: 'shrink', from: requested, to: this.requested });
    this.requested = requested;
    await this.flush();
    // Nobody writes to those that are gone.
    this.workers.order({ type: 'identify' });
    await this.flush();
    this.throwIfEnded();
  }

  /** Those that do not take part yet, as the step needs it. */
  private async prepare(step: number): Promise<void> {
    this.enter('preparing');
    this.reports.forget('prepared');
    this.workers.order({ type: 'prepare', step });
    await this.reported('prepared');
    this.workers.order({ type: 'identify' });
    await this.flush();
    this.throwIfEnded();
  }

  private async runStep(step: PlanStep): Promise<void> {
    const { plan, context } = this;
    const startUs = context.nowUs() + leadUs;
    const measureUs = startUs + step.warmupMs * 1000;
    const endUs = measureUs + step.measureMs * 1000;
    const isSearch = plan.search !== undefined;
    const names = entryNames(plan.entries.map(({ useCase }) => useCase));
    const totals = this.totals.beginStep({
      index: step.index,
      senders: step.senders,
      // Each of a search may turn out to be the last.
      isLast: isSearch || step.index % (plan.cycle ?? plan.steps.length) === 0,
      byCalls: plan.entries.some((entry) => entry.run.via === 'rest'),
      ...(names.length > 1 && {
        entries: names.map((name, at) => ({ name, senders: sendersOf(step, at) })),
      }),
    });
    // A search wants to know what comes of each of its steps.
    if (!isSearch) totals.abortWatch = new AbortWatch(totals.sloFrom(plan.slo), step.drainMs);
    const before = this.totals.connectionCounts();
    this.step = { plan: step, totals, measureUs, before };
    this.windows.begin(measureUs / 1e6);
    // What a search measures does not hang over from a step before.
    this.backlog = isSearch ? new BacklogWatch(measureUs, endUs) : undefined;
    this.reports.forget('stepSent');
    this.workers.order({
      ...{ type: 'step', index: step.index, atUs: startUs },
      ...(isSearch && { step }),
    });
    this.enter('warmup');
    await this.reached(measureUs);
    this.enter('measuring');
    this.recovery.begin(this.step);
    const cpu = new CpuMeter();
    try {
      await this.reached(endUs);
      await this.reported('stepSent', endUs + sendingUs);
      totals.seconds = step.measureMs / 1000;
    } catch (error) {
      totals.seconds = this.measuredSeconds();
      throw error;
    } finally {
      totals.cpuUs = cpu.usedUs();
      this.windows.sent(context.nowUs() / 1e6);
      this.recovery.end();
    }
    this.enter('draining');
    await this.drain(totals, step.drainMs);
    this.windows.drained(context.nowUs() / 1e6);
    this.workers.order({ type: 'drained', index: step.index });
    const isMet = this.judge(this.step).status === 'pass';
    const last = step.index === this.steps.count;
    if (!isMet && !context.keepGoing && !this.steps.goesOn && !last) this.end('threshold');
    this.throwIfEnded();
    if (!isMet && isSearch) await this.recover(step, totals);
  }

  /** Nothing of it is waited for any more. */
  private judge({ plan: step, totals, before }: RunningStep): Verdict {
    const { plan } = this;
    const { held } = this.totals;
    const open = this.workers.takingPart();
    totals.connections = { requested: this.requested, open, ...(held > open && { held }) };
    const slo = totals.sloFrom(plan.slo);
    const counts = this.totals.judgedConnections(this.requested);
    // A step of a search answers for what was lost in it, the first one for connecting, too.
    const now =
      plan.search !== undefined && totals.facts.index > 1 ? lostSince(before, counts) : counts;
    const growth = this.backlog?.growth();
    const verdict = withConnections(withBacklog(totals.judge(slo), growth), now, slo);
    totals.verdict = verdict;
    this.steps.over({ step, totals, verdict, growth, checks: connectionChecks(now, slo) });
    this.emit();
    return verdict;
  }

  /**
   * After a step that was too much: until what it has left behind has arrived, or nothing more comes, and the
   * connections that it has cost are back. A step that offers twice what can be delivered leaves as much time behind
   * as it took.
   */
  private async recover(step: PlanStep, totals: StepTotals): Promise<void> {
    const { nowUs } = this.context;
    const { slo } = this.plan;
    const mostMs = Math.max(leastRecoveryMs, 2 * (step.warmupMs + step.measureMs));
    const untilUs = nowUs() + mostMs * 1000;
    const needed = Math.ceil(this.requested * (1 - (slo.dropped ?? 0)));
    for (let [received, changedUs] = [totals.received, nowUs()]; nowUs() < untilUs;) {
      await this.reached(nowUs() + recoveryPollMs * 1000);
      await this.flush(untilUs + reportingUs);
      if (totals.received !== received) [received, changedUs] = [totals.received, nowUs()];
      const isQuiet = totals.received >= totals.expected || nowUs() - changedUs >= quietUs;
      if (isQuiet && this.workers.takingPart() >= needed) return;
    }
  }

  /** Ends the step, and the run, when an objective that may do so is missed. */
  private checkAborting(): void {
    const { step, phase } = this;
    if (step === undefined || phase !== 'measuring' || this.ending !== undefined) return;
    const now = this.totals.judgedConnections(this.requested);
    const reason = step.totals.missedSoFar(now, step.measureUs);
    if (reason === undefined) return;
    this.aborted = reason;
    this.end('threshold');
  }

  /** A step that was ended by an objective is judged by what it had measured by then, and has failed. */
  private judgeAborted(): void {
    const { step, aborted } = this;
    if (step === undefined || aborted === undefined) return;
    const { totals } = step;
    const { status, reasons, ...checks } = this.judge(step);
    const { code } = aborted;
    const said = { code, message: abortedWords(aborted.message, totals.seconds) };
    const others = reasons.filter((reason) => reason.code !== code);
    totals.verdict = {
      ...checks,
      status: status === 'pass' ? 'fail' : status,
      // What makes the numbers worthless is said first.
      reasons: status === 'invalid' ? [...others, said] : [said, ...others],
    };
    this.emit();
  }

  /** Waits until nothing is outstanding, at most `drainMs`: no worker without time to answer prolongs it. */
  private async drain(totals: StepTotals, drainMs: number): Promise<void> {
    const untilUs = this.context.nowUs() + drainMs * 1000;
    this.workers.order({ type: 'drain', index: totals.facts.index, untilUs });
    for (;;) {
      const inTime = await this.flush(untilUs + reportingUs);
      if (!inTime || totals.received >= totals.expected || this.context.nowUs() >= untilUs) return;
      await this.reached(Math.min(untilUs, this.context.nowUs() + drainPollMs * 1000));
    }
  }

  /** After an early ending: stop sending, and give what is on its way a moment to arrive. */
  private async breakOff(): Promise<void> {
    const { step, workers } = this;
    if (workers.alive.size === 0 || step === undefined || step.totals.verdict !== undefined) return;
    workers.order({ type: 'halt' });
    const untilUs = this.context.nowUs() + Math.min(step.plan.drainMs, 1000) * 1000;
    do {
      const flush = (this.flushes += 1);
      workers.order({ type: 'flush', flush });
      await this.reports.until(() => this.reports.has(`flush ${flush}`), 500);
      if (step.totals.received >= step.totals.expected) return;
      await this.reports.until(() => workers.alive.size === 0, drainPollMs);
    } while (this.context.nowUs() < untilUs && workers.alive.size > 0);
  }

  private async close(): Promise<void> {
    this.enter('closing');
    this.workers.order({ type: 'close' });
    this.windows.drained(this.context.nowUs() / 1e6);
    await this.reports.until(() => this.workers.alive.size === 0, closeMs);
    await this.workers.end();
    for (const tick of this.ticks.rest()) this.emit(tick);
    this.enter('done');
  }

  /** Counts and shows what went wrong beside the workers. */
  private reportProblem(errorClass: ErrorClass, text: string, count?: number): void {
    if (this.phase === 'done') return;
    const shown = this.totals.addError(errorClass, text, count);
    if (shown === this.problem) return;
    this.problem = shown;
    this.emit();
  }

  private handle(worker: number, fact: FromWorker): void {
    switch (fact.type) {
      case 'sampled':
        this.lastSampleUs = this.context.nowUs();
        this.totals.add(fact.sample);
        this.problem ??= complaintOf(this.totals.errorExamples);
        for (const tick of this.ticks.add(fact.sample, fact.due, this.workers.alive.size))
          this.emit(tick);
        if (fact.flush !== undefined) this.reports.note(`flush ${fact.flush}`, worker);
        this.checkTarget();
        if (fact.due) this.checkAborting();
        break;
      case 'ready':
      case 'connected':
      case 'prepared':
      case 'stepSent':
      case 'closed':
        this.reports.note(fact.type, worker);
        break;
    }
    this.reports.changed();
  }

  /** Ends the run when the target never answered, or has dropped everything and nothing comes back. */
  private checkTarget(): void {
    const { requested, connected, failed, dropped } = this.totals.connectionCounts();
    if (this.phase === 'connecting') {
      if (connected === 0 && failed >= Math.min(hopelessConnects, requested)) this.endUnreachable();
    } else if (
      connected > 0 &&
      (this.plan.life === undefined
        ? // A client that recovers its socket was dropped, and takes part all the same.
          connected === dropped && this.workers.takingPart() === 0
        : this.recovery.deadForMs() > (this.plan.search ? deadInSearchMs : deadMs)) &&
      this.phase !== 'closing' &&
      this.phase !== 'done'
    ) {
      this.end('targetLost', () => lostWords(connected, this.totals.errorExamples));
    }
  }

  private endUnreachable(): void {
    this.end('targetLost', () => {
      // More of them may fail until the run is over.
      const { failed } = this.totals.connectionCounts();
      return `No connection could be opened (${formatCount(failed)} failed). ${firstErrorWords(this.totals.errorExamples)}`;
    });
  }

  private end(ending: Ending, message?: () => string): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    this.endingMessage = message;
    this.reports.changed();
  }

  private throwIfEnded(): void {
    if (this.ending !== undefined) throw new EndedEarly();
  }

  /** Whether all workers have reported this, in time; leaves when the run has ended meanwhile. */
  private async reported(what: string, untilUs = Infinity): Promise<boolean> {
    const leftMs = (): number => (untilUs - this.context.nowUs()) / 1000;
    const inTime = await this.reports.all(what, leftMs, () => this.ending !== undefined);
    this.throwIfEnded();
    return inTime;
  }

  /** Leaves when the run has ended meanwhile. */
  private async reached(atUs: number): Promise<void> {
    const leftMs = Math.max(0, (atUs - this.context.nowUs()) / 1000);
    await this.reports.until(() => this.ending !== undefined, leftMs);
    this.throwIfEnded();
  }

  /** Whether all that was counted up to now has arrived here, in time. */
  private async flush(untilUs?: number): Promise<boolean> {
    const flush = (this.flushes += 1);
    this.workers.order({ type: 'flush', flush });
    const inTime = await this.reported(`flush ${flush}`, untilUs);
    this.reports.forget(`flush ${flush}`);
    return inTime;
  }

  private measuredSeconds(): number {
    if (this.step === undefined) return 0;
    const seconds = (this.context.nowUs() - this.step.measureUs) / 1_000_000;
    return Math.max(0, Math.min(seconds, this.step.plan.measureMs / 1000));
  }

  private enter(phase: Phase): void {
    this.phase = phase;
    this.emit();
  }

  private emit(tick?: MergedTick): void {
    const { context, totals, plan, phase, step } = this;
    const nowUs = context.nowUs();
    if (tick !== undefined) {
      this.lastTick = tick.tick;
      this.recovery.tick(tick);
      this.backlog?.tick(tick);
    }
    this.snapshots.fire({
      atMs: nowUs / 1000,
      tick: this.lastTick,
      phase,
      connections: connectionProgress(totals, this.workers.takingPart()),
      ...(step === undefined ? {} : { step: stepProgress(step, plan.slo, this.lastSampleUs) }),
      stepCount: this.steps.count,
      ...(this.steps.progress && { search: this.steps.progress }),
      ...intervalOf(tick, this.windows),
      errors: { ...totals.errors },
      ...(this.problem === undefined ? {} : { problem: this.problem }),
      complete: tick?.complete ?? true,
    });
  }

  private summary(): RunSummary {
    const cutShort: Verdict = {
      status: 'incomplete',
      reasons: [{ code: this.ending ?? 'stopped', message: 'the step was cut short' }],
    };
    // By the monotonic clock: somebody may have set the other one back meanwhile.
    const elapsedMs = (this.context.nowUs() - this.startedUs) / 1000;
    const search = this.steps.found?.(this.ending ?? 'completed', this.elapsedUs);
    const begun = this.totals.steps.filter((step) => step.seconds > 0 || step.sent > 0);
    return {
      startedAt: this.startedAt.toISOString(),
      endedAt: new Date(this.startedAt.getTime() + elapsedMs).toISOString(),
      ending: this.ending ?? 'completed',
      ...(this.endingMessage === undefined ? {} : { endingMessage: this.endingMessage() }),
      ...(this.endingStack === undefined ? {} : { endingStack: this.endingStack }),
      target: this.context.target,
      machine: this.context.machine,
      connections: withoutIdleLife(this.totals.connections(), search),
      steps: begun.map((step) => step.summary(this.plan.slo, cutShort)),
      plannedSteps: this.steps.count,
      ...(search && { search }),
      errors: this.totals.errors,
      errorExamples: this.totals.errorExamples,
    };
  }
}

/** A search repairs connections where the scenario does not: where none was lost there is nothing to say of it. */
function withoutIdleLife(
  { life, ...connections }: ConnectionSummary,
  search: SearchSummary | undefined,
): ConnectionSummary {
  const isIdle = search !== undefined && life !== undefined && life.drops + life.closed === 0;
  return life === undefined || isIdle ? connections : { ...connections, life };
}

/** What of the connections was lost since then. */
const lostSince = (before: JudgedConnections, now: JudgedConnections): JudgedConnections => ({
  requested: now.requested,
  failed: Math.max(0, now.failed - before.failed),
  dropped: Math.max(0, now.dropped - before.dropped),
  notBack: Math.max(0, (now.notBack ?? 0) - (before.notBack ?? 0)),
});

/** Who ended a run early: a person or program (`stopped`), or a signal to the process (`interrupted`). */
export type StopReason = 'stopped' | 'interrupted';

export interface Run {
  /** Once a second, and at each change of phase. */
  readonly onSnapshot: Event<Snapshot>;
  /** Settles on every ending and never rejects for a reason outside this code. */
  readonly finished: Promise<RunSummary>;
  /** Ends the run in order; what was measured is in the summary. A second call closes at once. */
  stop(reason: StopReason): void;
}
