import { SaidError, sentence, type Words } from '../../base/sentence';
import type { Disposable, Event } from '../../base/event';
import { ExpectedError } from '../../base/expectedError';
import type { WorkerSample } from '../../measure/sample';
import type { AgentProgress } from '../../measure/summary';
import type { FromWorker, ToWorker, WorkerHost, WorkerListener } from '../../protocol/worker';
import type { Bus, Following } from '../bus/bus';
import { InOrder, LogWriter } from '../bus/logWriter';
import {
  encode,
  placeOf,
  readBeat,
  readEpoch,
  readFact,
  readJoinQuestion,
  type AgentFact,
  type Alive,
  type LeadMessage,
  type Member,
  type NumberedFact,
  type NumberedOrder,
  type RunOrder,
  type RunSubjects,
} from '../messages';
import { ReportedCpu } from '../../runner/lead/reportedCpu';
import { answerOf, putMembers } from './gatherAgents';

/** Source: decision record on several machines, "Merging and losing". */
const suspectMs = 5000;
const usualLossMs = 30_000;
const lookEveryMs = 250;
/** A reader that has read nothing for so long, while agents have said more, reads again; one that is slow does not. */
const stalledMs = 2000;
/** Between two looks: a process that was stopped, or a machine that slept. */
const deafMs = 2000;
const readyWithinMs = 60_000;
const endWithinMs = 4000;
/** Agents hear so often how much of what they have said was taken; four looks are a second. */
const looksPerTaken = 4;
/** What an agent has not taken so long after the bus had it may be lost, with the file of the bus. */
const againMs = 5000;
/** Orders on their way to the bus at once: agents put them in order by their numbers. */
const inFlight = 32;

/** `left` and `lost` are over, as `final` is; a `suspect` may come back. */
type AgentState = 'joined' | 'running' | 'suspect' | 'leaving' | 'final' | 'left' | 'lost';

const statusOf: Readonly<Record<AgentState, AgentProgress['status']>> = {
  ...{ joined: 'running', running: 'running', suspect: 'silent', leaving: 'leaving' },
  ...{ final: 'done', left: 'left', lost: 'lost' },
};

class Agent {
  state: AgentState = 'joined';
  readonly ready = new Set<number>();
  readonly workers = new Set<number>();
  readonly facts: InOrder<NumberedFact>;
  saidFacts = 0;
  /** Number of the last order that it has taken. */
  orders = 0;
  /** Heard so far. */
  beats = 0;
  behindSinceMs: number | undefined;
  open = 0;
  readonly cpu = new ReportedCpu();
  clockErrorUs = 0;
  mostClockErrorUs = 0;
  clockJumps = 0;
  lastTick = 0;
  /** Why it leaves, as it said. */
  leaves = '';

  constructor(
    readonly index: number,
    readonly member: Member,
    public heardMs: number,
    take: (agent: Agent, fact: NumberedFact) => void,
  ) {
    this.facts = new InOrder((fact) => take(this, fact));
  }

  sampled({ tick, clock, atUs }: WorkerSample): void {
    this.cpu.sampled(atUs);
    this.lastTick = Math.max(this.lastTick, tick);
    if (clock === undefined) return;
    this.mostClockErrorUs = Math.max(this.mostClockErrorUs, clock.errorUs);
    this.clockJumps = Math.max(this.clockJumps, clock.jumps);
  }

  get isHere(): boolean {
    const { state } = this;
    return state !== 'final' && state !== 'left' && state !== 'lost';
  }

  get place(): string {
    return this.member.node ?? this.member.host;
  }

  get name(): string {
    return `agent ${this.index + 1} (${this.place})`;
  }
}

function fourTimesASecond(look: () => void): Disposable {
  const timer = setInterval(look, lookEveryMs);
  return { dispose: () => clearInterval(timer) };
}

export interface AgentHostsContext {
  readonly bus: Bus;
  readonly run: string;
  readonly subjects: RunSubjects;
  readonly members: readonly Member[];
  readonly order: RunOrder;
  /** Silence after which an agent is lost. */
  readonly lossMs?: number;
  /** The bus has come back without the log. */
  readonly renewed?: Event<void>;
  /** By any monotonic clock; and what looks after the agents four times a second by it. */
  readonly nowMs?: () => number;
  readonly every?: (look: () => void) => Disposable;
}

/** The workers of a run on other machines: each agent has some of them, and they are lost together. */
export class AgentHosts implements WorkerHost {
  readonly alive = new Set<number>();
  /** The others go on when one is lost. */
  readonly survivesLoss = true;
  /** From an order until everybody has it. */
  readonly leadUs = 1_000_000;
  readonly drainPollMs = 100;
  private readonly list: readonly Agent[];
  private listener: WorkerListener | undefined;
  private readonly waitingFacts: [Agent, number, FromWorker][] = [];
  private readonly lostBefore: [worker: number, error: Error][] = [];
  private following: Following | undefined;
  private readonly subscriptions: Disposable[] = [];
  private readonly looking: Disposable;
  private readonly orders: LogWriter;
  private looks = 0;
  private isOver = false;
  private readonly nowMs: () => number;
  private looked: number;
  /** Time in which somebody could be heard. */
  private hearingMs = 0;
  /** When the last fact of anybody was read, or the reader was made. */
  private readMs: number;
  private readonly waitingForChange = new Set<() => void>();
  private startProblem: ExpectedError | undefined;

  private constructor(private readonly context: AgentHostsContext) {
    const { run, members, order, bus, subjects, nowMs = () => performance.now() } = context;
    this.nowMs = nowMs;
    this.looked = this.readMs = nowMs();
    this.orders = new LogWriter(bus, subjects.lead, `lead.${order.runId}`, {
      ...{ inFlight, ownSubjects: true },
    });
    this.list = members.map((member, index) => {
      const agent = new Agent(index, member, this.looked, (from, fact) => this.take(from, fact));
      for (let own = 0; own < order.workersEach; own++) {
        agent.workers.add(index * order.workersEach + own);
        this.alive.add(index * order.workersEach + own);
      }
      return agent;
    });
    this.subscriptions.push(
      bus.hear(`${subjects.beats}.*`, (text, subject) => this.heardBeat(text, subject)),
      // One that comes in another's place finds none, and ends.
      bus.answer(subjects.join, (text) =>
        encode(answerOf(readJoinQuestion(text), run, members.length)),
      ),
    );
    const { every = fourTimesASecond, renewed } = context;
    if (renewed !== undefined) this.subscriptions.push(renewed(() => this.restore()));
    this.looking = every(() => this.look());
  }

  /**
   * Says how the run goes, and waits until the workers of every agent are ready.
   * @throws ExpectedError `agent-failed` when one cannot take part
   */
  static async start(context: AgentHostsContext, calledOff?: Promise<never>): Promise<AgentHosts> {
    const hosts = new AgentHosts(context);
    try {
      await (calledOff ? Promise.race([hosts.begin(), calledOff]) : hosts.begin());
      return hosts;
    } catch (error) {
      await hosts.end();
      throw error;
    }
  }

  private async begin(): Promise<void> {
    const { bus, subjects, order } = this.context;
    this.following = await bus.follow(subjects.log, `${subjects.facts}.*`, (text, subject) =>
      this.heardFact(text, subject),
    );
    this.say(order);
    const untilMs = this.nowMs() + readyWithinMs;
    for (;;) {
      if (this.startProblem !== undefined) throw this.startProblem;
      const missing = this.list.filter(({ ready, workers }) => ready.size < workers.size);
      if (missing.length === 0) return;
      if (this.nowMs() > untilMs) {
        const names = missing.map(({ name }) => name).join(', ');
        const text = `${names} did not get ready within ${readyWithinMs / 1000} s; nothing was started.`;
        throw new ExpectedError('agent-failed', text);
      }
      await this.nextChange(lookEveryMs);
    }
  }

  /** Facts go to the listener from now on, those that came before first. */
  lead(listener: WorkerListener): this {
    setImmediate(() => {
      this.listener = listener;
      for (const [agent, worker, fact] of this.waitingFacts.splice(0))
        this.hand(listener, agent, worker, fact);
      for (const [worker, error] of this.lostBefore.splice(0)) listener.lost(worker, error);
    });
    return this;
  }

  takingPart(): number {
    return this.list.reduce((sum, agent) => sum + (agent.isHere ? agent.open : 0), 0);
  }

  measureCpu(fromUs: number): () => number {
    const each = this.list.map(({ cpu }) => cpu.from(fromUs));
    return () => each.reduce((sum, usedUs) => sum + usedUs(), 0);
  }

  order(order: ToWorker): void {
    // Each agent signs in by itself: what lets it in goes over no bus.
    if (order.type !== 'renewed') this.say(order);
  }

  /** Settles when all that agents have said up to now is here: those that stay silent are lost by then. */
  async settled(withinMs: number): Promise<void> {
    const heard = new Map(this.list.map((agent) => [agent, agent.beats]));
    const isHere = (agent: Agent): boolean =>
      !agent.isHere || (agent.beats > heard.get(agent)! && agent.facts.taken >= agent.saidFacts);
    const untilMs = this.hearingMs + withinMs;
    while (!this.isOver && this.hearingMs < untilMs && !this.list.every(isHere)) {
      this.sayAlive({ asks: true });
      await this.nextChange(lookEveryMs);
    }
  }

  agents(): AgentProgress[] {
    return this.list.map(({ index, place, state, lastTick, mostClockErrorUs, clockJumps }) => ({
      ...{ index: index + 1, node: place, lastTick, share: 1 / this.list.length },
      status: statusOf[state],
      clockErrorUs: Math.ceil(mostClockErrorUs),
      ...(clockJumps > 0 && { clockJumps }),
    }));
  }

  ambiguousUs(): number {
    const [most = 0, next = 0] = this.list
      .filter(({ isHere }) => isHere)
      .map(({ clockErrorUs }) => clockErrorUs)
      .sort((a, b) => b - a);
    return most + next;
  }

  async end(): Promise<void> {
    this.alive.clear();
    if (this.isOver) return;
    this.say({ type: 'end' });
    const untilMs = this.nowMs() + endWithinMs;
    while (
      this.list.some(
        ({ isHere, heardMs }) => isHere && untilMs - heardMs < suspectMs + endWithinMs,
      ) &&
      this.nowMs() < untilMs
    )
      await this.nextChange(lookEveryMs);
    this.sayAlive({ taken: this.taken });
    this.stop();
  }

  private stop(): void {
    this.isOver = true;
    this.orders.stop();
    this.looking.dispose();
    this.following?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** The bus has come back without what it had: agents look for their orders, and others find every place taken. */
  private restore(): void {
    const { bus, subjects, members, order } = this.context;
    this.orders.again();
    putMembers(bus, subjects, members, `${order.runId}`).catch(() => undefined);
  }

  private say(order: LeadMessage): void {
    this.orders.add((number) => encode({ number, order } satisfies NumberedOrder), true);
  }

  private sayAlive(alive: Alive): void {
    const { bus, subjects } = this.context;
    bus.say(subjects.alive, encode({ ...alive, orders: this.orders.last } satisfies Alive));
  }

  private get taken(): number[] {
    return this.list.map(({ facts }) => facts.taken);
  }

  private heardBeat(text: string, subject: string): void {
    const agent = this.agentOf(subject, this.context.subjects.beats);
    const beat = readBeat(text);
    if (agent === undefined || beat?.epoch !== agent.member.epoch) return;
    agent.heardMs = this.nowMs();
    agent.beats += 1;
    agent.saidFacts = beat.facts;
    const hasTaken = agent.orders !== beat.orders;
    agent.orders = beat.orders;
    if (hasTaken) this.noteTaken();
    agent.clockErrorUs = beat.clockErrorUs;
    agent.mostClockErrorUs = Math.max(agent.mostClockErrorUs, beat.clockErrorUs);
    if (agent.state === 'suspect') agent.state = 'running';
    this.changed();
  }

  /** Orders that everybody has who is here need not be kept. */
  private noteTaken(): void {
    const here = this.list.filter(({ isHere }) => isHere);
    this.orders.taken(Math.min(this.orders.last, ...here.map(({ orders }) => orders)));
  }

  private heardFact(text: string, subject: string): void {
    const agent = this.agentOf(subject, this.context.subjects.facts);
    if (agent === undefined) return;
    const fact = readFact(text);
    if ((fact?.epoch ?? readEpoch(text)) !== agent.member.epoch) return;
    agent.heardMs = this.readMs = this.nowMs();
    if (fact === undefined) this.loseUnread(agent);
    else agent.facts.add(fact.number, fact);
    this.changed();
  }

  private take(agent: Agent, { said, open, cpuUs }: NumberedFact): void {
    // It may leave.
    if ('final' in said) this.sayAlive({ taken: this.taken });
    if (!agent.isHere) return;
    agent.open = open;
    agent.cpu.reported(cpuUs);
    if ('fact' in said) {
      const { worker, fact, moved } = said;
      if (moved !== undefined) this.pass(agent, worker, { ...moved, type: 'moved' });
      this.pass(agent, worker, fact);
    } else if ('failed' in said) this.failed(agent, said);
    else if ('leaving' in said) {
      agent.state = 'leaving';
      agent.leaves = said.leaving.slice(0, 200);
    } else if (agent.state === 'leaving') this.lose(agent, agent.leaves, 'left');
    else agent.state = 'final';
  }

  private pass(agent: Agent, worker: number, fact: FromWorker): void {
    const isOwn = fact.type !== 'sampled' || fact.sample.worker === worker;
    if (!agent.workers.has(worker) || !isOwn) {
      this.loseUnread(agent);
      return;
    }
    if (agent.state === 'joined' || agent.state === 'suspect') agent.state = 'running';
    if (fact.type === 'ready') agent.ready.add(worker);
    else if (fact.type === 'sampled') agent.sampled(fact.sample);
    else if (fact.type === 'closed') {
      // Whoever leaves is lost with its last word.
      if (agent.state === 'leaving') return;
      this.alive.delete(worker);
    }
    if (this.listener === undefined) this.waitingFacts.push([agent, worker, fact]);
    else this.hand(this.listener, agent, worker, fact);
  }

  /** Whatever an agent has sent, the run goes on without it. */
  private hand(listener: WorkerListener, agent: Agent, worker: number, fact: FromWorker): void {
    try {
      listener.fact(worker, fact);
    } catch {
      this.loseUnread(agent);
    }
  }

  private loseUnread(agent: Agent): void {
    const why = 'sent what cannot be read';
    if (agent.ready.size < agent.workers.size)
      this.startProblem ??= new ExpectedError('agent-failed', `${agent.name} ${why}.`);
    this.lose(agent, `it ${why}`);
  }

  giveUp(worker: number, why: string): void {
    const agent = this.list.find(({ workers }) => workers.has(worker));
    // What it has done meanwhile nobody could hear.
    const said = this.context.bus.isConnected ? why : 'the bus was away for too long';
    if (agent !== undefined) this.lose(agent, said);
  }

  private failed(agent: Agent, { failed, isInput }: Extract<AgentFact, { failed: string }>): void {
    if (agent.ready.size < agent.workers.size) {
      const sentence = `${agent.name} cannot take part: ${failed}.`;
      this.startProblem ??= new ExpectedError(isInput ? 'agent-refused' : 'agent-failed', sentence);
    }
    this.lose(agent, failed);
  }

  private lose(agent: Agent, why: Words, state: 'left' | 'lost' = 'lost'): void {
    if (!agent.isHere) return;
    agent.state = state;
    this.noteTaken();
    const text =
      state === 'left'
        ? 'agent {0} of {1} ({2}) left: {3}'
        : 'agent {0} of {1} ({2}) was lost: {3}';
    const place = [String(agent.index + 1), String(this.list.length), agent.place];
    const error = new SaidError(sentence(text, ...place, why));
    for (const worker of agent.workers) {
      if (!this.alive.delete(worker)) continue;
      if (this.listener === undefined) this.lostBefore.push([worker, error]);
      else this.listener.lost(worker, error);
    }
  }

  private look(): void {
    const nowMs = this.nowMs();
    const { bus, lossMs = usualLossMs } = this.context;
    const saysTaken = (this.looks += 1) % looksPerTaken === 0;
    this.sayAlive(saysTaken ? { taken: this.taken } : {});
    if (saysTaken) this.orders.again(againMs);
    // With the own link away nobody can be heard, nor while this process itself stood still.
    const isDeaf = !bus.isConnected || nowMs - this.looked > deafMs;
    if (!isDeaf) this.hearingMs += nowMs - this.looked;
    for (const agent of this.list) {
      if (!agent.isHere) continue;
      if (isDeaf) agent.heardMs += nowMs - this.looked;
      const silentMs = nowMs - agent.heardMs;
      if (silentMs > lossMs) this.lose(agent, silentWords(silentMs));
      else if (silentMs > suspectMs && agent.state === 'running') agent.state = 'suspect';
      const isBehind = agent.facts.taken < agent.saidFacts;
      agent.behindSinceMs = isBehind ? (agent.behindSinceMs ?? nowMs) : undefined;
      const isStalled = nowMs - Math.max(this.readMs, agent.behindSinceMs ?? nowMs) > stalledMs;
      if (isStalled && bus.isConnected) {
        this.readMs = nowMs;
        this.following?.again().catch(() => undefined);
      }
    }
    this.looked = nowMs;
    this.changed();
  }

  private agentOf(subject: string, above: string): Agent | undefined {
    const place = placeOf(subject, above);
    return place === undefined ? undefined : this.list[place];
  }

  private changed(): void {
    for (const resolve of [...this.waitingForChange]) resolve();
  }

  private nextChange(withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        clearTimeout(timer);
        this.waitingForChange.delete(over);
        resolve();
      };
      const timer = setTimeout(over, withinMs);
      this.waitingForChange.add(over);
    });
  }
}

const silentWords = (ms: number): Words =>
  sentence('it was silent for {0} s', String(Math.round(ms / 1000)));
