/** One machine's share of a run: takes a place, makes the plan, and leads its worker threads as the coordinator says. */
import { inBackground, type Disposable } from '../../base/async';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { ExpectedError } from '../../base/expectedError';
import { pause } from '../../engine/pause';
import type { Plan } from '../../plan/plan';
import type {
  ClockOrder,
  FactOf,
  FromWorker,
  ToWorker,
  WorkerHost,
  WorkerListener,
} from '../../messages/worker';
import { toolVersion } from '../../results/result';
import type { MachineLimits } from '../../engine/lead/machineLimits';
import { machineClock } from '../../engine/machineClock';
import type { Scenario } from '../../scenario/scenario';
import { SecretHider } from '../../targets/identities/rowSecrets';
import type { OpenTarget } from '../../targets/target';
import { type Bus, InOrder, LogWriter } from '../bus/bus';
import { clockName, ReferenceClock } from '../clock/referenceClock';
import {
  type AgentFact,
  type Beat,
  cutToShow,
  encode,
  type JoinAnswer,
  type JoinQuestion,
  joinSubject,
  type LeadMessage,
  type Member,
  type NumberedFact,
  planHash,
  readAlive,
  readJoinAnswer,
  readOrder,
  type RunOrder,
  type RunSubjects,
  subjectsOf,
  usualSilenceMs,
} from '../messages';

/** What an agent works with; tests put fakes in its place. */
export interface AgentParts {
  /** @throws ExpectedError when the scenario has errors */
  readonly scenarioOf: (order: RunOrder) => Promise<Scenario>;
  readonly planOf: (scenario: Scenario, order: RunOrder, agents: number) => Promise<Plan>;
  readonly openTarget: (scenario: Scenario, order: RunOrder) => Promise<OpenTarget>;
  readonly machineLimits: () => Promise<MachineLimits>;
  readonly startWorkers: (share: AgentShare, listener: WorkerListener) => AgentWorkers;
}

/** What the workers of one agent start with. */
interface AgentShare {
  readonly plan: Plan;
  readonly target: OpenTarget;
  /** From 0. */
  readonly agent: number;
  /** Zero of the run on this machine's clock, microseconds. */
  readonly originUs: number;
}

export interface AgentWorkers extends WorkerHost {
  order(order: ToWorker | ClockOrder): void;
}

/**
 * How an agent's run ended. `done`: in order. `fenced`: every place was taken. `refused`: it may not take part.
 * `failed`: it could not go on. `alone`: nothing was heard any more. `left`: somebody asked it to leave.
 */
export interface AgentEnding {
  readonly kind: 'done' | 'fenced' | 'refused' | 'failed' | 'alone' | 'left';
  readonly text?: string;
}

interface AgentOptions {
  /** Absent: the first run that has room. */
  readonly run?: string | undefined;
  /** Name of the machine in its cluster. */
  readonly node?: string | undefined;
  readonly say: (text: string) => void;
  /** Ends the agent; its reason is said to the coordinator. */
  readonly leave: AbortSignal;
  /** Time without a word of the coordinator after which it stops sending. */
  readonly silenceMs?: number;
}

const askEveryMs = 1000;
const beatEveryMs = 500;
/** What it measured is offered to a bus that is away for so long after its end. */
const lastWordsMs = 5 * 60_000;
const leavingWordsMs = 10_000;
/** From its last word on the bus until the coordinator says that it has it; the bus may lose it meanwhile. */
const takenWithinMs = 10_000;
const closeMs = 3000;
/** Numbers of a report that goes with the sample after it; one that is longer goes by itself. */
const mostHeld = 3000;

/** Waits for a run and works for it to its end. @throws ExpectedError `agent-refused`, `run-id` */
export async function serveRun(
  bus: Bus,
  parts: AgentParts,
  options: AgentOptions,
): Promise<AgentEnding> {
  const { say, leave } = options;
  const answer = await findRun(bus, options);
  if (answer === undefined) return { kind: 'left' };
  if ('refused' in answer) return { kind: 'refused', text: answer.refused };
  const subjects = subjectsOf(answer.run);
  const epoch = randomUUID();
  const { cores, fileDescriptors, localPorts } = await parts.machineLimits();
  const clock = await clockName();
  const member: Member = {
    ...{ epoch, host: hostname(), cores, fileDescriptors, localPorts },
    node: options.node,
    clock,
  };
  for (let agent = 0; agent < answer.agents && !leave.aborted; agent++) {
    if (!(await bus.claim(`${subjects.members}.${agent}`, encode(member)))) continue;
    say(`agent ${agent + 1} of ${answer.agents} in run ${answer.run}`);
    const place = { ...answer, agent, epoch, clock, subjects };
    return new Agent(bus, parts, options, place).work();
  }
  return leave.aborted ? { kind: 'left' } : { kind: 'fenced' };
}

async function findRun(
  bus: Bus,
  { run, leave, say }: AgentOptions,
): Promise<JoinAnswer | undefined> {
  const subject = run === undefined ? joinSubject : subjectsOf(run).join;
  const question: JoinQuestion = { toolVersion, id: randomUUID(), host: hostname() };
  for (let asked = 0; !leave.aborted; asked++) {
    const text = await bus.ask(subject, encode(question), askEveryMs);
    const answer = text === undefined ? undefined : readJoinAnswer(text);
    if (answer !== undefined) return answer;
    if (asked === 0) say(run === undefined ? 'waiting for a run' : `waiting for run ${run}`);
    await pause(askEveryMs, leave);
  }
  return undefined;
}

interface Place {
  readonly agents: number;
  readonly agent: number;
  readonly epoch: string;
  readonly clock: string | undefined;
  readonly subjects: RunSubjects;
}

class Agent {
  private readonly outbox: Outbox;
  /** One after the other: an order may have to wait for the plan. */
  private working = Promise.resolve();
  private readonly orders = new InOrder<LeadMessage>((order) => {
    this.working = this.working
      .then(() => this.take(order))
      .catch((error: unknown) => this.fail(error));
  });
  private isReading = false;
  private readonly clock = machineClock();
  private workers: AgentWorkers | undefined;
  /** Of each worker what has moved, until its sample is there. */
  private readonly held = new Map<number, FactOf<'moved'>>();
  private target: OpenTarget | undefined;
  private hider: SecretHider | undefined;
  private reference: ReferenceClock | undefined;
  private heardMs = performance.now();
  private startCpu = process.cpuUsage();
  private over: (ending: AgentEnding) => void = () => undefined;
  private readonly ended = new Promise<AgentEnding>((resolve) => {
    this.over = resolve;
  });
  private readonly subscriptions: Disposable[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly bus: Bus,
    private readonly parts: AgentParts,
    private readonly options: AgentOptions,
    private readonly place: Place,
  ) {
    const { subjects, agent, epoch } = place;
    const now = () => {
      const { user, system } = process.cpuUsage(this.startCpu);
      return { open: this.workers?.takingPart() ?? 0, cpuUs: user + system };
    };
    const lost = (): void => this.over({ kind: 'alone', text: 'the bus took nothing any more' });
    // The coordinator may have other keys, and would not know them in a text.
    const hide = (text: string): string => this.hider?.hide(text) ?? text;
    this.outbox = new Outbox(bus, `${subjects.facts}.${agent}`, epoch, { now, lost, hide });
  }

  async work(): Promise<AgentEnding> {
    const { bus, place, options } = this;
    const { subjects } = place;
    const heard = (): void => {
      this.heardMs = performance.now();
    };
    const leave = (): void => {
      const reason: unknown = options.leave.reason;
      this.over({ kind: 'left', text: typeof reason === 'string' ? reason : 'it was stopped' });
    };
    options.leave.addEventListener('abort', leave, { once: true });
    try {
      const alive = bus.hear(subjects.alive, (text) => {
        heard();
        const { asks, taken, orders = 0 } = readAlive(text) ?? {};
        const own = taken?.[place.agent];
        if (own !== undefined) this.outbox.taken(own);
        if (asks === true) this.beat();
        inBackground(this.readOrders(orders));
      });
      const hearing = bus.hear(`${subjects.lead}.*`, (text) => {
        heard();
        this.hearOrder(text);
      });
      this.subscriptions.push(alive, hearing);
      this.timer = setInterval(() => this.beat(), beatEveryMs);
      const ending = await this.ended;
      // The run did not start: there is nothing to report, and its log may be gone.
      if (ending.kind === 'done' && this.workers === undefined) return ending;
      if (ending.kind === 'left') this.outbox.put({ leaving: ending.text ?? '' });
      await this.stopSending();
      if (ending.kind !== 'alone') this.outbox.put({ final: true });
      // Where nothing was measured, the log of the run may be gone by now.
      const isShort = ending.kind === 'left' || this.workers === undefined;
      await this.outbox.empty(isShort ? leavingWordsMs : lastWordsMs);
      if (ending.kind !== 'alone') await this.outbox.allTaken(takenWithinMs);
      return ending;
    } finally {
      this.outbox.stop();
      clearInterval(this.timer);
      options.leave.removeEventListener('abort', leave);
      this.reference?.dispose();
      for (const subscription of this.subscriptions) subscription.dispose();
      await this.workers?.end();
      await this.target?.dispose();
    }
  }

  private hearOrder(text: string): void {
    const numbered = readOrder(text);
    if (numbered !== undefined) this.orders.add(numbered.number, numbered.order);
  }

  /** Those that were given before this agent came, or while its link was away. */
  private async readOrders(last: number): Promise<void> {
    const { log, lead } = this.place.subjects;
    if (this.isReading) return;
    this.isReading = true;
    // What the bus cannot say is asked for again with the next sign of life.
    for (let read = this.orders.taken; read < last; read = Math.max(read + 1, this.orders.taken)) {
      const text = await this.bus.read(log, `${lead}.${read + 1}`);
      if (text === undefined) break;
      this.hearOrder(text);
    }
    this.isReading = false;
  }

  private async take(message: LeadMessage): Promise<void> {
    if (message.type === 'run') await this.start(message);
    else if (message.type === 'end') this.over({ kind: 'done' });
    else this.workers?.order(message);
  }

  /** @throws ExpectedError for what keeps it from taking part */
  private async start(order: RunOrder): Promise<void> {
    if (this.workers !== undefined) return;
    const { bus, parts, place } = this;
    const scenario = await parts.scenarioOf(order);
    const plan = await parts.planOf(scenario, order, place.agents);
    if (planHash(plan) !== order.planHash)
      throw new ExpectedError(
        'plan-hash',
        'its plan differs from that of the coordinator: all machines need the same version and the same files',
      );
    const isSame = order.clock !== undefined && order.clock === place.clock;
    const nowUs = (): number => this.clock.nowUs();
    const { agents, subjects } = place;
    this.reference = new ReferenceClock(bus, subjects.clock, nowUs, isSame, agents);
    let firstUs = 0;
    const offset = await this.reference.begin(({ offsetUs }) =>
      this.workers?.order({ type: 'clock', offsetUs: offsetUs - firstUs }),
    );
    if (offset === undefined)
      throw new ExpectedError('clock', 'the coordinator did not answer when asked for its time');
    firstUs = offset.offsetUs;
    this.target = await parts.openTarget(scenario, order);
    this.hider = new SecretHider(this.target.secrets, this.target.endpoint.personal);
    this.startCpu = process.cpuUsage();
    const share: AgentShare = {
      ...{ plan, target: this.target, agent: place.agent },
      originUs: order.originUs - offset.offsetUs,
    };
    this.workers = parts.startWorkers(share, {
      fact: (worker, fact) => {
        this.report(worker, fact);
        if (fact.type === 'closed' && this.workers?.alive.size === 0) this.over({ kind: 'done' });
      },
      lost: (_worker, error) => this.fail(error),
    });
    // Each agent signs in by itself: what lets it in goes over no bus.
    const { passes } = this.target;
    if (passes !== undefined)
      this.subscriptions.push(
        passes.onRenewed((pass) => this.workers?.order({ type: 'renewed', pass })),
      );
  }

  /** What has moved and the sample that follows it go as one. */
  private report(worker: number, fact: FromWorker): void {
    const { held, outbox } = this;
    const before = held.get(worker);
    held.delete(worker);
    const isShort = fact.type === 'moved' && fact.changes.length <= mostHeld;
    if (before !== undefined && fact.type === 'sampled') {
      const { upToUs, changes } = before;
      outbox.put({ worker, fact: this.withClock(fact), moved: { upToUs, changes } });
      return;
    }
    if (before !== undefined) outbox.put({ worker, fact: before });
    if (isShort) held.set(worker, fact);
    else outbox.put({ worker, fact: this.withClock(fact) });
  }

  /** Workers do not know how far their clock may be off. */
  private withClock(fact: FromWorker): FromWorker {
    const { reference } = this;
    if (fact.type !== 'sampled' || reference === undefined) return fact;
    const { errorUs, jumps } = reference;
    return { ...fact, sample: { ...fact.sample, clock: { errorUs, jumps } } };
  }

  private fail(error: unknown): void {
    const text = cutToShow(error instanceof Error ? error.message : String(error));
    const isInput = error instanceof ExpectedError;
    this.outbox.put({ failed: text.replace(/\.$/, ''), isInput });
    this.over({ kind: isInput ? 'refused' : 'failed', text });
  }

  /** What was measured up to now is reported. */
  private async stopSending(): Promise<void> {
    const { workers } = this;
    if (workers === undefined) return;
    workers.order({ type: 'halt' });
    workers.order({ type: 'close' });
    const untilMs = performance.now() + closeMs;
    while (workers.alive.size > 0 && performance.now() < untilMs) await pause(20);
    await workers.end();
  }

  private beat(): void {
    const beat: Beat = {
      epoch: this.place.epoch,
      facts: this.outbox.last,
      orders: this.orders.taken,
      clockErrorUs: this.reference?.errorUs ?? 0,
    };
    this.bus.say(`${this.place.subjects.beats}.${this.place.agent}`, encode(beat));
    const { silenceMs = usualSilenceMs } = this.options;
    if (performance.now() - this.heardMs <= silenceMs) return;
    this.over({
      kind: 'alone',
      text: `nothing was heard of the coordinator for ${silenceMs / 1000} s`,
    });
  }
}

/** What the bus has not acknowledged is kept so long and no longer. */
const keptMs = 10 * 60_000;
/** Facts that may be on their way to the bus at once. */
const inFlight = 32;
/** What the coordinator has not taken so long after the bus had it may be lost, with the file of the bus. */
const againMs = 5000;

interface AboutFacts {
  /** Goes along with each. */
  readonly now: () => Pick<NumberedFact, 'open' | 'cpuUs'>;
  /** Called once, when facts were given up: the run cannot be complete any more. */
  readonly lost: () => void;
  /** Takes out what must not leave the machine. */
  readonly hide: (text: string) => string;
}

/** Facts on their way to the coordinator: numbered, and kept until it has taken them. */
export class Outbox extends LogWriter {
  constructor(
    bus: Bus,
    subject: string,
    private readonly epoch: string,
    private readonly about: AboutFacts,
  ) {
    super(bus, subject, epoch, { inFlight, keptMs, lost: about.lost });
  }

  put(said: AgentFact): void {
    this.add((number) => {
      const fact: NumberedFact = { epoch: this.epoch, number, ...this.about.now(), said };
      return this.about.hide(encode(fact));
    }, true);
  }

  /** The coordinator has all up to this one, and lacks what was acknowledged long before. */
  override taken(number: number): void {
    super.taken(number);
    this.again(againMs);
  }
}
