import { ConnectFailure } from '../connectFailure';

/** Of what has no end yet, over all connections of a worker. */
export class UnfinishedBudget {
  private readonly holdings = new Set<Holding>();
  bytes = 0;

  constructor(private readonly mostBytes: number) {}

  change(holding: Holding, more: number): void {
    this.bytes += more;
    if (holding.bytes > 0) this.holdings.add(holding);
    else this.holdings.delete(holding);
    // Whoever reads now may be the largest.
    if (this.bytes > this.mostBytes) queueMicrotask(() => this.shrink());
  }

  private shrink(): void {
    while (this.bytes > this.mostBytes) {
      const largest = [...this.holdings].reduce((a, b) => (b.bytes > a.bytes ? b : a));
      const text = `its message had no end after ${largest.bytes} bytes, the most of all connections, which had ${this.bytes} together`;
      largest.giveUp(new ConnectFailure('protocol', text));
      largest.set(0);
    }
  }
}

/** What one reader has of it, and may have: whoever gives it up lets go of all. */
export class Holding {
  bytes = 0;

  constructor(
    private readonly budget: UnfinishedBudget | undefined,
    readonly giveUp: (failure: ConnectFailure) => void,
    private readonly what = '',
    private readonly mostBytes = Infinity,
  ) {}

  set(wanted: number): void {
    // What was given up may be let go of later.
    const bytes = Math.max(0, wanted);
    const more = bytes - this.bytes;
    this.bytes = bytes;
    if (more !== 0) this.budget?.change(this, more);
    if (bytes <= this.mostBytes) return;
    const text = `${this.what} is above the limit of ${this.mostBytes} bytes`;
    this.giveUp(new ConnectFailure('protocol', text));
  }
}
