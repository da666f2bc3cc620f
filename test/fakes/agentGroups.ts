import { seededRandom, type Random } from '../../src/base/random';
import { Conductor } from '../../src/engine/lead/conductor';
import type { ConductorContext, Run } from '../../src/engine/lead/run';
import type { ClockSample } from '../../src/measure/sample';
import {
  agentOfConnection,
  agentOfWorker,
  agentCount,
  workersOfAgent,
  type Plan,
} from '../../src/plan/plan';
import { countGroups, populationsOf } from '../../src/plan/population';
import type { FromWorker, ToWorker, WorkerHost, WorkerListener } from '../../src/messages/worker';
import {
  createMemberMemory,
  countOpenConnections,
  SharedMembers,
  type MemberMemory,
} from '../../src/engine/prepare/sharedMembers';
import { WorkerRun } from '../../src/engine/workerRun';
import { endpointOf } from './endpoint';
import { HubSide } from './hubSide';
import { VirtualTime } from './virtualTime';

export interface AgentGroupsOptions {
  readonly seed: number;
  /** Of an order or a fact on its way, at most. */
  readonly delayMs?: number;
  /** What the clock of an agent reads beyond that of the lead. */
  readonly clockUs?: (agent: number) => number;
  /** By how much two of these clocks differ at most. */
  readonly ambiguousUs?: number;
  /** What this agent never reports although it goes on. */
  readonly unreported?: (agent: number, fact: FromWorker) => boolean;
  /** What an agent says of its clock with each sample. */
  readonly clock?: (agent: number) => ClockSample;
  readonly context?: Partial<ConductorContext>;
}

/**
 * The agents of a plan in one thread on virtual time: the workers of each share memory, and all else goes through orders
 * and facts that are under way for a random time, those of one agent in their order.
 */
export class AgentGroups implements WorkerHost {
  readonly time = new VirtualTime().install();
  readonly hub = new HubSide();
  readonly alive = new Set<number>();
  readonly survivesLoss = true;
  readonly leadUs: number;
  readonly orders: ToWorker[] = [];
  readonly facts: [worker: number, fact: FromWorker][] = [];
  readonly run: Run;
  private readonly random: Random;
  private readonly workers: WorkerRun[] = [];
  private readonly memories: MemberMemory[] = [];
  private readonly ordersTo: Way[] = [];
  private readonly factsOf: Way[] = [];
  private readonly silent = new Set<number>();
  private listener!: WorkerListener;

  constructor(
    readonly plan: Plan,
    private readonly options: AgentGroupsOptions,
  ) {
    this.random = seededRandom(options.seed);
    this.leadUs = (options.delayMs ?? 0) * 1000 + 1000;
    this.run = new Conductor(plan, {
      startWorkers: (listener) => this.start(listener),
      keepGoing: false,
      secrets: [],
      nowUs: () => this.time.nowUs(),
      targetUrls: [],
      target: { kind: 'local', url: 'http://127.0.0.1:1/' },
      machine: { cores: 1, node: '20', platform: 'linux', workers: plan.workers.length },
      ...options.context,
    });
  }

  private start(listener: WorkerListener): this {
    const { plan, time, hub } = this;
    this.listener = listener;
    const groups = countGroups(populationsOf(plan));
    for (let agent = 0; agent < agentCount(plan); agent++) {
      const memory = createMemberMemory(plan.connections, groups, { ids: true });
      this.memories.push(memory);
      const offUs = this.options.clockUs?.(agent) ?? 0;
      const surroundings = {
        clock: { nowUs: () => time.nowUs() + offUs },
        nap: (ms: number) => time.pass(ms),
        open: hub.open,
        membership: (...[populations, nowUs, changed]: MembershipGiven) => {
          // Whoever waits for a change to take place reads the clock until it has.
          const passing = (): number => (time.pass(0.001), nowUs());
          return new SharedMembers(memory, populations, passing, changed);
        },
      };
      for (const worker of workersOfAgent(plan, agent)) {
        const start = { plan, worker, endpoint: endpointOf('http://127.0.0.1:1/'), originUs: 0 };
        this.workers[worker] = new WorkerRun(start, surroundings, (fact) => {
          this.post(worker, fact);
        });
        this.alive.add(worker);
        this.post(worker, { type: 'ready' });
      }
    }
    return this;
  }

  ambiguousUs(): number {
    return this.options.ambiguousUs ?? 0;
  }

  measureCpu(): () => number {
    const fromUs = this.time.nowUs();
    return () => (this.time.nowUs() - fromUs) / 10;
  }

  takingPart(): number {
    return this.memories.reduce(
      (sum, memory, agent) => sum + (this.silent.has(agent) ? 0 : countOpenConnections(memory)),
      0,
    );
  }

  order(order: ToWorker): void {
    this.orders.push(order);
    for (let agent = 0; agent < agentCount(this.plan); agent++) {
      this.later(this.ordersTo, agent, () => {
        if (this.silent.has(agent)) return;
        for (const worker of workersOfAgent(this.plan, agent))
          // As a message goes: nobody shares an object with anybody.
          void this.workers[worker]!.handle(structuredClone(order));
      });
    }
  }

  end(): Promise<void> {
    this.alive.clear();
    return Promise.resolve();
  }

  /** The agent is no more, which is noticed so much later. */
  kill(agent: number, noticedMs: number): void {
    this.silent.add(agent);
    for (const connection of this.hub.connections)
      if (agentOfConnection(this.plan, connection.index) === agent) connection.isOpen = false;
    for (const worker of workersOfAgent(this.plan, agent))
      void this.workers[worker]!.handle({ type: 'halt' });
    setTimeout(() => this.lose(agent, 'it was silent for too long'), noticedMs);
  }

  giveUp(worker: number, why: string): void {
    this.lose(agentOfWorker(this.plan, worker), why);
  }

  private lose(agent: number, why: string): void {
    const words = `agent ${agent + 1} of ${agentCount(this.plan)} (host) was lost: ${why}`;
    for (const worker of workersOfAgent(this.plan, agent))
      if (this.alive.delete(worker)) this.listener.lost(worker, new Error(words));
  }

  private post(worker: number, fact: FromWorker): void {
    const agent = agentOfWorker(this.plan, worker);
    if (this.silent.has(agent) || this.options.unreported?.(agent, fact) === true) return;
    this.later(this.factsOf, agent, () => {
      if (!this.alive.has(worker)) return;
      if (fact.type === 'closed') this.alive.delete(worker);
      this.facts.push([worker, fact]);
      this.listener.fact(worker, structuredClone(this.withClock(agent, idle(fact))));
    });
  }

  private withClock(agent: number, fact: FromWorker): FromWorker {
    const { clock } = this.options;
    if (fact.type !== 'sampled' || clock === undefined) return fact;
    return { ...fact, sample: { ...fact.sample, clock: clock(agent) } };
  }

  /** After a random time, but never before what went the same way. */
  private later(ways: Way[], at: number, then: () => void): void {
    const { nowMs } = this.time;
    const atMs = nowMs + this.random.next() * (this.options.delayMs ?? 0);
    const way = (ways[at] ??= { lastMs: 0, pending: [] });
    way.lastMs = Math.max(way.lastMs, atMs);
    way.pending.push(then);
    // Two that are due at once may come in either order, as times are rounded: the first goes first.
    setTimeout(() => way.pending.shift()!(), way.lastMs - nowMs);
  }
}

interface Way {
  lastMs: number;
  readonly pending: (() => void)[];
}

type MembershipGiven = Parameters<ConstructorParameters<typeof WorkerRun>[1]['membership']>;

/** What the thread was busy is of real time, of which a busy machine takes any amount. */
export function idle(fact: FromWorker): FromWorker {
  if (fact.type !== 'sampled') return fact;
  const { sample } = fact;
  return { ...fact, sample: { ...sample, generator: { ...sample.generator, busyUs: 0, gcUs: 0 } } };
}
