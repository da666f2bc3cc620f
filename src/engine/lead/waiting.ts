import { inBackground } from '../../base/background';
import { formatCount } from '../../base/units';
import { Changes } from '../pause';
import type { WorkerHost } from '../../messages/worker';

/** How long the lead of a run waits for what. */
export const waits = {
  /** Failed connects after which a target that never answered is given up. */
  hopelessConnects: 20,
  /** A target of which nothing is heard for so long is given up, unless the plan allows a single connect more. */
  hopelessMs: 22_500,
  /** So is one that had connections, after as long without any. */
  deadMs: 47_000,
  /** In a search, whose connections come back only because it opens them again. */
  deadInSearchMs: 15_000,
  /** From the order to connect until the first connection is due. */
  connectLeadUs: 20_000,
  /** From the order to begin a step until its first message may be due, so that every worker has heard it. */
  stepLeadUs: 100_000,
  drainPollMs: 25,
  /** From the end of a step until every worker has said that its last message left; backlogs take a second. */
  sendingUs: 1_500_000,
  /** From the end of a drain until agents have reported each other's changes. */
  reportingUs: 1_000_000,
  closeMs: 3000,
  /** A host declares lost who is silent, before this. */
  mostSettlingMs: 120_000,
  /**
   * After all the time that a phase may take, until an agent that has not reported its end is lost.
   * Source: decision record on several machines, "Barrier".
   */
  phaseMs: 60_000,
  /** After that, for what could not be heard until then. */
  onItsWayMs: 5000,
  /** Between two looks at which processes of workers are silent. */
  lookMs: 1000,
  /** One that is silent for so long is lost, as an agent is by default. */
  silentMs: 30_000,
  /** Between two looks at a target that recovers from a step. */
  recoveryPollMs: 250,
  /** One that delivers nothing more for so long has recovered, or will not. */
  quietUs: 2_000_000,
  leastRecoveryMs: 5000,
} as const;

/** Leaves whatever is waited for; the ending is already noted. */
export class EndedEarly extends Error {}

/** What a worker has done, for who says that one has not. */
export const did = {
  open: 'it had opened its connections',
  prepare: 'it had prepared its connections',
  send: 'its last message of the step had left',
  count: 'it had counted what came in the step',
} as const;

/** What the lead of a run waits for; all of it leaves by {@link EndedEarly} when the run has ended meanwhile. */
export class Waiting {
  constructor(
    private readonly reports: WorkerReports,
    private readonly workers: WorkerHost,
    private readonly nowUs: () => number,
    private readonly hasEnded: () => boolean,
  ) {}

  throwIfEnded(): void {
    if (this.hasEnded()) throw new EndedEarly();
  }

  /** Whether all workers have reported this, in time. */
  async reported(what: string, untilUs = Infinity): Promise<boolean> {
    const leftMs = (): number => (untilUs - this.nowUs()) / 1000;
    const inTime = await this.reports.all(what, leftMs, this.hasEnded);
    this.throwIfEnded();
    return inTime;
  }

  /**
   * The same of what nobody goes on without: an agent that has not reported it long after it may take is lost.
   * @param did what it has done then, after "that"
   * @param mostMs how long it may take
   */
  async reportedByAll(what: string, did: string, mostMs = 0): Promise<void> {
    const { workers } = this;
    const withinMs = mostMs + waits.phaseMs;
    const untilUs = workers.giveUp === undefined ? Infinity : this.nowUs() + withinMs * 1000;
    if (await this.reported(what, untilUs)) return;
    // Where nothing was heard of anybody, it may be on its way.
    await this.settled();
    const seconds = formatCount(Math.round(withinMs / 1000));
    for (const worker of this.reports.missing(what))
      workers.giveUp?.(worker, `it did not report within ${seconds} s that ${did}`);
    this.throwIfEnded();
  }

  /** Until that moment of run time, microseconds. */
  async reached(atUs: number): Promise<void> {
    const leftMs = Math.max(0, (atUs - this.nowUs()) / 1000);
    await this.reports.until(this.hasEnded, leftMs);
    this.throwIfEnded();
  }

  /** Does not wait for them: whoever waits for something of theirs looks again. */
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
    workers.settled(waits.onItsWayMs).then(over, (error: unknown) => {
      failure = { error };
      over();
    });
    await reports.until(() => isOver || this.hasEnded(), waits.mostSettlingMs);
    if (failure !== undefined) throw failure.error;
    this.throwIfEnded();
  }
}

/** Timers bear no infinity. */
const longestWaitMs = 60_000;

/** What workers have reported, and who waits for it or for anything else to change. */
export class WorkerReports extends Changes {
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

  /** The living that have not reported this. */
  missing(what: string): number[] {
    const workers = this.reporters.get(what);
    return [...this.alive()].filter((worker) => workers?.has(worker) !== true);
  }

  /** Waits until all living workers have reported this, or nothing is to be waited for; whether they have. */
  async all(what: string, leftMs: () => number, isOver: () => boolean): Promise<boolean> {
    for (let ms = leftMs(); ms > 0 && !this.has(what) && !isOver(); ms = leftMs())
      await this.until(() => this.has(what) || isOver(), Math.min(longestWaitMs, Math.ceil(ms)));
    return this.has(what);
  }
}
