/** The lead of a run: orders to all workers, their reports put together, and a verdict on each step. */
import type { ErrorClass } from '../../base/errorClass';
import { Emitter } from '../../base/event';
import { hideSecrets } from '../../base/text';
import { formatCount } from '../../base/units';
import { complaintOf, firstErrorWords, lostWords } from '../../measure/judge/hubComplaint';
import { AbortWatch } from '../../measure/judge/abortWatch';
import { BacklogWatch } from '../../measure/judge/backlogWatch';
import {
  connectionChecks,
  withAborted,
  withBacklog,
  withConnections,
  withoutAgents,
  withUnsettled,
} from '../../measure/judge/verdict';
import type { Phase, Snapshot } from '../../measure/snapshot';
import type { Ending, RunSummary, Verdict, VerdictReason } from '../../measure/summary';
import { RunTotals } from '../../measure/total/runTotals';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { MergedTick } from '../../measure/sample';
import { RateWindows, TickMerger } from '../../measure/total/tickMerger';
import { agentOfWorker, workersOfAgent } from '../../plan/agents';
import type { Plan, PlanStep } from '../../plan/plan';
import type { FromWorker, WorkerHost } from '../../protocol/worker';
import { CpuMeter } from '../machineClock';
import { LostAgents } from './lostAgents';
import type { ConductorContext, Run, StopReason } from './run';
import { ListedSteps, type StepSource } from './stepSource';
import { MemberNews } from './memberNews';
import { WorkerReports } from './workerReports';
import {
  connectionProgress,
  factsOf,
  intervalOf,
  lostSince,
  measuredSeconds,
  stepProgress,
  RecoveryPolling,
  withoutIdleLife,
  type RunningStep,
} from './progress';

export type { ConductorContext, Run, StopReason } from './run';

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
/** From the order to connect until the first connection is due. */
const connectLeadUs = 20_000;
/** From the order to begin a step until its first message may be due, so that every worker has heard it. */
const stepLeadUs = 100_000;
const drainPollMs = 25;
/** From the end of a step until every worker has said that its last message left; backlogs take a second. */
const sendingUs = 1_500_000;
/** From the end of a drain until every worker has reported what it had received by then, and agents each other's changes. */
const reportingUs = 1_000_000;
const closeMs = 3000;
/** A host declares lost who is silent, before this. */
const mostSettlingMs = 120_000;
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
  private readonly news: MemberNews;
  /** From an order until the answer to it, microseconds, where that takes long. */
  private readonly leadUs: number;
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
  private readonly lostAgents: LostAgents;
  /** Flush after which the living have heard of the last loss. */
  private lossFlush: number | undefined;
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
    this.lostAgents = new LostAgents(plan, shown);
    const agentOf = (worker: number): number => agentOfWorker(plan, worker);
    this.totals = new RunTotals(plan.connections, shown, context.targetUrls, agentOf);
    this.workers = context.startWorkers({
      fact: (worker, fact) => this.handle(worker, fact),
      lost: (worker, error) => this.lose(worker, error),
    });
    const { workers } = this;
    this.leadUs = 2 * (workers.leadUs ?? 0);
    this.reports = new WorkerReports(() => workers.alive);
    this.news = new MemberNews(
      () => workers.alive,
      (order) => workers.order(order),
    );
    this.recovery = new RecoveryPolling(plan, plan.slo, context.nowUs, () => workers.takingPart());
    context.problems?.listen((text, count) => this.reportProblem('ownServer', text, count));
    context.passes?.onRenewed((pass) => this.workers.order({ type: 'renewed', pass }));
    context.passes?.onProblem((text) => this.reportProblem('unauthorized', text));
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
    const atUs = this.context.nowUs() + Math.max(connectLeadUs, this.workers.leadUs ?? 0);
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
    const { plan, context, workers } = this;
    const startUs = context.nowUs() + Math.max(stepLeadUs, workers.leadUs ?? 0);
    const measureUs = startUs + step.warmupMs * 1000;
    const endUs = measureUs + step.measureMs * 1000;
    const isSearch = plan.search !== undefined;
    const totals = this.totals.beginStep(factsOf(plan, step));
    // A search wants to know what comes of each of its steps.
    if (!isSearch) totals.abortWatch = new AbortWatch(totals.sloFrom(plan.slo), step.drainMs);
    const before = this.totals.connectionCounts();
    this.step = { plan: step, totals, measureUs, before };
    this.windows.begin(measureUs / 1e6);
    // What a search measures does not hang over from a step before.
    this.backlog = isSearch ? new BacklogWatch(measureUs, endUs) : undefined;
    this.reports.forget('stepSent');
    const ambiguousUs = workers.ambiguousUs?.() ?? 0;
    workers.order({
      ...{ type: 'step', index: step.index, atUs: startUs },
      ...(isSearch && { step }),
      ...(ambiguousUs > 0 && { ambiguousUs }),
    });
    this.enter('warmup');
    await this.reached(measureUs);
    this.enter('measuring');
    this.recovery.begin(this.step);
    const cpu = new CpuMeter(workers);
    try {
      await this.reached(endUs);
      await this.reported('stepSent', endUs + sendingUs + this.leadUs);
      totals.seconds = step.measureMs / 1000;
    } catch (error) {
      totals.seconds = measuredSeconds(this.step, context.nowUs());
      throw error;
    } finally {
      totals.cpuUs = cpu.usedUs();
      this.windows.sent(context.nowUs() / 1e6);
      this.recovery.end();
    }
    await this.settled();
    this.enter('draining');
    await this.drain(totals, step.drainMs);
    await this.settled();
    await this.certain();
    this.windows.drained(context.nowUs() / 1e6);
    this.workers.order({ type: 'drained', index: step.index });
    const { status } = this.judge(this.step);
    const last = step.index === this.steps.count;
    if (this.lostAgents.any && (isSearch || context.onAgentLost !== 'continue'))
      this.endWithoutAgents();
    if (['fail', 'invalid'].includes(status) && !context.keepGoing && !this.steps.goesOn && !last)
      this.end('threshold');
    this.throwIfEnded();
    if (status !== 'pass' && isSearch) await this.recover(step, totals);
  }

  /** What is on its way from other machines counts, however long it takes. */
  private async settled(): Promise<void> {
    const { workers, reports } = this;
    if (workers.settled === undefined) return;
    let isOver = false;
    void workers.settled().then(() => {
      isOver = true;
      reports.changed();
    });
    await reports.until(() => isOver || this.ending !== undefined, mostSettlingMs);
    this.throwIfEnded();
  }

  /** Nothing of it is waited for any more. */
  private judge({ plan: step, totals, before }: RunningStep): Verdict {
    const { plan } = this;
    const { held } = this.totals;
    if (this.lossFlush !== undefined) totals.noteOwed();
    this.lossFlush = undefined;
    this.noteAgents(totals);
    const open = this.workers.takingPart();
    totals.connections = { requested: this.requested, open, ...(held > open && { held }) };
    const slo = totals.sloFrom(plan.slo);
    const counts = this.totals.judgedConnections(this.requested);
    // A step of a search answers for what was lost in it, the first one for connecting, too.
    const now =
      plan.search !== undefined && totals.facts.index > 1 ? lostSince(before, counts) : counts;
    const growth = this.backlog?.growth();
    const found = withConnections(withBacklog(totals.judge(slo), growth), now, slo);
    const settled = withUnsettled(found, this.totals.unsettled);
    const verdict = withoutAgents(settled, this.lostAgents.all());
    totals.verdict = verdict;
    this.steps.over({ step, totals, verdict, growth, checks: connectionChecks(now, slo) });
    this.emit();
    return verdict;
  }

  private noteAgents(totals: StepTotals): void {
    if (this.workers.survivesLoss === true) totals.agentsComplete ??= this.lostAgents.others;
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
    totals.verdict = withAborted(this.judge(step), aborted, totals.seconds);
    this.emit();
  }

  /** Waits until nothing is outstanding, at most `drainMs`: no worker without time to answer prolongs it. */
  private async drain(totals: StepTotals, drainMs: number): Promise<void> {
    const untilUs = this.context.nowUs() + drainMs * 1000;
    this.workers.order({ type: 'drain', index: totals.facts.index, untilUs });
    for (;;) {
      const inTime = await this.flush(untilUs + reportingUs + this.leadUs);
      const isOver = this.totals.unsettled === 0 && totals.received >= totals.expected;
      if (!inTime || isOver || this.context.nowUs() >= untilUs) return;
      await this.reached(Math.min(untilUs, this.nextPollUs));
    }
  }

  /** Waits until agents have heard of each other what was to be expected. */
  private async certain(): Promise<void> {
    const untilUs = this.context.nowUs() + reportingUs + this.leadUs;
    while (this.totals.unsettled > 0 && this.context.nowUs() < untilUs) {
      await this.flush(untilUs);
      if (this.totals.unsettled > 0) await this.reached(Math.min(untilUs, this.nextPollUs));
    }
  }

  private get nextPollUs(): number {
    return this.context.nowUs() + Math.max(drainPollMs, this.workers.drainPollMs ?? 0) * 1000;
  }

  /** With it goes its agent, if the others go on; else the run. */
  private lose(worker: number, error: Error): void {
    const { plan, workers, step } = this;
    const agent = agentOfWorker(plan, worker);
    if (workers.survivesLoss !== true) {
      if (this.ending === undefined) this.endingStack = error.stack;
      this.end('workerLost', () => `A worker of the load generator was lost: ${error.message}`);
    } else if (!this.lostAgents.has(agent)) {
      this.lostAgents.add(agent, error);
      for (const each of workersOfAgent(plan, agent)) this.totals.lose(each);
      workers.order({ type: 'gone', agent });
      this.lossFlush = this.flushes += 1;
      workers.order({ type: 'flush', flush: this.lossFlush });
      const isInStep = step !== undefined && step.totals.verdict === undefined;
      // What is owed to the lost one must not end it.
      if (isInStep) step.totals.abortWatch = undefined;
      else if (this.context.onAgentLost !== 'continue') this.endWithoutAgents();
    }
    if (workers.alive.size === 0) this.endWithoutAgents();
    this.reports.changed();
  }

  private endWithoutAgents(): void {
    this.end('workerLost', () => this.lostAgents.sentence());
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
      const withinMs = 500 + this.leadUs / 1000;
      await this.reports.until(() => this.reports.has(`flush ${flush}`), withinMs);
      const isSettled = this.totals.unsettled === 0;
      if (isSettled && step.totals.received >= step.totals.expected) return;
      await this.reports.until(() => workers.alive.size === 0, drainPollMs);
    } while (this.context.nowUs() < untilUs && workers.alive.size > 0);
  }

  private async close(): Promise<void> {
    this.enter('closing');
    this.workers.order({ type: 'close' });
    this.windows.drained(this.context.nowUs() / 1e6);
    const withinMs = closeMs + this.leadUs / 1000;
    await this.reports.until(() => this.workers.alive.size === 0, withinMs);
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
        this.checkLoss();
        this.checkTarget();
        if (fact.due) this.checkAborting();
        break;
      case 'moved':
        this.news.add({ worker, upToUs: fact.upToUs, changes: fact.changes });
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

  /** All that are left know of the loss: what is missing of messages before it may have been owed to the lost one. */
  private checkLoss(): void {
    const { lossFlush, step } = this;
    if (lossFlush === undefined || !this.reports.has(`flush ${lossFlush}`)) return;
    this.lossFlush = undefined;
    if (step?.totals.verdict === undefined) step?.totals.noteOwed();
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
    this.news.forward();
    return inTime;
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
    for (const step of begun) this.noteAgents(step);
    return {
      startedAt: this.startedAt.toISOString(),
      endedAt: new Date(this.startedAt.getTime() + elapsedMs).toISOString(),
      ending: this.ending ?? 'completed',
      ...(this.endingMessage === undefined ? {} : { endingMessage: this.endingMessage() }),
      ...(this.endingStack === undefined ? {} : { endingStack: this.endingStack }),
      target: this.context.target,
      machine: this.context.machine,
      ...(this.workers.agents && { agents: this.totals.ofAgents(this.workers.agents()) }),
      connections: withoutIdleLife(this.totals.connections(), search),
      steps: begun.map((step) => step.summary(this.plan.slo, cutShort)),
      plannedSteps: this.steps.count,
      ...(search && { search }),
      errors: this.totals.errors,
      errorExamples: this.totals.errorExamples,
    };
  }
}
