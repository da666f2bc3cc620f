import type { RunSummary } from '../../../src/measure/summary';
import { serveRun, type AgentEnding, type AgentParts } from '../../../src/agents/agent/agent';
import { Crew } from '../../../src/agents/coordinate/crew';
import { buildRunPlan, createSearchStep } from '../../../src/plan/buildPlan';
import { agentCount, workersOfAgent, type Plan } from '../../../src/plan/plan';
import type { FromWorker, ToWorker } from '../../../src/messages/worker';
import { noConnections, type StepSample, type WorkerSample } from '../../../src/measure/sample';
import type { Run } from '../../../src/engine/lead/run';
import { SearchedSteps } from '../../../src/engine/lead/stepSource';
import { parseScenario } from '../../../src/scenario/parseScenario';
import type { Scenario } from '../../../src/scenario/scenario';
import type { OpenTarget } from '../../../src/targets/target';
import { workerSampleOf } from '../../fakes/sample';
import type { VirtualTime } from '../../fakes/virtualTime';
import { MemoryBus, type MemoryLink } from './memoryBus';

export type Counted = (
  worker: number,
  order: Extract<ToWorker, { readonly type: 'step' }>,
  plan: Plan,
) => Partial<Omit<WorkerSample, 'steps'>> & { readonly steps: readonly StepSample[] };

const realTimeout = globalThis.setTimeout;

interface BegunRun {
  readonly crew: Crew;
  readonly run: Run;
  readonly working: readonly Promise<AgentEnding>[];
}

/** A run on agents of which only the counts and the time are made up. */
export class RunOnAgents {
  readonly id = 'virtual';
  readonly scenario: Scenario;

  constructor(
    private readonly time: VirtualTime,
    private readonly text: string,
    private readonly counted: Counted,
    private readonly bus = new MemoryBus(),
  ) {
    this.scenario = parseScenario(text).scenario!;
  }

  async summary(agents: number): Promise<RunSummary> {
    const { crew, run, working } = await this.begin(agents);
    const ended = async (): Promise<RunSummary> => {
      const summary = await run.finished;
      await crew.dispose();
      await Promise.all(working);
      return summary;
    };
    return this.time.until(ended(), 24 * 3_600_000);
  }

  async begin(agents: number, lead = this.bus.link()): Promise<BegunRun> {
    const state = { isOver: false };
    const over = (): void => void (state.isOver = true);
    const beginning = this.start(agents, lead);
    beginning.then(over, over);
    // Files are read meanwhile, which takes none of this time.
    while (!state.isOver) {
      await new Promise((resolve) => realTimeout(resolve, 1));
      await this.time.to(this.time.nowMs + 20);
    }
    return beginning;
  }

  private async start(agents: number, lead: MemoryLink): Promise<BegunRun> {
    const run = this.id;
    const leave = new AbortController().signal;
    const working = Array.from({ length: agents }, () =>
      serveRun(this.bus.link(), this.parts, { run, say: () => undefined, leave }),
    );
    const crew = await Crew.gather(lead, { agents, run });
    const { scenario, text } = this;
    const plan = crew.buildPlan(scenario, { workers: 1, seed: 1, runId: 7 });
    const target = {
      ...{ kind: 'hubUrl', url: 'http://127.0.0.1:1/', endpoint: { urls: [] }, secrets: [] },
      dispose: () => Promise.resolve(),
    } as unknown as OpenTarget;
    const steps =
      plan.search && new SearchedSteps(plan.search, createSearchStep(scenario), agentCount(plan));
    const given = { keepGoing: true, askedMs: 0, ...(steps && { steps }) };
    const begun = await crew.startRun(plan, target, given, { text, overrides: [], files: {} });
    return { crew, run: begun, working };
  }

  private get parts(): AgentParts {
    return {
      scenarioOf: ({ text }) => Promise.resolve(parseScenario(text).scenario!),
      planOf: (scenario, { seed, runId, workersEach }, agents) =>
        Promise.resolve(
          buildRunPlan(scenario, { workers: workersEach * agents, agents, seed, runId }),
        ),
      openTarget: () =>
        Promise.resolve({
          ...{ endpoint: {}, secrets: [] },
          dispose: () => Promise.resolve(),
        } as unknown as OpenTarget),
      machineLimits: () => Promise.resolve({ cores: 2, fileDescriptors: null, localPorts: null }),
      startWorkers: ({ plan, agent }, listener) => {
        const alive = new Set(workersOfAgent(plan, agent));
        const say = (fact: (worker: number) => FromWorker): void => {
          for (const worker of [...alive]) {
            const said = fact(worker);
            if (said.type === 'closed') alive.delete(worker);
            listener.fact(worker, said);
          }
        };
        let open = 0;
        const openOf = (worker: number): number =>
          Math.max(0, Math.ceil((open - worker) / plan.workers.length));
        const counted = new Map<number, Partial<WorkerSample>>();
        const sample = (flush?: number): void =>
          say((worker) => {
            const { unsettled, ...counts } = counted.get(worker) ?? {};
            // What is open stays so until the next step.
            const stays = unsettled !== undefined && { unsettled };
            counted.set(worker, { ...stays });
            const connections = { soFar: { ...noConnections, connected: openOf(worker) } };
            return {
              ...{ type: 'sampled', due: false, ...(flush !== undefined && { flush }) },
              sample: workerSampleOf({ worker, connections, ...counts, ...stays }),
            };
          });
        setTimeout(() => say(() => ({ type: 'ready' })));
        return {
          alive,
          takingPart: () => [...alive].reduce((sum, worker) => sum + openOf(worker), 0),
          order: (order) => {
            if (order.type === 'connect') {
              open = order.to;
              say(() => ({ type: 'connected' }));
            } else if (order.type === 'prepare') say(() => ({ type: 'prepared' }));
            else if (order.type === 'shrink') open = order.from;
            else if (order.type === 'flush') sample(order.flush);
            else if (order.type === 'close') say(() => ({ type: 'closed' }));
            else if (order.type === 'step') {
              const { warmupMs, measureMs } = order.step ?? plan.steps[order.index - 1]!;
              setTimeout(
                () => {
                  for (const worker of alive)
                    counted.set(worker, this.counted(worker, order, plan));
                  sample();
                  const atUs = order.atUs + (warmupMs + measureMs) * 1000;
                  say(() => ({ type: 'stepSent', index: order.index, atUs }));
                },
                1000 + warmupMs + measureMs,
              );
            }
          },
          end: () => {
            alive.clear();
            return Promise.resolve();
          },
        };
      },
    };
  }
}
