import { formatCount } from '../../base/units';
import type { WorkerHost } from '../../protocol/worker';
import { waits } from './waits';
import type { WorkerReports } from './workerReports';

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

  private async settled(): Promise<void> {
    const { workers, reports } = this;
    if (workers.settled === undefined) return;
    let isOver = false;
    void workers.settled(waits.onItsWayMs).then(() => {
      isOver = true;
      reports.changed();
    });
    await reports.until(() => isOver || this.hasEnded(), waits.mostSettlingMs);
    this.throwIfEnded();
  }
}
