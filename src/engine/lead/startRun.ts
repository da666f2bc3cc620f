import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Endpoint } from '../../base/endpoint';
import { haveOwnClocks, workersOfAgent } from '../../plan/agents';
import type { Plan } from '../../plan/plan';
import type {
  ClockOrder,
  WorkerStart,
  FromWorker,
  StartWorkers,
  ToWorker,
  WorkerHost,
  WorkerListener,
} from '../../messages/worker';
import { SecretHider } from '../../targets/identities/rowSecrets';
import { withIdentities, type OpenTarget } from '../../targets/target';
import { loopbackSources } from '../../wire/socket/localAddresses';
import { shownUrl } from '../../wire/connectFailure';
import { ClockDiscipline, clockMemory, machineClock } from '../machineClock';
import { memoryOf, openConnections, type ThreadStart } from '../prepare/sharedMembers';
import { reachMemory } from '../prepare/sharedReach';
import { countedTargets } from '../recorder';
import { rowMemory } from '../send/messageRows';
import { semiSpaceMb, startProcesses } from './workerProcesses';
import { Conductor, type ConductorContext, type Run } from './conductor';
import type { StepSource } from './stepSource';

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
    memory: memoryOf(plan),
    reach: plan.timeToAll === true ? reachMemory() : undefined,
    clock: haveOwnClocks(plan) ? clockMemory() : undefined,
    rows: where.endpoint.personal?.data?.shared === true ? rowMemory() : undefined,
  };
  const starts = workersOfAgent(plan, agent).map((worker) => ({ plan, worker, ...where }));
  return (listener) => new WorkerThreads(workerScript, starts, shared, listener);
}

/** Adds source addresses on loopback where the connections need more ports. */
export function endpointOfRun({ connections }: Plan, target: OpenTarget): Endpoint {
  const endpoint = currentEndpoint(target);
  const sockets = connections * (endpoint.transport === undefined ? 1 : 2);
  const sources = endpoint.localAddresses ?? loopbackSources(endpoint.urls, sockets);
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
    return openConnections(this.shared.memory);
  }

  /** Clock orders exist only with several agents. */
  order(order: ToWorker | ClockOrder): void {
    if (order.type === 'clock') this.clock?.steer(order.offsetUs);
    else for (const index of this.alive) this.threads.get(index)!.postMessage(order);
  }

  async end(): Promise<void> {
    this.alive.clear();
    await Promise.all([...this.threads.values()].map((thread) => thread.terminate()));
  }
}
