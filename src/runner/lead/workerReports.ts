/** Timers bear no infinity. */
const longestWaitMs = 60_000;

/** What workers have reported so far, and who waits for it or for anything else to change. */
export class WorkerReports {
  private readonly reporters = new Map<string, Set<number>>();
  private wake: () => void = () => undefined;

  /** @param alive workers whose report is waited for */
  constructor(private readonly alive: () => ReadonlySet<number>) {}

  note(what: string, worker: number): void {
    const workers = this.reporters.get(what) ?? new Set();
    workers.add(worker);
    this.reporters.set(what, workers);
  }

  /** Waits for it anew. */
  forget(what: string): void {
    this.reporters.delete(what);
  }

  /** Whether all living workers have reported this. */
  has(what: string): boolean {
    const workers = this.reporters.get(what);
    return [...this.alive()].every((worker) => workers?.has(worker) === true);
  }

  /**
   * Waits until all living workers have reported this, the time is up, or there is nothing to wait for.
   * @returns whether they have
   */
  async all(what: string, leftMs: () => number, isOver: () => boolean): Promise<boolean> {
    for (let ms = leftMs(); ms > 0 && !this.has(what) && !isOver(); ms = leftMs())
      await this.until(() => this.has(what) || isOver(), Math.min(longestWaitMs, Math.ceil(ms)));
    return this.has(what);
  }

  /** To be called whenever something has changed that {@link until} may be waiting for. */
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
