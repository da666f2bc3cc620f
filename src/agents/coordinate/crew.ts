import { inBackground, Emitter } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import type { Plan } from '../../plan/plan';
import type { StartWorkers } from '../../messages/worker';
import { buildRunPlan } from '../../plan/buildPlan';
import type { Override } from '../../scenario/read/overrides';
import type { Run } from '../../engine/lead/run';
import { missingForRun, type MachineLimits } from '../../engine/lead/machineLimits';
import { leadRun } from '../../engine/lead/startRun';
import type { StepSource } from '../../engine/lead/stepSource';
import { machineClock } from '../../engine/machineClock';
import type { OpenTarget } from '../../targets/target';
import type { Bus } from '../bus/bus';
import { answerClock, clockName } from '../clock/referenceClock';
import {
  type Alive,
  encodeMessage,
  type Member,
  mostMessageBytes,
  newRunId,
  type NumberedOrder,
  planHash,
  type RunOrder,
  runSubjects,
} from '../messages';
import { AgentHosts } from './agentHosts';
import { gatherAgents } from './gatherAgents';

interface AgentsWanted {
  readonly agents: number;
  readonly run?: string;
  readonly joinWithinMs?: number;
  readonly isInCluster?: boolean;
  readonly lossMs?: number;
  readonly opened?: (run: string) => void;
  readonly renewed?: () => void;
  /** Called before the log is removed because agents are missing. */
  readonly failed?: (error: unknown) => Promise<void>;
  readonly joined?: (members: readonly Member[]) => void;
  readonly calledOff?: Promise<never>;
}

interface ScenarioText {
  readonly text: string;
  readonly overrides: readonly Override[];
  readonly files: Readonly<Record<string, string>>;
}

/** The agents of a run, and what it takes to run on them instead of this machine. */
export class Crew {
  private hosts: AgentHosts | undefined;

  private constructor(
    private readonly bus: Bus,
    readonly members: readonly Member[],
    private readonly wanted: AgentsWanted & { readonly run: string },
    private readonly renewed: Emitter<void>,
    /** Timer of the signs of life that agents and viewers wait for. */
    private readonly signs: NodeJS.Timeout,
  ) {}

  get run(): string {
    return this.wanted.run;
  }

  /**
   * Makes the log of the run and waits for its agents.
   * @throws ExpectedError `agents-missing`, `run-id`, `run-led`; BusError
   */
  static async gather(bus: Bus, asked: AgentsWanted): Promise<Crew> {
    const run = asked.run ?? newRunId();
    const wanted = { ...asked, run };
    const subjects = runSubjects(run);
    const renewed = new Emitter<void>();
    await bus.openLog(subjects.log, () => {
      renewed.fire();
      wanted.renewed?.();
    });
    if (!(await bus.claim(subjects.leader, run)))
      throw new ExpectedError(
        'run-led',
        `Run ${run} was begun by another process: look at it (attach ${run}), or give another id with --run.`,
      );
    renewed.event(() => inBackground(bus.claim(subjects.leader, run).catch(() => false)));
    const signs = signsOfLife(bus, run);
    try {
      wanted.opened?.(run);
      const { agents, joinWithinMs, joined, calledOff, isInCluster } = wanted;
      const members = await gatherAgents(bus, {
        ...{ run, subjects, agents, calledOff, joined, isInCluster },
        withinMs: joinWithinMs,
        renewed: renewed.event,
      });
      return new Crew(bus, members, wanted, renewed, signs);
    } catch (error) {
      await wanted.failed?.(error);
      clearInterval(signs);
      await letGo(bus, run);
      await bus.removeLog(subjects.log).catch(() => undefined);
      throw error;
    }
  }

  async elsewhere(): Promise<Member[]> {
    const name = await clockName();
    return this.members.filter(({ clock }) => name === undefined || clock !== name);
  }

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

  readonly missingForRun = (...[plan, ...more]: Parameters<typeof missingForRun>) => {
    const share = Math.ceil(plan.connections / this.members.length);
    const missing = missingForRun({ ...plan, connections: share }, ...more);
    return missing && `On each of ${this.members.length} agents: ${missing}`;
  };

  readonly buildPlan = (...[scenario, options]: Parameters<typeof buildRunPlan>): Plan => {
    const agents = this.members.length;
    return buildRunPlan(scenario, { ...options, workers: options.workers * agents, agents });
  };

  /** @throws ExpectedError `agent-refused`, `agent-failed`, `agents-size`, `agents-hub` */
  async startRun(
    plan: Plan,
    target: OpenTarget,
    options: { readonly keepGoing: boolean; readonly askedMs: number; readonly steps?: StepSource },
    scenario: ScenarioText,
  ): Promise<Run> {
    const name = await clockName();
    const { bus, members, run, renewed } = this;
    const { calledOff, lossMs } = this.wanted;
    const subjects = runSubjects(run);
    const clock = machineClock();
    const originUs = clock.nowUs();
    const order: RunOrder = {
      type: 'run',
      ...scenario,
      ...{ workersEach: plan.workers.length / members.length, runId: plan.runId, seed: plan.seed },
      ...{ dialect: plan.dialect, planHash: planHash(plan), originUs },
      clock: name,
      ...startedHub(target, await this.elsewhere()),
    };
    const bytes = Buffer.byteLength(encodeMessage(order));
    if (bytes > mostMessageBytes)
      throw new ExpectedError(
        'agents-size',
        `The scenario and its files have ${Math.ceil(bytes / 1000)} KB; ${mostMessageBytes / 1000} KB at most go to agents.`,
      );
    const answering = answerClock(bus, subjects.clock, () => clock.nowUs());
    const over = (): void => answering.dispose();
    try {
      const context = { bus, run, subjects, members, order, lossMs, renewed: renewed.event };
      const hosts = await AgentHosts.start(context, calledOff);
      this.hosts = hosts;
      const startWorkers: StartWorkers = (listener) => hosts.lead(listener);
      const started = leadRun(plan, target, { ...options, originUs, startWorkers });
      started.finished.then(over, over);
      return started;
    } catch (error) {
      over();
      throw error;
    }
  }

  async leave(): Promise<void> {
    clearInterval(this.signs);
    await this.hosts?.end();
  }

  async dispose(): Promise<void> {
    await this.leave();
    if (this.hosts === undefined) await letGo(this.bus, this.run);
    await this.bus.removeLog(runSubjects(this.run).log).catch(() => undefined);
  }
}

/** Frees agents that came for a run that does not start. */
async function letGo(bus: Bus, run: string): Promise<void> {
  const first: NumberedOrder = { number: 1, order: { type: 'end' } };
  await bus
    .append(`${runSubjects(run).lead}.1`, encodeMessage(first), 'lead.end')
    .catch(() => undefined);
}

const signEveryMs = 1000;

function signsOfLife(bus: Bus, run: string): NodeJS.Timeout {
  const { alive } = runSubjects(run);
  return setInterval(() => bus.say(alive, encodeMessage({} satisfies Alive)), signEveryMs).unref();
}

/** URL of the hub that was started here; only agents on this machine reach it. */
function startedHub(
  { kind, endpoint }: OpenTarget,
  elsewhere: readonly Member[],
): Pick<RunOrder, 'startedHub'> {
  if (kind !== 'local') return {};
  const [url] = endpoint.urls;
  if (elsewhere.length > 0 || endpoint.service !== undefined || url === undefined)
    throw new ExpectedError(
      'agents-hub',
      endpoint.service === undefined
        ? `The embedded hub can be reached on this machine only, but ${elsewhere[0]!.host} is another one: name the URL of a hub as target.`
        : 'Agents need a target of their own: name the connection string of a service as target.',
    );
  return { startedHub: url };
}
