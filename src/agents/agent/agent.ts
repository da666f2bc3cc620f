/** An agent's share of one run: it takes a place, builds the plan, and leads its workers as the coordinator says. */
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
  cutForBus,
  encodeMessage,
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
  runSubjects,
  usualSilenceMs,
} from '../messages';

export interface AgentParts {
  /** @throws ExpectedError when the scenario has errors */
  readonly scenarioOf: (order: RunOrder) => Promise<Scenario>;
  readonly planOf: (scenario: Scenario, order: RunOrder, agents: number) => Promise<Plan>;
  readonly openTarget: (scenario: Scenario, order: RunOrder) => Promise<OpenTarget>;
  readonly machineLimits: () => Promise<MachineLimits>;
  readonly startWorkers: (share: AgentShare, listener: WorkerListener) => AgentWorkers;
}

interface AgentShare {
  readonly plan: Plan;
  readonly target: OpenTarget;
  /** Index from 0. */
  readonly agent: number;
  /** Zero of the run on this machine's clock, microseconds. */
  readonly originUs: number;
}

export interface AgentWorkers extends WorkerHost {
  order(order: ToWorker | ClockOrder): void;
}

/** `fenced`: every place was taken. `refused`: it may not take part. `alone`: the coordinator was silent. `left`: it was asked to. */
export interface AgentEnding {
  readonly kind: 'done' | 'fenced' | 'refused' | 'failed' | 'alone' | 'left';
  readonly text?: string;
}

interface AgentOptions {
  /** Absent: the first run that has room. */
  readonly run?: string | undefined;
  readonly node?: string | undefined;
  readonly say: (text: string) => void;
  readonly leave: AbortSignal;
  /** Silence of the coordinator after which the agent stops sending. */
  readonly silenceMs?: number;
}

const askEveryMs = 1000;
const beatEveryMs = 500;
/** Time to hand in the last reports to a bus that is away. */
const lastWordsMs = 5 * 60_000;
const leavingWordsMs = 10_000;
/** Time for the coordinator to confirm the last report: a bus that restarts may have lost it. */
const takenWithinMs = 10_000;
const closeMs = 3000;
/** Longer membership reports are sent alone, shorter ones with the next sample. */
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
  const subjects = runSubjects(answer.run);
  const epoch = randomUUID();
  const { cores, fileDescriptors, localPorts } = await parts.machineLimits();
  const clock = await clockName();
  const member: Member = {
    ...{ epoch, host: hostname(), cores, fileDescriptors, localPorts },
    node: options.node,
    clock,
  };
  for (let agent = 0; agent < answer.agents && !leave.aborted; agent++) {
    if (!(await bus.claim(`${subjects.members}.${agent}`, encodeMessage(member)))) continue;
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
  const subject = run === undefined ? joinSubject : runSubjects(run).join;
  const question: JoinQuestion = { toolVersion, id: randomUUID(), host: hostname() };
  for (let asked = 0; !leave.aborted; asked++) {
    const text = await bus.ask(subject, encodeMessage(question), askEveryMs);
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
  /** In order: the first one waits for the plan. */
  private working = Promise.resolve();
  private readonly orders = new InOrder<LeadMessage>((order) => {
    this.working = this.working
      .then(() => this.take(order))
      .catch((error: unknown) => this.fail(error));
  });
  private isReading = false;
  private readonly clock = machineClock();
  private workers: AgentWorkers | undefined;
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
    // The coordinator may not know these secrets, and could not hide them.
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
      // The run never started: there is nothing to report, and its log may be gone.
      if (ending.kind === 'done' && this.workers === undefined) return ending;
      if (ending.kind === 'left') this.outbox.put({ leaving: ending.text ?? '' });
      await this.stopSending();
      if (ending.kind !== 'alone') this.outbox.put({ final: true });
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

  private async readOrders(last: number): Promise<void> {
    const { log, lead } = this.place.subjects;
    if (this.isReading) return;
    this.isReading = true;
    // A failed read is tried again at the next sign of life.
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
    // Each agent signs in by itself: no pass goes over the bus.
    const { passes } = this.target;
    if (passes !== undefined)
      this.subscriptions.push(
        passes.onRenewed((pass) => this.workers?.order({ type: 'renewed', pass })),
      );
  }

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

  private withClock(fact: FromWorker): FromWorker {
    const { reference } = this;
    if (fact.type !== 'sampled' || reference === undefined) return fact;
    const { errorUs, jumps } = reference;
    return { ...fact, sample: { ...fact.sample, clock: { errorUs, jumps } } };
  }

  private fail(error: unknown): void {
    const text = cutForBus(error instanceof Error ? error.message : String(error));
    const isInput = error instanceof ExpectedError;
    this.outbox.put({ failed: text.replace(/\.$/, ''), isInput });
    this.over({ kind: isInput ? 'refused' : 'failed', text });
  }

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
    this.bus.say(`${this.place.subjects.beats}.${this.place.agent}`, encodeMessage(beat));
    const { silenceMs = usualSilenceMs } = this.options;
    if (performance.now() - this.heardMs <= silenceMs) return;
    this.over({
      kind: 'alone',
      text: `nothing was heard of the coordinator for ${silenceMs / 1000} s`,
    });
  }
}

/** Reports that the bus does not acknowledge are kept this long. */
const keptMs = 10 * 60_000;
const inFlight = 32;
/** Reports without confirmation for so long may be lost: they are sent again. */
const againMs = 5000;

interface AboutFacts {
  readonly now: () => Pick<NumberedFact, 'open' | 'cpuUs'>;
  readonly lost: () => void;
  readonly hide: (text: string) => string;
}

/** Numbered reports on their way to the coordinator, kept until it has them. */
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
      return this.about.hide(encodeMessage(fact));
    }, true);
  }

  override taken(number: number): void {
    super.taken(number);
    this.again(againMs);
  }
}
