import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Endpoint } from '../../base/endpoint';
import { hasSeveralClocks, workersOfAgent, type Plan } from '../../plan/plan';
import type {
  ClockOrder,
  WorkerStart,
  FromWorker,
  StartWorkers,
  ToWorker,
  WorkerHost,
  WorkerListener,
  ProcessReport,
} from '../../messages/worker';
import { SecretHider } from '../../targets/identities/rowSecrets';
import { withIdentities, type OpenTarget } from '../../targets/target';
import { loopbackSourceAddresses } from '../../wire/socket/hosts';
import { shownUrl } from '../../wire/connectFailure';
import {
  ClockDiscipline,
  createClockMemory,
  machineClock,
  CpuMeter,
  ReportedCpu,
} from '../machineClock';
import {
  memberMemoryOfPlan,
  countOpenConnections,
  type ThreadStart,
} from '../prepare/sharedMembers';
import { createTimeToAllMemory } from '../prepare/timeToAllTracker';
import { countedTargets } from '../recorder';
import { createRowCounter } from '../send/messageShape';
import { Conductor } from './conductor';
import type { ConductorContext, Run } from './run';
import type { StepSource } from './stepSource';
import { fork, type ChildProcess } from 'node:child_process';
import { childEnvironment } from '../../targets/serverProcess';
import { SuspendDetector } from '../suspendDetector';
import { leadTimings } from './waiting';

interface RunDependencies {
  readonly workerScript: string;
  readonly keepGoing?: boolean;
  readonly askedMs?: number;
  readonly steps?: StepSource;
}

/** Runs on threads or processes of this machine. The caller disposes the target after the run. */
export function startRun(plan: Plan, target: OpenTarget, dependencies: RunDependencies): Run {
  const originUs = machineClock().nowUs();
  const where = { endpoint: endpointOfRun(plan, target), originUs };
  const start = plan.oneClock === true ? startProcesses : startThreads;
  const startWorkers = start(plan, where, dependencies.workerScript);
  return leadRun(plan, target, { ...dependencies, startWorkers, originUs });
}

/** Runs on the workers given; `originUs` is the begin of the run on this machine's clock. */
export function leadRun(
  plan: Plan,
  target: OpenTarget,
  dependencies: Omit<RunDependencies, 'workerScript'> & {
    readonly startWorkers: StartWorkers;
    readonly originUs: number;
  },
): Run {
  const { startWorkers, originUs } = dependencies;
  const clock = machineClock();
  const { urls } = target.endpoint;
  const context: ConductorContext = {
    startWorkers,
    keepGoing: dependencies.keepGoing === true,
    steps: dependencies.steps,
    askedMs: dependencies.askedMs,
    secrets: target.secrets,
    hider: new SecretHider(target.secrets, target.endpoint.personal),
    passes: target.passes,
    identityCalls: target.identityCalls,
    nowUs: () => clock.nowUs() - originUs,
    problems: target.problems,
    targetUrls: urls.slice(0, countedTargets(urls.length)).map(shownUrl),
    target: {
      kind: target.kind,
      url: target.url,
      ...(plan.dialect !== 'auto' && { dialect: plan.dialect }),
      ...(target.emulated === true && { emulated: true }),
    },
    machine: {
      cores: availableParallelism(),
      node: process.versions.node,
      platform: process.platform,
      workers: plan.workers.length,
    },
  };
  return new Conductor(plan, context);
}

export function startThreads(
  plan: Plan,
  where: Pick<WorkerStart, 'endpoint' | 'originUs'>,
  workerScript: string,
  agent = 0,
): (listener: WorkerListener) => WorkerThreads {
  const shared = {
    memory: memberMemoryOfPlan(plan),
    reach: plan.timeToAll === true ? createTimeToAllMemory() : undefined,
    clock: hasSeveralClocks(plan) ? createClockMemory() : undefined,
    rows: where.endpoint.personal?.data?.shared === true ? createRowCounter() : undefined,
  };
  const starts = workersOfAgent(plan, agent).map((worker) => ({ plan, worker, ...where }));
  return (listener) => new WorkerThreads(workerScript, starts, shared, listener);
}

/** Adds source addresses on loopback where the connections need more ports. */
export function endpointOfRun({ connections }: Plan, target: OpenTarget): Endpoint {
  const endpoint = currentEndpoint(target);
  const sockets = connections * (endpoint.transport === undefined ? 1 : 2);
  const sources = endpoint.localAddresses ?? loopbackSourceAddresses(endpoint.urls, sockets);
  return sources === undefined ? endpoint : { ...endpoint, localAddresses: sources };
}

/** With the newest tokens: they may have been renewed while the user was asked something. */
function currentEndpoint({ endpoint: opened, passes, identityCalls }: OpenTarget): Endpoint {
  const endpoint = identityCalls ? withIdentities(opened, identityCalls.current) : opened;
  const { service } = endpoint;
  if (service === undefined || passes === undefined) return endpoint;
  const { kind, hub, audience, restUrl } = service;
  return { ...endpoint, service: { kind, hub, audience, restUrl, ...passes.current } };
}

/** Workers of one agent as threads that share memory. Each thread that ends is reported exactly once. */
export class WorkerThreads implements WorkerHost {
  readonly alive = new Set<number>();
  private readonly threads: ReadonlyMap<number, Worker>;
  private readonly clock: ClockDiscipline | undefined;

  constructor(
    workerScript: string,
    starts: readonly WorkerStart[],
    private readonly shared: Pick<ThreadStart, 'memory' | 'reach' | 'clock' | 'rows'>,
    listener: WorkerListener,
  ) {
    this.clock = shared.clock && new ClockDiscipline(machineClock(), shared.clock);
    const started = starts.map((start): [number, Worker] => {
      const { worker: index } = start;
      this.alive.add(index);
      const thread = new Worker(workerScript, {
        workerData: { ...start, ...this.shared } satisfies ThreadStart,
        name: `signalr-bench ${index}`,
        resourceLimits: { maxYoungGenerationSizeMb: 3 * semiSpaceMb },
      });
      thread.on('message', (fact: FromWorker) => {
        if (fact.type === 'closed') this.alive.delete(index);
        listener.fact(index, fact);
      });
      const lost = (error: Error): void => {
        if (this.alive.delete(index)) listener.lost(index, error);
      };
      thread.on('error', (error) =>
        lost(error instanceof Error ? error : new Error(String(error))),
      );
      thread.on('messageerror', lost);
      thread.on('exit', (code) =>
        lost(new Error(`worker ${index} ended by itself with code ${code}`)),
      );
      return [index, thread];
    });
    this.threads = new Map(started);
  }

  takingPart(): number {
    return countOpenConnections(this.shared.memory);
  }

  order(order: ToWorker | ClockOrder): void {
    if (order.type === 'clock') this.clock?.steer(order.offsetUs);
    else for (const index of this.alive) this.threads.get(index)!.postMessage(order);
  }

  async end(): Promise<void> {
    this.alive.clear();
    await Promise.all([...this.threads.values()].map((thread) => thread.terminate()));
  }
}

const keptErrorBytes = 8192;

/**
 * Third of a worker's young generation. V8 grows it to 16 MB while connections open and keeps it, which is most of
 * the memory of a few thousand connections. Messages are short-lived, so 2 MB cost no more CPU:
 * docs/evidence/performance.md, *Memory*.
 */
export const semiSpaceMb = 2;

export type WorkerProcess = Pick<
  ChildProcess,
  'send' | 'kill' | 'on' | 'once' | 'stderr' | 'exitCode' | 'signalCode' | 'pid'
>;

const forkWorker = (script: string): WorkerProcess =>
  fork(script, [], {
    // Histogram counts are typed arrays.
    serialization: 'advanced',
    execArgv: [`--max-semi-space-size=${semiSpaceMb}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: childEnvironment(),
  });

export const startProcesses =
  (plan: Plan, where: Pick<WorkerStart, 'endpoint' | 'originUs'>, workerScript: string) =>
  (listener: WorkerListener): WorkerProcesses =>
    new WorkerProcesses(
      plan.workers.map(({ worker }) => ({ plan, worker, ...where })),
      listener,
      () => forkWorker(workerScript),
    );

interface Member {
  readonly child: WorkerProcess;
  readonly ended: Promise<void>;
  readonly cpu: ReportedCpu;
  open: number;
  silentLooks: number;
}

/**
 * Each worker has its own descriptors, heap and event loop. Members are known by reports, as with agents on other
 * machines, but on one clock: nothing is ambiguous. A lost worker ends the run.
 */
export class WorkerProcesses implements WorkerHost {
  readonly alive = new Set<number>();
  private readonly members = new Map<number, Member>();
  private readonly suspendDetector = new SuspendDetector();
  /** Workers report every second once they connect. */
  private readonly looking: NodeJS.Timeout;
  private isReporting = false;

  constructor(
    starts: readonly WorkerStart[],
    private readonly listener: WorkerListener,
    forked: () => WorkerProcess,
  ) {
    for (const start of starts) this.members.set(start.worker, this.begin(start, forked()));
    this.looking = setInterval(() => this.look(), leadTimings.lookMs).unref();
  }

  /** Counts checks instead of time: while this process is suspended, no worker is silent. */
  private look(): void {
    if (!this.isReporting) return;
    for (const worker of this.alive) {
      const member = this.members.get(worker)!;
      member.silentLooks += 1;
      if (member.silentLooks * leadTimings.lookMs > leadTimings.silentMs)
        this.giveUp(
          worker,
          `it reports each second, and nothing came for ${leadTimings.silentMs / 1000} s`,
        );
    }
  }

  private begin(start: WorkerStart, child: WorkerProcess): Member {
    const { worker } = start;
    const { alive, listener } = this;
    alive.add(worker);
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (said.length < keptErrorBytes) said += chunk.toString('utf8');
    });
    const lost = (error: Error): void => {
      if (alive.delete(worker)) listener.lost(worker, error);
    };
    const ended = new Promise<void>((resolve) => {
      child.on('error', (error) => {
        lost(error);
        if (child.pid === undefined) resolve();
      });
      // `close` instead of `exit`: its stderr is complete by then.
      child.once('close', (code: number | null, signal: NodeJS.Signals | null) => {
        lost(endOf(worker, code, signal, said));
        resolve();
      });
    });
    const member: Member = { child, ended, cpu: new ReportedCpu(), open: 0, silentLooks: 0 };
    child.on('message', (message) => this.report(worker, member, message as ProcessReport));
    this.post(member, start);
    return member;
  }

  private report(worker: number, member: Member, { fact, open, cpuUs }: ProcessReport): void {
    if (!this.alive.has(worker)) return;
    member.open = open;
    member.silentLooks = 0;
    member.cpu.reported(cpuUs);
    if (fact === undefined) return;
    if (fact.type === 'sampled') member.cpu.sampled(fact.sample.atUs);
    if (fact.type === 'closed') this.alive.delete(worker);
    this.listener.fact(worker, fact satisfies FromWorker);
  }

  takingPart(): number {
    let sum = 0;
    for (const worker of this.alive) sum += this.members.get(worker)!.open;
    return sum;
  }

  measureCpu(fromUs: number): () => number {
    const own = new CpuMeter();
    const each = [...this.members.values()].map(({ cpu }) => cpu.from(fromUs));
    return () => each.reduce((sum, usedUs) => sum + usedUs(), own.usedUs());
  }

  /** A frozen process takes no other signal. */
  giveUp(worker: number, why: string): void {
    if (!this.alive.delete(worker)) return;
    this.members.get(worker)!.child.kill('SIGKILL');
    const words = `the process of worker ${worker} was silent for too long: ${why}`;
    this.listener.lost(worker, new Error(words));
  }

  suspendedUs(): number {
    return this.suspendDetector.takeUs();
  }

  order(order: ToWorker): void {
    this.isReporting ||= order.type === 'connect';
    for (const worker of this.alive) this.post(this.members.get(worker)!, order);
  }

  /** A dead process is reported by its `close`. */
  private post({ child }: Pick<Member, 'child'>, message: WorkerStart | ToWorker): void {
    child.send(message, () => undefined);
  }

  async end(): Promise<void> {
    this.alive.clear();
    this.suspendDetector.dispose();
    clearInterval(this.looking);
    await Promise.all(
      [...this.members.values()].map(({ child, ended }) => {
        child.kill('SIGKILL');
        return ended;
      }),
    );
  }
}

/** Carries the stack that the process wrote; its first line with an error says why. */
function endOf(worker: number, code: number | null, signal: string | null, said: string): Error {
  const how = signal === null ? `code ${String(code)}` : `signal ${signal}`;
  const why = said.split('\n').find((line) => /^(?:Uncaught )?\w*Error\b.*: /.test(line));
  const error = new Error(
    `the process of worker ${worker} ended by itself with ${how}${why === undefined ? '' : `: ${why.trim()}`}`,
  );
  if (said.trim() !== '') error.stack = said.slice(0, keptErrorBytes);
  return error;
}
