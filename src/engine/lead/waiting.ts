import { inBackground } from '../../base/async';
import { formatCount } from '../../base/units';
import type { Plan } from '../../plan/plan';
import { populationsOf } from '../../plan/population';
import { ChangeSignal } from '../pause';
import { answerTimeoutMs, preparedAtOnce } from '../prepare/preparation';
import type { WorkerHost } from '../../messages/worker';

export const leadTimings = {
  /** Failed connects after which a target that never answered is given up. */
  hopelessConnects: 20,
  /** A silent target is given up after that, unless one connect may take longer. */
  hopelessMs: 22_500,
  /** A target that had connections is given up after this long without any. */
  deadMs: 47_000,
  /** The same in a search, where connections come back only because it opens them again. */
  deadInSearchMs: 15_000,
  /** From the order to connect until the first connection is due. */
  connectLeadUs: 20_000,
  /** So that every worker has the order before the first message is due. */
  stepLeadUs: 100_000,
  drainPollMs: 25,
  /** From the end of a step; a backlog may take a second. */
  sendingUs: 1_500_000,
  /** From the end of a drain until agents have reported each other's changes. */
  reportingUs: 1_000_000,
  closeMs: 3000,
  /** Upper bound: hosts declare silent agents lost before this. */
  mostSettlingMs: 120_000,
  /**
   * Beyond the longest a phase may take, until an agent that has not reported is lost. Source: decision record on
   * several machines, "Barrier".
   */
  phaseMs: 60_000,
  /** After that, for reports that are still on their way. */
  onItsWayMs: 5000,
  /** Between two checks for silent worker processes. */
  lookMs: 1000,
  /** A worker process silent for this long is lost; the same as the default of agents. */
  silentMs: 30_000,
  recoveryPollMs: 250,
  /** A target that delivers nothing for so long counts as recovered. */
  quietUs: 2_000_000,
  leastRecoveryMs: 5000,
} as const;

/** Unwinds whatever is waited for; the ending is already recorded. */
export class EndedEarly extends Error {}

/** Completes "it did not report within 5 s that …". */
export const milestones = {
  open: 'it had opened its connections',
  prepare: 'it had prepared its connections',
  send: 'its last message of the step had left',
  count: 'it had counted what came in the step',
} as const;

/** What the lead waits for; everything throws {@link EndedEarly} once the run has ended. */
export class LeadWaiter {
  constructor(
    private readonly reports: WorkerReports,
    private readonly workers: WorkerHost,
    private readonly nowUs: () => number,
    private readonly hasEnded: () => boolean,
  ) {}

  throwIfEnded(): void {
    if (this.hasEnded()) throw new EndedEarly();
  }

  async reported(what: string, untilUs = Infinity): Promise<boolean> {
    const leftMs = (): number => (untilUs - this.nowUs()) / 1000;
    const inTime = await this.reports.all(what, leftMs, this.hasEnded);
    this.throwIfEnded();
    return inTime;
  }

  /**
   * The same, but agents that do not report in time are lost. @param did the milestone in words, after "that" @param
   * mostMs longest duration of the phase
   */
  async reportedByAll(what: string, did: string, mostMs = 0): Promise<void> {
    const { workers } = this;
    const withinMs = mostMs + leadTimings.phaseMs;
    const untilUs = workers.giveUp === undefined ? Infinity : this.nowUs() + withinMs * 1000;
    if (await this.reported(what, untilUs)) return;
    await this.settled();
    const seconds = formatCount(Math.round(withinMs / 1000));
    for (const worker of this.reports.missing(what))
      workers.giveUp?.(worker, `it did not report within ${seconds} s that ${did}`);
    this.throwIfEnded();
  }

  async reached(atUs: number): Promise<void> {
    const leftMs = Math.max(0, (atUs - this.nowUs()) / 1000);
    await this.reports.until(this.hasEnded, leftMs);
    this.throwIfEnded();
  }

  /** Returns at once: reports of closed workers wake the waiting code. */
  endWorkers(): void {
    const { workers, reports } = this;
    inBackground(workers.end().then(() => reports.changed()));
  }

  private async settled(): Promise<void> {
    const { workers, reports } = this;
    if (workers.settled === undefined) return;
    let isOver = false;
    let failure: { readonly error: unknown } | undefined;
    const over = (): void => {
      isOver = true;
      reports.changed();
    };
    workers.settled(leadTimings.onItsWayMs).then(over, (error: unknown) => {
      failure = { error };
      over();
    });
    await reports.until(() => isOver || this.hasEnded(), leadTimings.mostSettlingMs);
    if (failure !== undefined) throw failure.error;
    this.throwIfEnded();
  }
}

/** Timers take no infinite time. */
const longestWaitMs = 60_000;

export class WorkerReports extends ChangeSignal {
  private readonly reporters = new Map<string, Set<number>>();

  constructor(private readonly alive: () => ReadonlySet<number>) {
    super();
  }

  note(what: string, worker: number): void {
    const workers = this.reporters.get(what) ?? new Set();
    workers.add(worker);
    this.reporters.set(what, workers);
  }

  forget(what: string): void {
    this.reporters.delete(what);
  }

  has(what: string): boolean {
    const workers = this.reporters.get(what);
    for (const worker of this.alive()) if (workers?.has(worker) !== true) return false;
    return true;
  }

  missing(what: string): number[] {
    const workers = this.reporters.get(what);
    return [...this.alive()].filter((worker) => workers?.has(worker) !== true);
  }

  /** Waits until all remaining workers have reported this, or waiting makes no sense; returns whether they have. */
  async all(what: string, leftMs: () => number, isOver: () => boolean): Promise<boolean> {
    for (let ms = leftMs(); ms > 0 && !this.has(what) && !isOver(); ms = leftMs())
      await this.until(() => this.has(what) || isOver(), Math.min(longestWaitMs, Math.ceil(ms)));
    return this.has(what);
  }
}

const mostOfOneWorker = (plan: Plan, connections: number): number =>
  Math.ceil(connections / plan.workers.length);

export function connectLimitMs(plan: Plan, connections: number): number {
  const { arrivingRate, arrival, connectTimeoutMs, workers } = plan;
  const own = mostOfOneWorker(plan, connections);
  const atOnce = Math.min(...workers.map(({ connectInFlight }) => connectInFlight));
  const waitingMs = Math.ceil(own / Math.max(1, atOnce)) * connectTimeoutMs;
  const dueMs = (connections / arrivingRate) * 1000;
  if (arrival === undefined) return dueMs + waitingMs;
  // A batch waits for the one before.
  const batches = Math.ceil(own / Math.max(1, Math.floor(arrivingRate / workers.length)));
  return waitingMs + batches * (arrival.batchWaitMs + connectTimeoutMs);
}

export function prepareLimitMs(plan: Plan, connections: number): number {
  const groups = populationsOf(plan).reduce((sum, each) => sum + each.groupsPerConnection, 0);
  // Asked for its id, a hub both answers and sends it.
  const callsEach = 2 + groups;
  const rounds = Math.ceil(mostOfOneWorker(plan, connections) / preparedAtOnce);
  return rounds * callsEach * answerTimeoutMs;
}
