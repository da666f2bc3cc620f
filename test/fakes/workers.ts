import { Conductor } from '../../src/engine/lead/conductor';
import type { ConductorContext } from '../../src/engine/lead/run';
import type { Plan, PlanStep } from '../../src/plan/plan';
import type { FromWorker, ToWorker, WorkerHost, WorkerListener } from '../../src/messages/worker';
import { noConnections, type WorkerSample } from '../../src/measure/sample';
import { workerSampleOf } from './sample';

/** Leads a run on those workers, on a machine that is none. */
export const conductorOf = (
  plan: Plan,
  given: Pick<ConductorContext, 'startWorkers' | 'nowUs'> & Partial<ConductorContext>,
): Conductor =>
  new Conductor(plan, {
    ...{ keepGoing: false, secrets: [], targetUrls: [] },
    target: { kind: 'local', url: 'http://127.0.0.1:1/' },
    machine: { cores: 1, node: '20', platform: 'linux', workers: plan.workers.length },
    ...given,
  });

type OrderOf<T extends ToWorker['type']> = Extract<ToWorker, { readonly type: T }>;
/** What a worker does at an order, in place of what it does by itself; `false`: it is silent. */
export type Deviations = {
  readonly [T in ToWorker['type']]?: (worker: number, order: OrderOf<T>) => unknown;
};

/**
 * Workers that answer every order at once, but for what a test says: they open ten connections together and
 * count what the test gives them.
 */
export class FakeWorkers implements WorkerHost {
  readonly alive = new Set<number>();
  readonly orders: ToWorker[] = [];
  ends = 0;
  open = 10;
  /** Of each worker. */
  connections: WorkerSample['connections'] = {
    soFar: { ...noConnections, connected: 10, failed: 0, dropped: 0 },
  };
  private listener!: WorkerListener;

  constructor(
    private readonly nowUs: () => number,
    readonly count = 1,
    private readonly deviations: Deviations = {},
    private readonly step?: PlanStep,
  ) {}

  /** To be given to the conductor. */
  readonly start = (listener: WorkerListener): this => {
    this.listener = listener;
    for (let worker = 0; worker < this.count; worker++) {
      this.alive.add(worker);
      setTimeout(() => this.report(worker, { type: 'ready' }));
    }
    return this;
  };

  takingPart(): number {
    return this.open;
  }

  order(order: ToWorker): void {
    this.orders.push(order);
    for (const worker of this.alive) setTimeout(() => this.obey(worker, order));
  }

  end(): Promise<void> {
    this.ends += 1;
    this.alive.clear();
    return Promise.resolve();
  }

  /** What was ordered, in order. */
  get ordered(): string[] {
    return this.orders.map(({ type }) => type);
  }

  report(worker: number, fact: FromWorker): void {
    if (!this.alive.has(worker)) return;
    if (fact.type === 'closed') this.alive.delete(worker);
    this.listener.fact(worker, fact);
  }

  /** Its last message of the step has left just now. */
  reportSent(worker: number, index: number): void {
    this.report(worker, { type: 'stepSent', index, atUs: this.nowUs() });
  }

  /** Reports a sample in which nothing happened but what is given. */
  sample(worker: number, changes: Partial<WorkerSample> = {}, flush?: number, due = false): void {
    const { connections } = this;
    const tick = Math.floor(this.nowUs() / 1e6) + 1;
    const sample = workerSampleOf({ worker, tick, atUs: this.nowUs(), connections, ...changes });
    this.report(worker, { type: 'sampled', sample, due, ...(flush !== undefined && { flush }) });
  }

  lose(worker: number, error: Error): void {
    if (this.alive.delete(worker)) this.listener.lost(worker, error);
  }

  private obey(worker: number, order: ToWorker): void {
    const deviation = this.deviations[order.type] as
      | ((worker: number, order: ToWorker) => unknown)
      | undefined;
    if (deviation !== undefined && deviation(worker, order) === false) return;
    switch (order.type) {
      case 'connect':
        this.report(worker, { type: 'connected' });
        break;
      case 'prepare':
        this.report(worker, { type: 'prepared' });
        break;
      case 'flush':
        this.sample(worker, {}, order.flush);
        break;
      case 'step': {
        const { warmupMs = 0, measureMs = 0 } = order.step ?? this.step ?? {};
        const afterMs = (order.atUs - this.nowUs()) / 1000 + warmupMs + measureMs;
        setTimeout(() => this.reportSent(worker, order.index), afterMs);
        break;
      }
      case 'close':
        this.report(worker, { type: 'closed' });
        break;
      default:
    }
  }
}
