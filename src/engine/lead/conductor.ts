/** The lead of a run: sends orders to the workers, merges their reports and judges each step. */
import { createReason } from '../../measure/judge/reason';
import type { ErrorClass } from '../../base/errorClass';
import { Emitter } from '../../base/async';
import { complaintText } from '../../measure/judge/hubComplaint';
import { AbortWatch } from '../../measure/judge/abortWatch';
import { BacklogWatch } from '../../measure/judge/stepWatches';
import {
  connectionChecks,
  failByAbort,
  judgeBacklog,
  addConnectionVerdict,
  judgeLostAgents,
  judgeUnsettledMessages,
} from '../../measure/judge/verdict';
import type { Phase, Snapshot } from '../../measure/snapshot';
import type { Ending, RunSummary, Verdict, VerdictReason } from '../../measure/summary';
import { RunTotals } from '../../measure/total/runTotals';
import type { StepTotals } from '../../measure/total/stepTotals';
import type { MergedTick } from '../../measure/sample';
import { RateWindows, TickMerger } from '../../measure/total/tickMerger';
import { agentOfWorker, workersOfAgent, type Plan, type PlanStep } from '../../plan/plan';
import type { FromWorker, WorkerHost } from '../../messages/worker';
import { SecretHider } from '../../targets/identities/rowSecrets';
import { CpuMeter } from '../machineClock';
import { LostAgents, MembershipRelay } from './agents';
import {
  type ConductorContext,
  type EndingReason,
  type Run,
  runSummary,
  type StopReason,
  agentProgress,
  connectionProgress,
  judgedConnectionsOf,
  stepFacts,
  tickInterval,
  measuredSeconds,
  RecoveryPolling,
  measuredSoFar,
  type RunningStep,
  stepProgress,
  describeLostTarget,
  describeUnreachable,
} from './run';
import { ListedSteps, type StepSource } from './stepSource';
import {
  connectLimitMs,
  milestones,
  EndedEarly,
  prepareLimitMs,
  LeadWaiter,
  leadTimings,
  WorkerReports,
} from './waiting';

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
  private readonly waiting: LeadWaiter;
  private readonly news: MembershipRelay;
  /** Round trip of an order, microseconds; 0 for local workers. */
  private readonly leadUs: number;
  private readonly recovery: RecoveryPolling;
  private readonly steps: StepSource;
  private backlog: BacklogWatch | undefined;
  private phase: Phase = 'connecting';
  private ending: Ending | undefined;
  /** Evaluated at the end: a server may report more by then. */
  private endingWords: EndingReason | undefined;
  private problem: string | undefined;
  private endingStack: string | undefined;
  private readonly lostAgents: LostAgents;
  /** The flush after which all remaining workers know of the last lost agent. */
  private lossFlush: number | undefined;
  private aborted: VerdictReason | undefined;
  private step: RunningStep | undefined;
  private requested = 0;
  private lastSampleUs = 0;
  private flushes = 0;
  private lastTick = 0;

  constructor(
    private readonly plan: Plan,
    private readonly context: ConductorContext,
  ) {
    this.startedUs = context.nowUs();
    this.steps = context.steps ?? new ListedSteps(plan.steps);
    const { hider = new SecretHider(context.secrets), identityCalls } = context;
    const shown = (text: string): string => hider.hide(text);
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
    const hasEnded = (): boolean => this.ending !== undefined;
    this.waiting = new LeadWaiter(this.reports, workers, context.nowUs, hasEnded);
    this.news = new MembershipRelay(
      () => workers.alive,
      (order) => workers.order(order),
    );
    this.recovery = new RecoveryPolling(plan, plan.slo, context.nowUs, () => workers.takingPart());
    context.problems?.listen((text, count) => this.reportProblem('ownServer', text, count));
    context.passes?.onRenewed((pass) => this.workers.order({ type: 'renewed', pass }));
    context.passes?.onProblem((text) => this.reportProblem('unauthorized', text));
    identityCalls?.onRenewed((rows) => {
      hider.add(rows.map(([, { values }]) => values));
      this.workers.order({ type: 'identities', rows });
    });
    identityCalls?.onProblem((text) => this.reportProblem('identity', text));
    this.finished = this.conduct();
  }

  stop(reason: StopReason): void {
    if (this.ending === undefined) this.end(reason);
    else this.waiting.endWorkers();
  }

  private async conduct(): Promise<RunSummary> {
    try {
      await this.waiting.reportedByAll('ready', 'it was ready');
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
    const leadUs = Math.max(leadTimings.connectLeadUs, this.workers.leadUs ?? 0);
    const atUs = this.context.nowUs() + leadUs;
    const before = this.requested;
    this.enter('connecting');
    this.reports.forget('connected');
    this.workers.order({ type: 'connect', atUs, from: before, to: requested });
    this.requested = requested;
    const patienceMs = Math.max(
      leadTimings.hopelessMs - (this.context.askedMs ?? 0),
      this.plan.connectTimeoutMs > 18_000 ? this.plan.connectTimeoutMs + 1000 : 0,
    );
    const timer = setTimeout(() => {
      if (this.totals.connectionCounts().connected === 0) this.endUnreachable();
    }, patienceMs);
    try {
      const limitMs = leadUs / 1000 + connectLimitMs(this.plan, requested - before);
      await this.waiting.reportedByAll('connected', milestones.open, limitMs);
      await this.flush(milestones.open);
    } finally {
      clearTimeout(timer);
      this.totals.rampSeconds += Math.max(0, this.context.nowUs() - atUs) / 1_000_000;
    }
    if (this.totals.connectionCounts().connected === 0) this.endUnreachable();
    this.waiting.throwIfEnded();
  }

  private get elapsedUs(): number {
    return this.context.nowUs() - this.startedUs;
  }

  private async shrink(requested: number): Promise<void> {
    this.workers.order({ type: 'shrink', from: requested, to: this.requested });
    this.requested = requested;
    const closed = 'it had closed the connections that a smaller step does without';
    await this.flush(closed);
    // Messages no longer go to closed connections.
    this.workers.order({ type: 'identify' });
    await this.flush(closed);
    this.waiting.throwIfEnded();
  }

  private async prepare(step: number): Promise<void> {
    this.enter('preparing');
    this.reports.forget('prepared');
    this.workers.order({ type: 'prepare', step });
    const limitMs = prepareLimitMs(this.plan, this.requested);
    await this.waiting.reportedByAll('prepared', milestones.prepare, limitMs);
    this.workers.order({ type: 'identify' });
    await this.flush(milestones.prepare);
    this.waiting.throwIfEnded();
  }

  private beginStep(step: PlanStep, startUs: number): RunningStep {
    const { plan } = this;
    const measureUs = startUs + step.warmupMs * 1000;
    const endUs = measureUs + step.measureMs * 1000;
    const isSearch = plan.search !== undefined;
    const totals = this.totals.beginStep(stepFacts(plan, step));
    totals.objectives = new AbortWatch(totals.sloFrom(plan.slo), step.drainMs, !isSearch);
    const before = this.totals.connectionCounts();
    this.step = { plan: step, totals, measureUs, before, sentUs: endUs };
    this.windows.begin(measureUs / 1e6);
    this.backlog = plan.search && new BacklogWatch(measureUs, endUs, plan.search.precision);
    return this.step;
  }

  private beginMeasuring(step: RunningStep): void {
    this.enter('measuring');
    this.recovery.begin(step);
    this.workers.suspendedUs?.();
    step.cpu = new CpuMeter(this.workers, step.measureUs);
  }

  private endMeasuring({ totals, cpu }: RunningStep, seconds: number): void {
    totals.seconds = seconds;
    totals.cpuUs = cpu?.usedUs() ?? 0;
    this.windows.sent(this.context.nowUs() / 1e6);
    this.recovery.end();
  }

  private async runStep(step: PlanStep): Promise<void> {
    const { plan, context, workers } = this;
    const startUs = context.nowUs() + Math.max(leadTimings.stepLeadUs, workers.leadUs ?? 0);
    const going = this.beginStep(step, startUs);
    const { totals, measureUs } = going;
    const endUs = measureUs + step.measureMs * 1000;
    const isSearch = plan.search !== undefined;
    const sent = `stepSent ${step.index}`;
    const ambiguousUs = workers.ambiguousUs?.() ?? 0;
    workers.order({
      ...{ type: 'step', index: step.index, atUs: startUs },
      ...(isSearch && { step }),
      ...(ambiguousUs > 0 && { ambiguousUs }),
    });
    this.enter('warmup');
    await this.waiting.reached(measureUs);
    this.beginMeasuring(going);
    try {
      await this.waiting.reached(endUs);
      await this.waiting.reported(sent, endUs + leadTimings.sendingUs + this.leadUs);
      this.endMeasuring(going, step.measureMs / 1000);
    } catch (error) {
      this.endMeasuring(going, measuredSeconds(going, context.nowUs()));
      throw error;
    }
    if (workers.giveUp !== undefined) await this.waiting.reportedByAll(sent, milestones.send);
    else if (!this.reports.has(sent)) going.sentUs = context.nowUs();
    this.enter('draining');
    await this.drain(going);
    await this.certain();
    this.windows.drained(context.nowUs() / 1e6);
    workers.order({ type: 'drained', index: step.index });
    const { status } = this.judge(going);
    this.endAfter(step, status);
    this.waiting.throwIfEnded();
    if (status !== 'pass' && isSearch) await this.recover(step, totals);
  }

  private endAfter({ index }: PlanStep, status: Verdict['status']): void {
    const { context, steps } = this;
    if (this.lostAgents.any) this.endWithoutAgents();
    const goesOn = status === 'pass' || status === 'incomplete' || steps.goesOn;
    if (!goesOn && !context.keepGoing && index !== steps.count) this.end('threshold');
  }

  private judge(going: RunningStep): Verdict {
    const { plan: step, totals } = going;
    const { plan } = this;
    const { held } = this.totals;
    if (this.lossFlush !== undefined) totals.notePendingLoss();
    this.lossFlush = undefined;
    this.noteAgents(totals);
    totals.suspended(this.workers.suspendedUs?.());
    const open = this.workers.takingPart();
    totals.connections = { requested: this.requested, open, ...(held > open && { held }) };
    const slo = totals.sloFrom(plan.slo);
    const now = judgedConnectionsOf(going, this.totals, this.requested, plan);
    const growth = this.backlog?.growth();
    const judged = this.totals.nameWorstAgent(
      totals.judge(slo),
      step.index,
      this.workers.agents?.(),
    );
    const asked = this.steps.withAsked?.(judged, step, totals) ?? judged;
    const found = addConnectionVerdict(judgeBacklog(asked, growth), now, slo);
    const settled = judgeUnsettledMessages(found, this.totals.unsettled);
    const verdict = (totals.verdict = judgeLostAgents(settled, this.lostAgents.all()));
    this.steps.over({ step, totals, verdict, growth, checks: connectionChecks(now, slo) });
    this.emit();
    return verdict;
  }

  private noteAgents(totals: StepTotals): void {
    if (this.workers.survivesLoss === true) totals.agentsComplete ??= this.lostAgents.others;
  }

  /**
   * After a failed step: waits until its backlog has arrived, or nothing more comes, and dropped connections are
   * back. A step that offers twice the capacity leaves as much backlog time as it lasted.
   */
  private async recover(step: PlanStep, totals: StepTotals): Promise<void> {
    const { nowUs } = this.context;
    const mostMs = Math.max(leadTimings.leastRecoveryMs, 2 * (step.warmupMs + step.measureMs));
    const untilUs = nowUs() + mostMs * 1000;
    const needed = Math.ceil(this.requested * (1 - (this.plan.slo.dropped ?? 0)));
    for (let [arrived, changedUs] = [totals.arrived, nowUs()]; nowUs() < untilUs;) {
      await this.waiting.reached(nowUs() + leadTimings.recoveryPollMs * 1000);
      await this.flush(untilUs + leadTimings.reportingUs);
      if (totals.arrived !== arrived) [arrived, changedUs] = [totals.arrived, nowUs()];
      const isQuiet =
        totals.arrived >= totals.expected || nowUs() - changedUs >= leadTimings.quietUs;
      if (isQuiet && this.workers.takingPart() >= needed) return;
    }
  }

  /** Ends the run when an objective with `abort` is missed, judged by seconds that all workers have reported. */
  private checkAborting(): void {
    const { step, phase } = this;
    if (step === undefined || phase !== 'measuring') return;
    const now = this.totals.judgedConnections(this.requested);
    const reason = step.totals.objectives?.missed(measuredSoFar(step, now));
    if (reason !== undefined) this.end('threshold', undefined, reason);
  }

  private judgeAborted(): void {
    const { step, aborted } = this;
    if (step === undefined || aborted === undefined) return;
    const { totals } = step;
    totals.verdict = failByAbort(this.judge(step), aborted, totals.seconds);
    this.emit();
  }

  private async drain({ plan: { index, drainMs }, totals, sentUs }: RunningStep): Promise<void> {
    const { workers, context } = this;
    const untilUs = sentUs + drainMs * 1000;
    workers.order({ type: 'drain', index, untilUs });
    while (context.nowUs() < untilUs) {
      if ((await this.flush(untilUs)) && this.isAllHere(totals)) return;
      await this.waiting.reached(Math.min(untilUs, this.nextPollUs));
    }
    // An earlier flush may count less: what was read in time counts, however late it is reported.
    const mostUs = context.nowUs() + leadTimings.phaseMs * 1000;
    await this.flush(workers.giveUp === undefined ? mostUs : milestones.count);
  }

  private isAllHere({ received, expected }: StepTotals): boolean {
    return this.totals.unsettled === 0 && received >= expected;
  }

  private async certain(): Promise<void> {
    const untilUs = this.context.nowUs() + leadTimings.reportingUs + this.leadUs;
    while (this.totals.unsettled > 0 && this.context.nowUs() < untilUs) {
      await this.flush(untilUs);
      if (this.totals.unsettled > 0) await this.waiting.reached(Math.min(untilUs, this.nextPollUs));
    }
  }

  private get nextPollUs(): number {
    return (
      this.context.nowUs() + Math.max(leadTimings.drainPollMs, this.workers.drainPollMs ?? 0) * 1000
    );
  }

  private lose(worker: number, error: Error): void {
    const { plan, workers, step } = this;
    const agent = agentOfWorker(plan, worker);
    if (workers.survivesLoss !== true) {
      if (this.ending === undefined) this.endingStack = error.stack;
      this.end('workerLost', () => `A worker of the load generator was lost: ${error.message}`);
    } else if (!this.lostAgents.has(agent)) {
      this.problem = this.lostAgents.add(agent, error);
      for (const each of workersOfAgent(plan, agent)) this.totals.lose(each);
      this.lossFlush = this.flushes + 1;
      workers.order({ type: 'gone', agent });
      this.emit();
      workers.order({ type: 'flush', flush: (this.flushes += 1) });
      const isInStep = step !== undefined && step.totals.verdict === undefined;
      // Deliveries to the lost agent are missing: they must not abort the run.
      if (isInStep && step.totals.objectives) step.totals.objectives.mayEnd = false;
      else this.endWithoutAgents();
    }
    if (workers.alive.size === 0) this.endWithoutAgents();
    this.reports.changed();
  }

  private endWithoutAgents(): void {
    this.end('workerLost', () => this.lostAgents.sentence());
  }

  private async breakOff(): Promise<void> {
    const { step, workers } = this;
    if (workers.alive.size === 0 || step === undefined || step.totals.verdict !== undefined) return;
    workers.order({ type: 'halt' });
    const untilUs = this.context.nowUs() + Math.min(step.plan.drainMs, 1000) * 1000;
    do {
      const flush = (this.flushes += 1);
      workers.order({ type: 'flush', flush });
      await this.reports.until(() => this.reports.has(`flush ${flush}`), 500 + this.leadUs / 1000);
      if (this.isAllHere(step.totals)) return;
      await this.reports.until(() => workers.alive.size === 0, leadTimings.drainPollMs);
    } while (this.context.nowUs() < untilUs && workers.alive.size > 0);
  }

  private async close(): Promise<void> {
    this.enter('closing');
    this.workers.order({ type: 'close' });
    this.windows.drained(this.context.nowUs() / 1e6);
    const withinMs = leadTimings.closeMs + this.leadUs / 1000;
    await this.reports.until(() => this.workers.alive.size === 0, withinMs);
    await this.workers.end();
    for (const tick of this.ticks.rest()) this.emit(tick);
    this.enter('done');
  }

  private reportProblem(errorClass: ErrorClass, text: string, count?: number): void {
    if (this.phase === 'done') return;
    const shown = this.totals.addError(errorClass, text, count);
    if (shown === this.problem) return;
    this.problem = shown;
    this.emit();
  }

  private handle(worker: number, fact: FromWorker): void {
    switch (fact.type) {
      case 'sampled': {
        this.lastSampleUs = this.context.nowUs();
        this.totals.add(fact.sample);
        this.problem ??= complaintText(this.totals.errorExamples);
        const merged = this.ticks.add(fact.sample, fact.due, this.workers.alive.size);
        for (const tick of merged) this.emit(tick);
        if (fact.flush !== undefined) this.reports.note(`flush ${fact.flush}`, worker);
        this.checkLoss();
        this.checkTarget();
        if (merged.length > 0 && this.ending === undefined) this.checkAborting();
        break;
      }
      case 'moved':
        this.news.add({ worker, upToUs: fact.upToUs, changes: fact.changes });
        break;
      case 'stepSent': {
        const { step } = this;
        if (step?.plan.index === fact.index) step.sentUs = Math.max(step.sentUs, fact.atUs);
        this.reports.note(`stepSent ${fact.index}`, worker);
        break;
      }
      default:
        this.reports.note(fact.type, worker);
    }
    this.reports.changed();
  }

  /** Once all remaining workers know of the loss, missing deliveries may have been due to it. */
  private checkLoss(): void {
    const { lossFlush, step } = this;
    if (lossFlush === undefined || !this.reports.has(`flush ${lossFlush}`)) return;
    this.lossFlush = undefined;
    if (step?.totals.verdict === undefined) step?.totals.notePendingLoss();
  }

  /** Ends the run when the target is gone, unless it was lost while this machine was suspended. */
  private checkTarget(): void {
    const { phase, plan, totals, recovery, workers, context } = this;
    const words = describeLostTarget(phase, plan, totals, recovery, workers, context.target.url);
    if (words === undefined) return;
    if (this.step?.totals.wasSuspended === true)
      this.end('threshold', undefined, createReason('targetLost', words()));
    else this.end('targetLost', words);
  }

  private endUnreachable(): void {
    const { totals, context } = this;
    this.end('targetLost', () => describeUnreachable(totals, context.target.url));
  }

  private end(ending: Ending, words?: EndingReason, aborted?: VerdictReason): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    this.aborted = aborted;
    this.endingWords = words;
    this.reports.changed();
  }

  /**
   * Whether everything counted so far has arrived here in time. @param until run time in microseconds, or a milestone
   * for {@link reportedByAll}
   */
  private async flush(until: number | string): Promise<boolean> {
    const flush = (this.flushes += 1);
    this.workers.order({ type: 'flush', flush });
    const what = `flush ${flush}`;
    const inTime =
      typeof until === 'number'
        ? await this.waiting.reported(what, until)
        : await this.waiting.reportedByAll(what, until).then(() => true);
    this.reports.forget(what);
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
    const now = step && judgedConnectionsOf(step, totals, this.requested, plan);
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
      ...(step && now && { step: stepProgress(step, now, this.lastSampleUs) }),
      stepCount: this.steps.count,
      ...(this.steps.progress && { search: this.steps.progress }),
      ...tickInterval(tick, this.windows),
      errors: { ...totals.errors },
      ...(tick && agentProgress(tick.tick, totals, this.workers)),
      ...(this.problem === undefined ? {} : { problem: this.problem }),
      complete: tick?.complete ?? true,
    });
  }

  private summary(): RunSummary {
    const { plan, context, totals, steps, workers, startedAt, elapsedUs, endingStack } = this;
    for (const step of totals.steps) this.noteAgents(step);
    const ending = this.ending ?? 'completed';
    const endingWords = this.endingWords?.();
    const ended = { ending, endingWords, endingStack, startedAt, elapsedUs };
    return runSummary({ plan, context, totals, steps, workers }, ended);
  }
}
