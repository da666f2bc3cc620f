import { inBackground } from '../../base/background';
import { Emitter, type Disposable } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import type { Plan } from '../../plan/plan';
import { buildRunPlan } from '../../plan/buildPlan';
import type { Override } from '../../scenario/read/overrides';
import type { Run } from '../../runner/lead/conductor';
import { missingForRun, type MachineLimits } from '../../runner/lead/machineLimits';
import { leadRun } from '../../runner/lead/startRun';
import type { StepSource } from '../../runner/lead/stepSource';
import { TakenOverRun } from '../../runner/lead/takenOverRun';
import { machineClock, type Clock } from '../../runner/machineClock';
import type { OpenTarget } from '../../targets/target';
import type { Bus } from '../bus/bus';
import { answerClock, clockName } from '../clock/referenceClock';
import {
  type Alive,
  dialectOf,
  encode,
  type LedOrder,
  type Member,
  mostMessageBytes,
  newRunId,
  type NumberedOrder,
  planHash,
  type RunOrder,
  subjectsOf,
} from '../messages';
import { AgentHosts, type AgentHostsContext } from './agentHosts';
import { gatherAgents } from './gatherAgents';
import { giveFirst, takeLead, type Lead, type PastRun, type PastView } from './takeLead';
import { recoverTime } from '../clock/clockInterval';

interface AgentsWanted {
  readonly agents: number;
  /** Absent: a new one. */
  readonly run?: string;
  readonly joinWithinMs?: number;
  /** See {@link Gathering}. */
  readonly isInCluster?: boolean;
  readonly lossMs?: number;
  /** The run is there for agents to join. */
  readonly opened?: (run: string) => void;
  /** Another process has begun the run, and may lead it still. */
  readonly held?: (run: string) => void;
  /** What others have got who look at the run; called before anything is said to them. */
  readonly viewed?: (view: PastView) => void;
  /** Its end is on the bus already: waits until somebody has seen it. */
  readonly over?: () => Promise<void>;
  /** The bus has come back without what was on it. */
  readonly renewed?: () => void;
  /** Called before the log goes away because not all agents came. */
  readonly failed?: (error: unknown) => Promise<void>;
  readonly joined?: (members: readonly Member[]) => void;
  readonly calledOff?: Promise<never>;
}

/** The scenario as it travels to agents. */
interface ScenarioText {
  readonly text: string;
  readonly overrides: readonly Override[];
  /** Of the files that it names, as far as they were read. */
  readonly files: Readonly<Record<string, string>>;
}

/** Agents that have come for a run, and what it takes to run on them instead of on this machine. */
export class Crew {
  private hosts: AgentHosts | undefined;
  /** The run goes on without this process. */
  private isOthers = false;
  /** Rejects when another process has taken the lead. */
  private readonly otherLeads: Promise<never>;
  private giveUp: (error: ExpectedError) => void = () => undefined;
  /** Until there are hosts that give signs of life: agents that have come, and others who would lead, wait for them. */
  private readonly signs: NodeJS.Timeout;

  private constructor(
    private readonly bus: Bus,
    readonly members: readonly Member[],
    private readonly wanted: AgentsWanted & { readonly run: string },
    private readonly renewed: Emitter<void>,
    private readonly lead: Lead,
  ) {
    this.signs = signsOfLife(bus, this.run);
    this.otherLeads = new Promise((_resolve, reject) => {
      this.giveUp = reject;
    });
    this.otherLeads.catch(() => undefined);
  }

  get run(): string {
    return this.wanted.run;
  }

  /** When a run began that another process has led before. */
  get startedAt(): Date | undefined {
    const { past } = this.lead;
    return past && new Date(past.order.startedAt);
  }

  /**
   * Makes the log of the run and waits for its agents; or takes over a run whose agents are there, and nobody who leads them.
   * @throws ExpectedError `agents-missing`, `run-id`, `run-led`, `run-over`; BusError
   */
  static async gather(bus: Bus, asked: AgentsWanted): Promise<Crew> {
    const run = asked.run ?? newRunId();
    const wanted = { ...asked, run };
    const subjects = subjectsOf(run);
    const renewed = new Emitter<void>();
    const open = (): Promise<void> =>
      bus.openLog(subjects.log, () => {
        renewed.fire();
        wanted.renewed?.();
      });
    await open();
    let lead = await takeLead(bus, run, subjects, () => wanted.held?.(run));
    if (lead.past?.isAlive === false && !lead.view.isOver) {
      // What is left of a run that nobody ended is none of this one.
      await bus.removeLog(subjects.log);
      await open();
      lead = await takeLead(bus, run, subjects);
    }
    const { marker, past, view } = lead;
    renewed.event(() => inBackground(bus.claim(marker, run).catch(() => false)));
    wanted.viewed?.(view);
    const signs = signsOfLife(bus, run);
    try {
      if (view.isOver) {
        await wanted.over?.();
        throw new ExpectedError('run-over', `Run ${run} is over.`);
      }
      if (past !== undefined) return new Crew(bus, past.members, wanted, renewed, lead);
      wanted.opened?.(run);
      const { agents, joinWithinMs, joined, calledOff, isInCluster } = wanted;
      const members = await gatherAgents(bus, {
        ...{ run, subjects, agents, calledOff, renewed: renewed.event },
        ...(joinWithinMs !== undefined && { withinMs: joinWithinMs }),
        ...(joined && { joined }),
        ...(isInCluster && { isInCluster }),
      });
      return new Crew(bus, members, wanted, renewed, lead);
    } catch (error) {
      if (!view.isOver) await wanted.failed?.(error);
      if (past === undefined && !view.isOver) await letGo(bus, run, wanted);
      await bus.removeLog(subjects.log).catch(() => undefined);
      throw error;
    } finally {
      clearInterval(signs);
    }
  }

  /** Agents on other machines, as far as this one knows. */
  async elsewhere(): Promise<Member[]> {
    const name = await clockName();
    return this.members.filter(({ clock }) => name === undefined || clock !== name);
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

  /** So many workers on each agent. */
  readonly buildPlan = (...[scenario, options]: Parameters<typeof buildRunPlan>): Plan => {
    const agents = this.members.length;
    const { past } = this.lead;
    const {
      workersEach = options.workers,
      seed = options.seed,
      runId = options.runId,
    } = past?.order ?? {};
    const workers = workersEach * agents;
    return buildRunPlan(scenario, { ...options, workers, agents, seed, runId });
  };

  /** @throws ExpectedError `agent-refused`, `agent-failed`, `agents-size`, `agents-hub`, `run-led` */
  async startRun(
    plan: Plan,
    target: OpenTarget,
    given: { readonly keepGoing: boolean; readonly askedMs: number; readonly steps?: StepSource },
    scenario: ScenarioText,
  ): Promise<Run> {
    const name = await clockName();
    const { past } = this.lead;
    if (past !== undefined) return this.takeOver(past, plan, target, given, name);
    const { bus, members, run, wanted } = this;
    const subjects = subjectsOf(run);
    const clock = machineClock();
    const originUs = clock.nowUs();
    const order: RunOrder = {
      type: 'run',
      ...scenario,
      ...{ workersEach: plan.workers.length / members.length, runId: plan.runId, seed: plan.seed },
      ...{ dialect: plan.dialect, planHash: planHash(plan), originUs },
      startedAt: new Date().toISOString(),
      ...(name !== undefined && { clock: name }),
      ...startedHub(target, members, name),
    };
    const bytes = Buffer.byteLength(encode(order));
    if (bytes > mostMessageBytes)
      throw new ExpectedError(
        'agents-size',
        `The scenario and its files have ${Math.ceil(bytes / 1000)} KB; ${mostMessageBytes / 1000} KB at most go to agents.`,
      );
    const answering = answerClock(bus, subjects.clock, () => clock.nowUs());
    const hosts = await AgentHosts.start(this.contextOf(order), wanted.calledOff).catch(
      (error: unknown) => {
        answering.dispose();
        throw error;
      },
    );
    this.hosts = hosts;
    clearInterval(this.signs);
    return this.led(
      answering,
      leadRun(plan, target, {
        ...given,
        originUs,
        startWorkers: (listener) => hosts.lead(listener),
      }),
    );
  }

  /** Leads the run on, or ends it with what was measured where that cannot be. */
  private async takeOver(
    past: PastRun,
    given: Plan,
    target: OpenTarget,
    rest: Parameters<Crew['startRun']>[2],
    name: string | undefined,
  ): Promise<Run> {
    const { order, orders, reportedUs } = past;
    const plan = { ...given, dialect: dialectOf(order.dialect) };
    if (planHash(plan) !== order.planHash) {
      this.isOthers = true;
      throw new ExpectedError(
        'run-led',
        `Run ${this.run} goes on with another scenario or another version: give another id with --run.`,
      );
    }
    const clock = machineClock();
    const { bus } = this;
    const subjects = subjectsOf(this.run);
    const found = await this.timeOf(past, plan, target, clock, name);
    const [time, problem] = typeof found === 'string' ? [undefined, found] : [found, undefined];
    const led: LedOrder = {
      ...{ type: 'led', errorUs: time?.errorUs ?? 0 },
      ...(time !== undefined && { offsetUs: time.offsetUs }),
      ...(time !== undefined && name !== undefined && { clock: name }),
    };
    const number = await giveFirst(bus, subjects, orders, led);
    const answering =
      time === undefined
        ? { dispose: () => undefined }
        : answerClock(bus, subjects.clock, () => clock.nowUs() + time.offsetUs, number);
    const originUs =
      time === undefined ? clock.nowUs() - reportedUs : order.originUs - time.offsetUs;
    const hosts = AgentHosts.takeOver({ ...this.contextOf(order), past: { number, order: led } });
    this.hosts = hosts;
    clearInterval(this.signs);
    return this.led(
      answering,
      leadRun(plan, target, {
        ...rest,
        originUs,
        startWorkers: (listener) => hosts.lead(listener),
        begin: (...run) => new TakenOverRun(...run, problem === undefined ? {} : { problem }),
      }),
    );
  }

  /** What this clock lacks to the time of the run; or why that cannot be led on, in a sentence. */
  private async timeOf(
    { time, members }: PastRun,
    plan: Plan,
    { kind }: OpenTarget,
    clock: Clock,
    name: string | undefined,
  ): Promise<{ readonly offsetUs: number; readonly errorUs: number } | string> {
    if (kind === 'local') return `${replaced}, and the embedded hub with it`;
    if (name !== undefined && name === time.clock) return { offsetUs: time.offsetUs, errorUs: 0 };
    const hasOther = `${replaced}, and the one in its place has another clock`;
    if (membersMove(plan))
      return `${hasOther}: who comes and goes meanwhile cannot be counted by it`;
    const { bus, run } = this;
    const found = await recoverTime(bus, subjectsOf(run), members, () => clock.nowUs());
    return found === undefined
      ? `${hasOther}: the agents do not agree on the time`
      : { offsetUs: found.offsetUs, errorUs: found.boundUs };
  }

  private contextOf(order: RunOrder): AgentHostsContext {
    const { bus, members, run, wanted, renewed, lead } = this;
    const { lossMs } = wanted;
    return {
      ...{ bus, run, subjects: subjectsOf(run), members, order, renewed: renewed.event },
      successor: lead.successor,
      ousted: () => this.ousted(),
      ...(lossMs !== undefined && { lossMs }),
    };
  }

  private led(answering: Disposable, started: Run): Run {
    const { onSnapshot } = started;
    const finished = Promise.race([started.finished, this.otherLeads]);
    const over = (): void => answering.dispose();
    finished.then(over, over);
    this.otherLeads.catch(() => started.stop('stopped'));
    return { onSnapshot, finished, stop: (reason) => started.stop(reason) };
  }

  /** What was on the bus is that of the other one now. */
  private ousted(): void {
    this.isOthers = true;
    this.giveUp(
      new ExpectedError(
        'run-led',
        `Run ${this.run} is led by another process since this one was cut off: its result is there.`,
      ),
    );
  }

  /** What is on the bus stays there, for whoever takes the place of this process. */
  async leave(): Promise<void> {
    clearInterval(this.signs);
    await this.hosts?.end();
  }

  /** Nothing of the run is left on the bus. */
  async dispose(): Promise<void> {
    await this.leave();
    if (this.hosts === undefined && this.lead.past === undefined)
      await letGo(this.bus, this.run, this.wanted);
    if (!this.isOthers) await this.bus.removeLog(subjectsOf(this.run).log).catch(() => undefined);
  }
}

/**
 * Agents that have come for a run that does not start are free for the next one at once. Not in a cluster, which takes them
 * away with all else, and where one that ends well is not started again for the next coordinator.
 */
async function letGo(bus: Bus, run: string, { isInCluster }: AgentsWanted): Promise<void> {
  if (isInCluster === true) return;
  const first: NumberedOrder = { number: 1, order: { type: 'end' } };
  await bus.claim(`${subjectsOf(run).lead}.1`, encode(first)).catch(() => undefined);
}

const signEveryMs = 1000;

function signsOfLife(bus: Bus, run: string): NodeJS.Timeout {
  const { alive } = subjectsOf(run);
  return setInterval(() => bus.say(alive, encode({} satisfies Alive)), signEveryMs).unref();
}

const replaced = 'The process that led the run was lost';

/** By how much clocks may differ is part of what is counted near a join or leave, and fixed when a step begins. */
const membersMove = ({ life, entries }: Plan): boolean =>
  life !== undefined ||
  entries.some(({ run }) => run.othersMove === true || run.session?.joins === true);

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
        ? `The embedded hub can be reached on this machine only, but ${elsewhere[0]!.host} is another one: name the URL of a hub as target.`
        : 'Agents need a target of their own: name the connection string of a service as target.',
    );
  return { startedHub: url };
}
