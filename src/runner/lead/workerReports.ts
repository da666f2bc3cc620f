/** Timers bear no infinity. */
const longestWaitMs = 60_000;

/** What workers have reported, and who waits for it or for anything else to change. */
export class WorkerReports {
  private readonly reporters = new Map<string, Set<number>>();
  private wake: () => void = () => undefined;

  constructor(private readonly alive: () => ReadonlySet<number>) {}

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

  changed(): void {
    this.wake();
  }

  /** Settles when the condition holds or the time is up, whatever else happens. */
  until(holds: () => boolean, withinMs: number): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.wake = () => undefined;
        resolve();
      };
      const timer = setTimeout(settle, withinMs);
      this.wake = () => {
        if (holds()) settle();
      };
      this.wake();
    });
  }
}
