import { SentenceError, sentence, type Words } from '../../base/sentence';
import type { Disposable, Event } from '../../base/async';
import { ExpectedError } from '../../base/expectedError';
import { ChangeSignal } from '../../engine/pause';
import type { AgentProgress } from '../../measure/summary';
import type { FromWorker, ToWorker, WorkerHost, WorkerListener } from '../../messages/worker';
import { type Bus, type Following, LogWriter, InOrder } from '../bus/bus';
import {
  type AgentFact,
  type Alive,
  encodeMessage,
  type LeadMessage,
  type Member,
  type NumberedFact,
  type NumberedOrder,
  agentIndexIn,
  readBeat,
  readEpoch,
  readFact,
  readJoinQuestion,
  type RunOrder,
  type RunSubjects,
  type Beat,
} from '../messages';
import { answerJoin, restoreMembers } from './gatherAgents';
import type { WorkerSample } from '../../measure/sample';
import { ReportedCpu } from '../../engine/machineClock';

const usualLossMs = 30_000;
const lookEveryMs = 250;
/** Agents have reported more, and nothing was read for so long: the reader is replaced. */
const stalledMs = 2000;
/** A longer gap between two looks: this process was stopped, or the machine slept. */
const deafMs = 2000;
const readyWithinMs = 60_000;
const endWithinMs = 4000;
/** Once a second agents hear which reports were taken. */
const looksPerTaken = 4;
/** Orders not taken for so long may be lost: they are sent again. */
const againMs = 5000;
const inFlight = 32;

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
  readonly lossMs?: number | undefined;
  readonly renewed?: Event<void>;
  /** Tests set the clock, and what calls back four times a second. */
  readonly nowMs?: () => number;
  readonly every?: (look: () => void) => Disposable;
}

/** The workers of a run on other machines; all workers of an agent are lost together. */
export class AgentHosts implements WorkerHost {
  readonly alive = new Set<number>();
  readonly survivesLoss = true;
  readonly leadUs = 1_000_000;
  readonly drainPollMs = 100;
  private readonly list: readonly HostedAgent[];
  private readonly reports = new Reports();
  private following: Following | undefined;
  private readonly subscriptions: Disposable[] = [];
  private readonly looking: Disposable;
  private readonly orders: LogWriter;
  private readonly changes = new ChangeSignal();
  private readonly nowMs: () => number;
  private looks = 0;
  private lookedMs: number;
  private hearingMs = 0;
  private readMs: number;
  private isOver = false;
  private startProblem: ExpectedError | undefined;

  private constructor(private readonly context: AgentHostsContext) {
    const { run, members, order, bus, subjects, nowMs = () => performance.now() } = context;
    const { every = fourTimesASecond, renewed } = context;
    this.nowMs = nowMs;
    this.lookedMs = this.readMs = nowMs();
    const orders = { inFlight, ownSubjects: true } as const;
    this.orders = new LogWriter(bus, subjects.lead, `lead.${order.runId}`, orders);
    this.list = members.map((member, index) => {
      const { workersEach } = order;
      const workers = Array.from({ length: workersEach }, (_, own) => index * workersEach + own);
      for (const worker of workers) this.alive.add(worker);
      return new HostedAgent(index, member, new Set(workers), this.lookedMs, (agent, fact) =>
        this.take(agent, fact),
      );
    });
    this.subscriptions.push(
      bus.hear(`${subjects.beats}.*`, (text, subject) => this.heardBeat(text, subject)),
      bus.answer(subjects.join, (text) =>
        encodeMessage(answerJoin(readJoinQuestion(text), run, members.length)),
      ),
    );
    if (renewed !== undefined) this.subscriptions.push(renewed(() => this.restore()));
    this.looking = every(() => this.look());
  }

  /** Sends the run to the agents and waits until their workers are ready. @throws ExpectedError `agent-failed` */
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
    const missing = (): HostedAgent[] => this.list.filter(({ isReady }) => !isReady);
    await this.changes.until(
      () => this.startProblem !== undefined || missing().length === 0,
      readyWithinMs,
    );
    if (this.startProblem !== undefined) throw this.startProblem;
    const names = missing().map(({ name }) => name);
    if (names.length > 0)
      throw new ExpectedError(
        'agent-failed',
        `${names.join(', ')} did not get ready within ${readyWithinMs / 1000} s; nothing was started.`,
      );
  }

  lead(listener: WorkerListener): this {
    setImmediate(() => this.reports.goTo(listener));
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
    // Each agent signs in by itself: no pass goes over the bus.
    if (order.type !== 'renewed') this.say(order);
  }

  /** Settles when all reports so far are here; agents that stay silent are lost by then. */
  async settled(withinMs: number): Promise<void> {
    const beatsBefore = new Map(this.list.map((agent) => [agent, agent.beats]));
    const isSettled = (agent: HostedAgent): boolean =>
      !agent.isHere || (agent.beats > beatsBefore.get(agent)! && !agent.isBehind);
    const untilMs = this.hearingMs + withinMs;
    const isEnough = (): boolean =>
      this.isOver || this.hearingMs >= untilMs || this.list.every(isSettled);
    while (!isEnough()) {
      this.sayAlive({ asks: true });
      await this.changes.until(isEnough, lookEveryMs);
    }
  }

  agents(): AgentProgress[] {
    return this.list.map((agent) => agent.progress(this.list.length));
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
    const isGone = (agent: HostedAgent): boolean => !agent.isHere || agent.isSilent(this.nowMs());
    await this.changes.until(() => this.list.every(isGone), endWithinMs);
    this.sayAlive({ taken: this.taken });
    this.isOver = true;
    this.orders.stop();
    this.looking.dispose();
    this.following?.dispose();
    for (const subscription of this.subscriptions) subscription.dispose();
  }

  /** After the bus came back empty: puts orders and places there again. */
  private restore(): void {
    const { bus, subjects, members, order } = this.context;
    this.orders.again();
    restoreMembers(bus, subjects, members, `${order.runId}`).catch(() => undefined);
  }

  private say(order: LeadMessage): void {
    this.orders.add((number) => encodeMessage({ number, order } satisfies NumberedOrder), true);
  }

  private sayAlive(alive: Alive): void {
    const { bus, subjects } = this.context;
    bus.say(subjects.alive, encodeMessage({ ...alive, orders: this.orders.last } satisfies Alive));
  }

  private get taken(): number[] {
    return this.list.map(({ facts }) => facts.taken);
  }

  private heardBeat(text: string, subject: string): void {
    const agent = this.agentOf(subject, this.context.subjects.beats);
    const beat = readBeat(text);
    if (agent === undefined || beat?.epoch !== agent.member.epoch) return;
    const hasTaken = agent.orders !== beat.orders;
    agent.beat(beat, this.nowMs());
    if (hasTaken) this.noteTaken();
    this.changes.changed();
  }

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
    this.changes.changed();
  }

  private take(agent: HostedAgent, { said, open, cpuUs }: NumberedFact): void {
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

  private pass(agent: HostedAgent, worker: number, fact: FromWorker): void {
    const isOwn = fact.type !== 'sampled' || fact.sample.worker === worker;
    if (!agent.workers.has(worker) || !isOwn) {
      this.loseUnread(agent);
      return;
    }
    if (agent.state === 'joined' || agent.state === 'suspect') agent.state = 'running';
    if (fact.type === 'ready') agent.ready.add(worker);
    else if (fact.type === 'sampled') agent.sampled(fact.sample);
    else if (fact.type === 'closed') {
      if (agent.state === 'leaving') return;
      this.alive.delete(worker);
    }
    this.reports.add((listener) => {
      // Whatever an agent sends, the run goes on without it.
      try {
        listener.fact(worker, fact);
      } catch {
        this.loseUnread(agent);
      }
    });
  }

  private loseUnread(agent: HostedAgent): void {
    const why = 'sent what cannot be read';
    if (!agent.isReady)
      this.startProblem ??= new ExpectedError('agent-failed', `${agent.name} ${why}.`);
    this.lose(agent, `it ${why}`);
  }

  giveUp(worker: number, why: string): void {
    const agent = this.list.find(({ workers }) => workers.has(worker));
    const said = this.context.bus.isConnected ? why : 'the bus was away for too long';
    if (agent !== undefined) this.lose(agent, said);
  }

  private failed(
    agent: HostedAgent,
    { failed, isInput }: Extract<AgentFact, { failed: string }>,
  ): void {
    if (!agent.isReady) {
      const sentence = `${agent.name} cannot take part: ${failed}.`;
      this.startProblem ??= new ExpectedError(isInput ? 'agent-refused' : 'agent-failed', sentence);
    }
    this.lose(agent, failed);
  }

  private lose(agent: HostedAgent, why: Words, state: 'left' | 'lost' = 'lost'): void {
    if (!agent.isHere) return;
    agent.state = state;
    this.noteTaken();
    const text =
      state === 'left'
        ? 'agent {0} of {1} ({2}) left: {3}'
        : 'agent {0} of {1} ({2}) was lost: {3}';
    const place = [String(agent.index + 1), String(this.list.length), agent.place];
    const error = new SentenceError(sentence(text, ...place, why));
    for (const worker of agent.workers)
      if (this.alive.delete(worker)) this.reports.add((listener) => listener.lost(worker, error));
  }

  private look(): void {
    const nowMs = this.nowMs();
    const passedMs = nowMs - this.lookedMs;
    this.lookedMs = nowMs;
    const { bus, lossMs = usualLossMs } = this.context;
    const saysTaken = (this.looks += 1) % looksPerTaken === 0;
    this.sayAlive(saysTaken ? { taken: this.taken } : {});
    if (saysTaken) this.orders.again(againMs);
    // Nobody can be heard while our own link is down, or after this process stood still.
    const isDeaf = !bus.isConnected || passedMs > deafMs;
    if (!isDeaf) this.hearingMs += passedMs;
    for (const agent of this.list.filter(({ isHere }) => isHere)) {
      agent.pass(nowMs, isDeaf ? passedMs : 0);
      if (agent.isSilent(nowMs, lossMs)) this.lose(agent, silentWords(nowMs - agent.heardMs));
      this.readOn(agent, nowMs);
    }
    this.changes.changed();
  }

  private readOn(agent: HostedAgent, nowMs: number): void {
    const isStalled = Math.min(nowMs - this.readMs, agent.behindMs(nowMs)) > stalledMs;
    if (!isStalled || !this.context.bus.isConnected) return;
    this.readMs = nowMs;
    this.following?.again().catch(() => undefined);
  }

  private agentOf(subject: string, above: string): HostedAgent | undefined {
    const place = agentIndexIn(subject, above);
    return place === undefined ? undefined : this.list[place];
  }
}

const silentWords = (ms: number): Words =>
  sentence('it was silent for {0} s', String(Math.round(ms / 1000)));

class Reports {
  private listener: WorkerListener | undefined;
  private waiting: ((listener: WorkerListener) => void)[] = [];

  add(report: (listener: WorkerListener) => void): void {
    if (this.listener === undefined) this.waiting.push(report);
    else report(this.listener);
  }

  goTo(listener: WorkerListener): void {
    this.listener = listener;
    for (const report of this.waiting.splice(0)) report(listener);
  }
}

/** Source: decision record on several machines, "Merging and losing". */
const suspectMs = 5000;

/** `final`, `left` and `lost` are over; a `suspect` may return. */
type AgentState = 'joined' | 'running' | 'suspect' | 'leaving' | 'final' | 'left' | 'lost';

const statusOf: Readonly<Record<AgentState, AgentProgress['status']>> = {
  joined: 'running',
  running: 'running',
  suspect: 'silent',
  leaving: 'leaving',
  final: 'done',
  left: 'left',
  lost: 'lost',
};

class HostedAgent {
  state: AgentState = 'joined';
  readonly ready = new Set<number>();
  readonly facts: InOrder<NumberedFact>;
  beats = 0;
  orders = 0;
  open = 0;
  readonly cpu = new ReportedCpu();
  clockErrorUs = 0;
  leaves = '';
  private reportedFacts = 0;
  private behindSinceMs: number | undefined;
  private mostClockErrorUs = 0;
  private clockJumps = 0;
  private lastTick = 0;

  constructor(
    readonly index: number,
    readonly member: Member,
    readonly workers: ReadonlySet<number>,
    public heardMs: number,
    take: (agent: HostedAgent, fact: NumberedFact) => void,
  ) {
    this.facts = new InOrder((fact) => take(this, fact));
  }

  beat({ facts, orders, clockErrorUs }: Beat, nowMs: number): void {
    this.heardMs = nowMs;
    this.beats += 1;
    this.reportedFacts = facts;
    this.orders = orders;
    this.clockErrorUs = clockErrorUs;
    this.mostClockErrorUs = Math.max(this.mostClockErrorUs, clockErrorUs);
    if (this.state === 'suspect') this.state = 'running';
  }

  sampled({ tick, clock, atUs }: WorkerSample): void {
    this.cpu.sampled(atUs);
    this.lastTick = Math.max(this.lastTick, tick);
    if (clock === undefined) return;
    this.mostClockErrorUs = Math.max(this.mostClockErrorUs, clock.errorUs);
    this.clockJumps = Math.max(this.clockJumps, clock.jumps);
  }

  /** @param deafForMs time in which nobody could be heard */
  pass(nowMs: number, deafForMs: number): void {
    this.heardMs += deafForMs;
    if (this.isSilent(nowMs) && this.state === 'running') this.state = 'suspect';
    this.behindSinceMs = this.isBehind ? (this.behindSinceMs ?? nowMs) : undefined;
  }

  isSilent(nowMs: number, forMs = suspectMs): boolean {
    return nowMs - this.heardMs > forMs;
  }

  behindMs(nowMs: number): number {
    return nowMs - (this.behindSinceMs ?? nowMs);
  }

  get isBehind(): boolean {
    return this.facts.taken < this.reportedFacts;
  }

  get isReady(): boolean {
    return this.ready.size >= this.workers.size;
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

  progress(agents: number): AgentProgress {
    const { index, place, state, lastTick, mostClockErrorUs, clockJumps } = this;
    return {
      index: index + 1,
      node: place,
      lastTick,
      share: 1 / agents,
      status: statusOf[state],
      clockErrorUs: Math.ceil(mostClockErrorUs),
      ...(clockJumps > 0 && { clockJumps }),
    };
  }
}
