import { Emitter } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import type { Plan } from '../../plan/plan';
import { buildRunPlan } from '../../plan/buildPlan';
import type { Override } from '../../scenario/read/overrides';
import type { Run } from '../../runner/lead/conductor';
import { missingForRun, type MachineLimits } from '../../runner/lead/machineLimits';
import { leadRun } from '../../runner/lead/startRun';
import type { StepSource } from '../../runner/lead/stepSource';
import { machineClock } from '../../runner/machineClock';
import type { OpenTarget } from '../../targets/target';
import type { Bus } from '../bus/bus';
import { answerClock, clockName } from '../clock/referenceClock';
import { encode, mostMessageBytes, subjectsOf, type Member, type RunOrder } from '../messages';
import { newRunId } from '../newRunId';
import { planHash } from '../planHash';
import { AgentHosts } from './agentHosts';
import { gatherAgents } from './gatherAgents';

export interface AgentsWanted {
  readonly agents: number;
  /** Absent: a new one. */
  readonly run?: string;
  readonly joinWithinMs?: number;
  readonly lossMs?: number;
  /** The run is there for agents to join. */
  readonly opened?: (run: string) => void;
  /** The bus has come back without what was on it. */
  readonly renewed?: () => void;
  /** Called before the log goes away because not all agents came. */
  readonly failed?: (error: unknown) => Promise<void>;
  readonly joined?: (members: readonly Member[]) => void;
  readonly calledOff?: Promise<never>;
}

/** The scenario as it travels to agents. */
export interface ScenarioText {
  readonly text: string;
  readonly overrides: readonly Override[];
  /** Of the files that it names, as far as they were read. */
  readonly files: Readonly<Record<string, string>>;
}

/** Agents that have come for a run, and what it takes to run on them instead of on this machine. */
export class Crew {
  private hosts: AgentHosts | undefined;

  private constructor(
    private readonly bus: Bus,
    readonly run: string,
    readonly members: readonly Member[],
    private readonly wanted: AgentsWanted,
    private readonly renewed: Emitter<void>,
  ) {}

  /** Makes the log of the run and waits for its agents. @throws ExpectedError `agents-missing`, `run-id`; BusError */
  static async gather(bus: Bus, wanted: AgentsWanted): Promise<Crew> {
    const run = wanted.run ?? newRunId();
    const subjects = subjectsOf(run);
    const renewed = new Emitter<void>();
    await bus.openLog(subjects.log, () => {
      renewed.fire();
      wanted.renewed?.();
    });
    try {
      wanted.opened?.(run);
      const { agents, joinWithinMs, joined, calledOff } = wanted;
      const members = await gatherAgents(bus, {
        ...{ run, subjects, agents, calledOff, renewed: renewed.event },
        ...(joinWithinMs !== undefined && { withinMs: joinWithinMs }),
        ...(joined && { joined }),
      });
      return new Crew(bus, run, members, wanted, renewed);
    } catch (error) {
      await wanted.failed?.(error);
      await bus.removeLog(subjects.log).catch(() => undefined);
      throw error;
    }
  }

  /** Of the weakest agent. */
  readonly machineLimits = (): Promise<MachineLimits> => {
    const least = (pick: (member: Member) => number | null): number | null => {
      const known = this.members.map(pick).filter((value) => value !== null);
      return known.length === 0 ? null : Math.min(...known);
    };
    return Promise.resolve({
      cores: least(({ cores }) => cores)!,
      fileDescriptors: least(({ fileDescriptors }) => fileDescriptors),
      localPorts: least(({ localPorts }) => localPorts),
    });
  };

  /** What an agent lacks for its share. */
  readonly missingForRun = (...[plan, ...more]: Parameters<typeof missingForRun>) => {
    const share = Math.ceil(plan.connections / this.members.length);
    const missing = missingForRun({ ...plan, connections: share }, ...more);
    return missing && `On each of ${this.members.length} agents: ${missing}`;
  };

  /** So many workers on each agent. @throws ExpectedError `few-connections` */
  readonly buildPlan = (...[scenario, options]: Parameters<typeof buildRunPlan>): Plan => {
    const agents = this.members.length;
    const workers = options.workers * agents;
    const plan = buildRunPlan(scenario, { ...options, workers, agents });
    if (plan.connections >= agents) return plan;
    throw new ExpectedError(
      'few-connections',
      `${agents} agents need at least ${agents} connections; the scenario has ${plan.connections}.`,
    );
  };

  /** @throws ExpectedError `agent-refused`, `agent-failed`, `agents-size`, `agents-hub` */
  async startRun(
    plan: Plan,
    target: OpenTarget,
    given: { readonly keepGoing: boolean; readonly askedMs: number; readonly steps?: StepSource },
    scenario: ScenarioText,
  ): Promise<Run> {
    const { bus, members, run, wanted } = this;
    const subjects = subjectsOf(run);
    const clock = machineClock();
    const originUs = clock.nowUs();
    const answering = answerClock(bus, subjects.clock, () => clock.nowUs());
    const name = await clockName();
    const order: RunOrder = {
      type: 'run',
      ...scenario,
      ...{ workersEach: plan.workers.length / members.length, runId: plan.runId, seed: plan.seed },
      ...{ dialect: plan.dialect, planHash: planHash(plan), originUs },
      ...(name !== undefined && { clock: name }),
      ...startedHub(target, members, name),
    };
    const bytes = Buffer.byteLength(encode(order));
    if (bytes > mostMessageBytes)
      throw new ExpectedError(
        'agents-size',
        `The scenario and its files have ${Math.ceil(bytes / 1000)} KB; ${mostMessageBytes / 1000} KB at most go to agents.`,
      );
    const { lossMs, calledOff } = wanted;
    const renewed = this.renewed.event;
    const hosts = await AgentHosts.start(
      { bus, run, subjects, members, order, renewed, ...(lossMs !== undefined && { lossMs }) },
      calledOff,
    ).catch((error: unknown) => {
      answering.dispose();
      throw error;
    });
    this.hosts = hosts;
    const started = leadRun(plan, target, {
      ...given,
      originUs,
      startWorkers: (listener) => hosts.lead(listener),
    });
    const over = (): void => answering.dispose();
    started.finished.then(over, over);
    return started;
  }

  /** What is on the bus stays there, for whoever takes the place of this process. */
  async leave(): Promise<void> {
    await this.hosts?.end();
  }

  /** Nothing of the run is left on the bus. */
  async dispose(): Promise<void> {
    await this.leave();
    await this.bus.removeLog(subjectsOf(this.run).log).catch(() => undefined);
  }
}

/** Agents go to the hub that was started here, where they are on this machine. */
function startedHub(
  { kind, endpoint }: OpenTarget,
  members: readonly Member[],
  clock: string | undefined,
): Pick<RunOrder, 'startedHub'> {
  if (kind !== 'local') return {};
  const elsewhere = members.filter((member) => clock === undefined || member.clock !== clock);
  const [url] = endpoint.urls;
  if (elsewhere.length > 0 || endpoint.service !== undefined || url === undefined)
    throw new ExpectedError(
      'agents-hub',
      endpoint.service === undefined
        ? `The embedded hub can be reached on this machine only, but ${elsewhere[0]!.host} is another one: give the URL of a hub with --target.`
        : 'Agents need a target of their own: give the connection string of a service with --target.',
    );
  return { startedHub: url };
}
