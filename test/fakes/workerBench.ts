import { idle } from './agentGroups';
import { RunTotals } from '../../src/measure/total/runTotals';
import type { StepTotals } from '../../src/measure/total/stepTotals';
import type { Plan } from '../../src/plan/plan';
import { countGroups, populationsOf } from '../../src/plan/population';
import type { FromWorker, ToWorker } from '../../src/messages/worker';
import { createMemberMemory, SharedMembers } from '../../src/engine/prepare/sharedMembers';
import { createTimeToAllMemory, TimeToAllTracker } from '../../src/engine/prepare/timeToAllTracker';
import * as sessions from '../../src/engine/send/sessionSender';
import { WorkerRun } from '../../src/engine/workerRun';
import { endpointOf } from './endpoint';
import { HubSide } from './hubSide';
import { VirtualTime } from './virtualTime';

/** The workers of a plan in one thread, on virtual time and a hub of the test, with all they report summed up. */
export class WorkerBench {
  readonly time = new VirtualTime().install();
  readonly hub = new HubSide();
  readonly facts: string[] = [];
  readonly samples: Extract<FromWorker, { type: 'sampled' }>[] = [];
  readonly totals: RunTotals;
  readonly members: SharedMembers[] = [];
  private readonly workers: readonly WorkerRun[];

  /** @param heard of each fact, whoever leads besides */
  constructor(
    private readonly plan: Plan,
    heard: (worker: number, fact: FromWorker) => void = () => undefined,
  ) {
    this.totals = new RunTotals(plan.connections);
    const populations = populationsOf(plan);
    const groups = countGroups(populations);
    const counts = plan.entries.some(({ run: { session } }) => session?.joins === true);
    const memory = createMemberMemory(plan.connections, groups, { ids: true, counts });
    const shared = plan.timeToAll === true ? createTimeToAllMemory() : undefined;
    const surroundings = {
      clock: this.time,
      nap: (ms: number) => this.time.pass(ms),
      ...{ open: this.hub.open, sessions },
    };
    this.workers = plan.workers.map(({ worker }) => {
      const start = { plan, worker, endpoint: endpointOf('http://127.0.0.1:1/'), originUs: 0 };
      const membership: ConstructorParameters<typeof WorkerRun>[1]['membership'] = (...given) =>
        (this.members[worker] = new SharedMembers(memory, ...given));
      const reach = shared && new TimeToAllTracker(shared);
      return new WorkerRun(start, { ...surroundings, membership, reach }, (said) => {
        const fact = idle(said);
        heard(worker, fact);
        if (fact.type !== 'sampled') this.facts.push(`${worker} ${fact.type}`);
        else {
          this.samples.push(fact);
          this.totals.add(fact.sample);
        }
      });
    });
  }

  order(order: ToWorker): Promise<void>[] {
    return this.workers.map((worker) => worker.handle(order));
  }

  async obeyed(order: ToWorker, withinMs = 60_000): Promise<void> {
    await this.time.until(Promise.all(this.order(order)), withinMs);
  }

  /** Connects and prepares everybody. */
  async ready(): Promise<void> {
    await this.obeyed({ type: 'connect', atUs: 0, from: 0, to: this.plan.connections });
    await this.obeyed({ type: 'prepare', step: 1 });
    await this.obeyed({ type: 'identify' });
  }

  /** Begins a step and goes on to so many milliseconds after that. */
  async step(index: number, toMs: number): Promise<StepTotals> {
    const { senders } = this.plan.steps[index - 1]!;
    const totals = this.totals.beginStep({ index, senders });
    const atMs = Math.ceil(this.time.nowMs);
    await this.obeyed({ type: 'step', index, atUs: atMs * 1000 });
    await this.time.to(atMs + toMs);
    return totals;
  }

  async flush(): Promise<void> {
    await this.obeyed({ type: 'flush', flush: 1 });
  }

  async dispose(): Promise<void> {
    await this.obeyed({ type: 'close' });
    this.time.restore();
  }
}
