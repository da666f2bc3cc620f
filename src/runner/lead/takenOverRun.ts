import type { Plan, PlanStep } from '../../plan/plan';
import type { FromWorker, OrderOf, ToWorker } from '../../protocol/worker';
import { Conductor } from './conductor';
import type { ConductorContext } from './run';

/** A run that another process has led before. */
export interface TakeOver {
  /** Why it cannot go on but only be ended with what was measured, in a sentence; absent: it goes on. */
  readonly problem?: string;
}

/**
 * Leads a run on from where another process has left it. What that had ordered and what was reported comes again from
 * where it is kept, and is added up as it was then; time stands where it was until all of it has come. What was ordered is
 * not ordered again: whoever measures has gone on meanwhile.
 */
export class TakenOverRun extends Conductor {
  private readonly past: PastRun;

  constructor(plan: Plan, given: ConductorContext, takeOver: TakeOver) {
    const past = new PastRun(takeOver, given.nowUs);
    super(plan, { ...given, nowUs: past.nowUs });
    this.past = past;
  }

  protected override get isPast(): boolean {
    return !this.past.isOver;
  }

  protected override given<Type extends ToWorker['type']>(type: Type): OrderOf<Type> | undefined {
    return this.past.take(type);
  }

  protected override tookOver(problem: string | undefined): void {
    this.past.end(problem);
  }

  /** In its turn among what was reported. */
  protected override ordered(order: ToWorker): void {
    const { past, reports, step } = this;
    past.ordered(order);
    switch (order.type) {
      case 'connect':
        reports.forget('connected');
        this.requested = order.to;
        this.enter('connecting');
        break;
      case 'shrink':
        this.requested = order.from;
        break;
      case 'prepare':
        reports.forget('prepared');
        this.enter('preparing');
        break;
      case 'step': {
        const planned = this.steps.next(this.elapsedUs) ?? order.step;
        if (planned !== undefined) this.beginStep(planned, order.atUs);
        this.enter('warmup');
        break;
      }
      case 'drain':
        if (step !== undefined) this.endMeasuring(step, step.plan.measureMs / 1000);
        this.enter('draining');
        break;
      case 'drained':
        this.windows.drained(this.context.nowUs() / 1e6);
        if (step !== undefined) this.judge(step);
        break;
      case 'flush':
        this.flushes = order.flush;
        break;
      case 'moved':
        this.news.forwarded(order.reports);
        break;
      default:
    }
  }

  protected override handle(worker: number, fact: FromWorker): void {
    if (this.isPast) this.relive(fact);
    super.handle(worker, fact);
  }

  /** What comes with time in a run that goes on. */
  private relive(fact: FromWorker): void {
    const { step, past } = this;
    past.heard(fact);
    this.recovery.look();
    const isMeasured = step !== undefined && this.context.nowUs() >= step.measureUs;
    if (isMeasured && this.phase === 'warmup') this.beginMeasuring(step);
  }

  protected override async begin(): Promise<PlanStep | undefined> {
    // The rest of this object is made after its base.
    await Promise.resolve();
    const { past } = this;
    const problem = await past.relived;
    const { step, steps, workers } = this;
    this.requested = past.requestedBefore(this.requested);
    const verdict = step?.totals.verdict;
    const isGoingOn = step !== undefined && verdict === undefined;
    if (verdict !== undefined) this.endAfter(step!.plan, verdict.status);
    if (workers.alive.size === 0 || (step === undefined && this.lostAgents.any))
      this.endWithoutAgents();
    if (isGoingOn || step?.plan.index !== steps.count) {
      this.checkTarget();
      if (problem !== undefined) this.end('workerLost', () => problem);
      else if (past.wasEnded) this.end('interrupted');
    }
    this.throwIfEnded();
    return isGoingOn ? step.plan : undefined;
  }
}

/** What was ordered since the last step was over, and the time of what was reported. */
class PastRun {
  /** Whether all of it has come. */
  isOver = false;
  /** Settles then, with why the run cannot go on. */
  readonly relived: Promise<string | undefined>;
  private settle: (problem: string | undefined) => void = () => undefined;
  private timeUs = 0;
  private orders: ToWorker[] = [];

  constructor(
    private readonly takeOver: TakeOver,
    private readonly realUs: () => number,
  ) {
    this.relived = new Promise((resolve) => {
      this.settle = resolve;
    });
  }

  readonly nowUs = (): number => (this.isOver ? this.realUs() : this.timeUs);

  heard(fact: FromWorker): void {
    if (fact.type === 'sampled') this.timeUs = Math.max(this.timeUs, fact.sample.atUs);
  }

  ordered(order: ToWorker): void {
    if (order.type === 'drained') this.orders = [];
    else this.orders.push(order);
  }

  end(problem: string | undefined): void {
    this.isOver = true;
    this.settle(this.takeOver.problem ?? problem);
  }

  take<Type extends ToWorker['type']>(type: Type): OrderOf<Type> | undefined {
    const at = this.orders.findIndex((order) => order.type === type);
    const [order] = at < 0 ? [] : this.orders.splice(at, 1);
    return order as OrderOf<Type> | undefined;
  }

  /** Connections before what goes on was ordered. */
  requestedBefore(now: number): number {
    for (const order of this.orders) {
      if (order.type === 'connect') return order.from;
      if (order.type === 'shrink') return order.to;
    }
    return now;
  }

  /** Whether it was being ended. */
  get wasEnded(): boolean {
    return this.orders.some(({ type }) => type === 'halt' || type === 'close');
  }
}
