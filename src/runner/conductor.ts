import { errorAdvice, type ErrorClass } from '../base/errorClass';
import { Emitter } from '../base/event';
import { formatCount } from '../base/units';
import { RunTotals } from '../measure/runTotals';
import type { Phase, Snapshot } from '../measure/snapshot';
import type { StepTotals } from '../measure/stepTotals';
import type { Ending, RunSummary, Verdict } from '../measure/summary';
import { TickMerger, type MergedTick } from '../measure/tickMerger';
import { judgeConnections } from '../measure/verdict';
import type { Plan, PlanStep } from '../plan/plan';
import type { FromWorker, WorkerStart } from '../protocol/worker';
import { numberOf } from '../usecases/parameterSpec';
import { CpuMeter } from './cpuMeter';
import { hideSecrets } from './hideSecrets';
import { connectionProgress, intervalOf, stepProgress, type RunningStep } from './progress';
import type { Run, StopReason } from './run';
import { WorkerPool } from './workerPool';

export interface ConductorFacts {
  readonly workerScript: string;
  readonly keepGoing: boolean;
  /** Values that must not turn up in any text of the run. */
  readonly secrets: readonly string[];
  /** Run time in microseconds. */
  readonly nowUs: () => number;
  readonly target: RunSummary['target'];
  readonly machine: RunSummary['machine'];
}

/** Thrown inside the conductor to leave whatever it was waiting for; the ending is already noted. */
class EndedEarly extends Error {}

/** Failed connects after which a target that never answered is given up. */
const hopelessConnects = 20;
/** A target of which nothing is heard for so long is given up, unless the plan allows a single connect more. */
const hopelessMs = 23_500;
/** From the order to begin a step until its first message may be due, so that every worker has heard it. */
const leadUs = 100_000;
const drainPollMs = 25;
const closeMs = 3000;

/** Leads a run through its phases: connect, prepare, step by step warm up, measure and drain, close. */
export class Conductor implements Run {
  readonly finished: Promise<RunSummary>;
  private readonly snapshots = new Emitter<Snapshot>();
  readonly onSnapshot = this.snapshots.event;
  private readonly totals: RunTotals;
  private readonly ticks = new TickMerger();
  private readonly pool: WorkerPool;
  private readonly startedAt = new Date();
  private readonly facts = new Map<string, Set<number>>();
  private readonly ids: (readonly [number, string])[] = [];
  private phase: Phase = 'connecting';
  private ending: Ending | undefined;
  private endingMessage: string | undefined;
  private endingStack: string | undefined;
  private step: RunningStep | undefined;
  private lastSampleUs = 0;
  private flushes = 0;
  /** The tick told last; snapshots in between belong to it. */
  private lastTick = 0;
  /** Called whenever something has changed that {@link until} may be waiting for. */
  private changed: () => void = () => undefined;

  constructor(
    private readonly plan: Plan,
    starts: readonly WorkerStart[],
    private readonly context: ConductorFacts,
  ) {
    this.totals = new RunTotals(plan.connections, (text) => hideSecrets(text, context.secrets));
    this.pool = new WorkerPool(context.workerScript, starts, {
      fact: (worker, fact) => {
        this.handle(worker, fact);
      },
      lost: (_worker, error) => {
        if (this.ending === undefined) this.endingStack = error.stack;
        this.end('workerLost', `A worker of the load generator was lost: ${error.message}`);
      },
    });
    this.finished = this.conduct();
  }

  stop(reason: StopReason): void {
    if (this.ending === undefined) this.end(reason);
    else void this.pool.terminate().then(() => this.changed());
  }

  private async conduct(): Promise<RunSummary> {
    try {
      await this.told('ready');
      await this.connect();
      await this.prepare();
      for (const step of this.plan.steps) await this.runStep(step);
      this.ending ??= 'completed';
    } catch (error) {
      if (!(error instanceof EndedEarly)) throw error;
      await this.breakOff();
    }
    await this.close();
    return this.summary();
  }

  private async connect(): Promise<void> {
    this.enter('connecting');
    this.pool.order({ type: 'connect', atUs: this.context.nowUs() + 20_000 });
    const patienceMs = Math.max(
      hopelessMs,
      this.plan.connectTimeoutMs > 20_000 ? this.plan.connectTimeoutMs + 1000 : 0,
    );
    const timer = setTimeout(() => {
      if (this.totals.connections().connected === 0) this.endUnreachable();
    }, patienceMs);
    try {
      await this.told('connected');
      await this.flush();
    } finally {
      clearTimeout(timer);
    }
    if (this.totals.connections().connected === 0) this.endUnreachable();
    this.throwIfEnded();
  }

  private async prepare(): Promise<void> {
    this.enter('preparing');
    this.pool.order({ type: 'prepare' });
    await this.told('prepared');
    if (this.ids.length > 0) this.pool.order({ type: 'identify', ids: this.ids });
    await this.flush();
    this.throwIfEnded();
  }

  private async runStep(step: PlanStep): Promise<void> {
    const { plan, context } = this;
    const startUs = context.nowUs() + leadUs;
    const measureUs = startUs + step.warmupMs * 1000;
    const endUs = measureUs + step.measureMs * 1000;
    const messageBytes = numberOf(plan.parameters, 'messageSize');
    const totals = this.totals.beginStep({
      index: step.index,
      senders: step.senders,
      messageBytes,
    });
    this.step = { plan: step, totals, measureUs };
    this.facts.delete('stepSent');
    this.pool.order({ type: 'step', index: step.index, atUs: startUs });
    this.enter('warmup');
    await this.reached(measureUs);
    this.enter('measuring');
    const cpu = new CpuMeter();
    try {
      await this.reached(endUs);
      await this.told('stepSent');
      totals.seconds = step.measureMs / 1000;
    } catch (error) {
      totals.seconds = this.measuredSeconds();
      throw error;
    } finally {
      totals.cpuUs = cpu.usedUs();
    }
    this.enter('draining');
    await this.drain(totals, step.drainMs);
    this.pool.order({ type: 'drained', index: step.index });
    totals.verdict = this.verdictOf(totals);
    this.emit();
    const last = step.index === plan.steps.length;
    if (totals.verdict.status !== 'pass' && !context.keepGoing && !last) this.end('threshold');
    this.throwIfEnded();
  }

  /** Waits until nothing is outstanding, at most `drainMs`. */
  private async drain(totals: StepTotals, drainMs: number): Promise<void> {
    const untilUs = this.context.nowUs() + drainMs * 1000;
    for (;;) {
      await this.flush();
      if (totals.received >= totals.expected || this.context.nowUs() >= untilUs) return;
      await this.reached(Math.min(untilUs, this.context.nowUs() + drainPollMs * 1000));
    }
  }

  private verdictOf(totals: StepTotals): Verdict {
    const verdict = totals.judge(this.plan.slo);
    const dropped = judgeConnections(this.totals.connections(), this.plan.slo);
    if (dropped === undefined) return verdict;
    const status = verdict.status === 'pass' ? 'fail' : verdict.status;
    return { ...verdict, status, reasons: [...verdict.reasons, dropped] };
  }

  /** After an early ending: stop sending, and give what is on its way a moment to arrive. */
  private async breakOff(): Promise<void> {
    const { step, pool } = this;
    if (pool.alive.size === 0 || step === undefined || step.totals.verdict !== undefined) return;
    pool.order({ type: 'halt' });
    const untilUs = this.context.nowUs() + Math.min(step.plan.drainMs, 1000) * 1000;
    do {
      const flush = (this.flushes += 1);
      pool.order({ type: 'flush', flush });
      await this.until(() => this.hasTold(`flush ${flush}`), 500);
      if (step.totals.received >= step.totals.expected) return;
      await this.until(() => pool.alive.size === 0, drainPollMs);
    } while (this.context.nowUs() < untilUs && pool.alive.size > 0);
  }

  private async close(): Promise<void> {
    this.enter('closing');
    this.pool.order({ type: 'close' });
    await this.until(() => this.pool.alive.size === 0, closeMs);
    await this.pool.terminate();
    for (const tick of this.ticks.rest()) this.emit(tick);
    this.enter('done');
  }

  private handle(worker: number, fact: FromWorker): void {
    switch (fact.type) {
      case 'sampled':
        this.lastSampleUs = this.context.nowUs();
        this.totals.add(fact.sample);
        for (const tick of this.ticks.add(fact.sample, fact.due, this.pool.alive.size))
          this.emit(tick);
        if (fact.flush !== undefined) this.note(`flush ${fact.flush}`, worker);
        this.checkTarget();
        break;
      case 'prepared':
        this.ids.push(...fact.ids);
        this.note('prepared', worker);
        break;
      case 'ready':
      case 'connected':
      case 'stepSent':
      case 'closed':
        this.note(fact.type, worker);
        break;
    }
    this.changed();
  }

  /** Ends the run when the target never answered or has dropped everything. */
  private checkTarget(): void {
    const { requested, connected, failed, dropped } = this.totals.connections();
    if (this.phase === 'connecting') {
      if (connected === 0 && failed >= Math.min(hopelessConnects, requested)) this.endUnreachable();
    } else if (
      connected > 0 &&
      connected === dropped &&
      this.phase !== 'closing' &&
      this.phase !== 'done'
    ) {
      this.end(
        'targetLost',
        `All ${formatCount(connected)} connections were lost. ${this.firstError()}`,
      );
    }
  }

  private endUnreachable(): void {
    const { failed } = this.totals.connections();
    this.end(
      'targetLost',
      `No connection could be opened (${formatCount(failed)} failed). ${this.firstError()}`,
    );
  }

  private firstError(): string {
    const [example] = this.totals.errorExamples;
    if (example === undefined) return 'The target did not answer.';
    const { errorClass, text } = example;
    const advice = errorAdvice[errorClass as ErrorClass] ?? '';
    return `First error: ${errorClass}: ${text.replace(/[.\s]+$/, '')}. ${advice}`.trim();
  }

  private end(ending: Ending, message?: string): void {
    if (this.ending !== undefined) return;
    this.ending = ending;
    this.endingMessage = message;
    this.changed();
  }

  private throwIfEnded(): void {
    if (this.ending !== undefined) throw new EndedEarly();
  }

  private note(what: string, worker: number): void {
    const workers = this.facts.get(what) ?? new Set();
    workers.add(worker);
    this.facts.set(what, workers);
  }

  private hasTold(what: string): boolean {
    const workers = this.facts.get(what);
    return [...this.pool.alive].every((worker) => workers?.has(worker) === true);
  }

  /** Settles when the condition holds or the time is up, whatever else happens. */
  private until(holds: () => boolean, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.changed = () => undefined;
        resolve();
      };
      const timer = setTimeout(settle, withinMs);
      this.changed = () => {
        if (holds()) settle();
      };
      this.changed();
    });
  }

  /** Settles when all workers have told this; leaves when the run has ended meanwhile. */
  private async told(what: string): Promise<void> {
    while (!this.hasTold(what) && this.ending === undefined) {
      await this.until(() => this.hasTold(what) || this.ending !== undefined, 60_000);
    }
    this.throwIfEnded();
  }

  /** Settles at a moment of run time; leaves when the run has ended meanwhile. */
  private async reached(atUs: number): Promise<void> {
    const leftMs = Math.max(0, (atUs - this.context.nowUs()) / 1000);
    await this.until(() => this.ending !== undefined, leftMs);
    this.throwIfEnded();
  }

  /** All that was counted up to now has arrived here. */
  private async flush(): Promise<void> {
    const flush = (this.flushes += 1);
    this.pool.order({ type: 'flush', flush });
    await this.told(`flush ${flush}`);
    this.facts.delete(`flush ${flush}`);
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
    if (tick !== undefined) this.lastTick = tick.tick;
    this.snapshots.fire({
      atMs: nowUs / 1000,
      tick: this.lastTick,
      phase,
      connections: connectionProgress(totals.connections()),
      ...(step === undefined ? {} : { step: stepProgress(step, plan.slo, this.lastSampleUs) }),
      stepCount: plan.steps.length,
      ...intervalOf(tick),
      errors: { ...totals.errors },
      complete: tick?.complete ?? true,
    });
  }

  private summary(): RunSummary {
    const cutShort: Verdict = {
      status: 'incomplete',
      reasons: [{ code: this.ending ?? 'stopped', message: 'the step was cut short' }],
    };
    const begun = this.totals.steps.filter((step) => step.seconds > 0 || step.sent > 0);
    return {
      startedAt: this.startedAt.toISOString(),
      endedAt: new Date().toISOString(),
      ending: this.ending ?? 'completed',
      ...(this.endingMessage === undefined ? {} : { endingMessage: this.endingMessage }),
      ...(this.endingStack === undefined ? {} : { endingStack: this.endingStack }),
      target: this.context.target,
      machine: this.context.machine,
      connections: this.totals.connections(),
      steps: begun.map((step) => step.summary(this.plan.slo, cutShort)),
      errors: this.totals.errors,
      errorExamples: this.totals.errorExamples,
    };
  }
}
