import type { Clock } from '../../src/engine/machineClock';

interface Timer {
  atUs: number;
  /** Of an interval. */
  readonly everyUs?: number;
  readonly run: () => void;
}

const names = [
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
] as const;
type Timers = Record<(typeof names)[number], unknown>;
const real = Object.fromEntries(names.map((name) => [name, globalThis[name]])) as Timers;
const nextTurn = globalThis.setImmediate;
const realNow = performance.now.bind(performance);

/**
 * A clock that a test moves by hand, and timers and `performance.now` of this process by it: between {@link install} and
 * {@link restore} no time passes but that of {@link to}.
 */
export class VirtualTime implements Clock {
  /** By how much a timer is late; those of Node.js are by up to a millisecond. */
  lateMs = (): number => 0;
  private us = 0;
  private readonly timers = new Set<Timer>();

  install(): this {
    const within = (run: (...args: unknown[]) => void, ms: number, args: unknown[]): object =>
      this.add({ atUs: this.us + Math.max(0, ms) * 1000, run: () => run(...args) });
    const clear = (timer: unknown): void => void this.timers.delete(timer as Timer);
    const fakes: Timers = {
      setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
        within(run, ms + this.lateMs(), args),
      // A turn of the event loop takes time, too.
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        within(run, 0.001, args),
      setInterval: (run: () => void, ms: number) =>
        this.add({ atUs: this.us + ms * 1000, everyUs: ms * 1000, run }),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    };
    Object.assign(globalThis, fakes);
    performance.now = () => this.nowMs;
    return this;
  }

  restore(): void {
    Object.assign(globalThis, real);
    performance.now = realNow;
    this.timers.clear();
  }

  nowUs(): number {
    return this.us;
  }

  get nowMs(): number {
    return this.us / 1000;
  }

  /** The thread does something else meanwhile; timers fire late. */
  pass(ms: number): void {
    // Whole nanoseconds: who sleeps until a moment wakes at that moment.
    this.us = Math.round((this.us + ms * 1000) * 1000) / 1000;
  }

  /** Something happens at that moment, or at once where that is over. */
  at(us: number, run: () => void): void {
    this.add({ atUs: us, run });
  }

  /** Until the next timer fires. */
  get untilNextMs(): number {
    const next = this.next(Infinity);
    return next === undefined ? Infinity : Math.max(0, next.atUs - this.us) / 1000;
  }

  /** Timers that are waited for. */
  get pending(): number {
    return this.timers.size;
  }

  /** Until something waits for a timer of at least that long: sockets go on by themselves meanwhile. */
  async waitedFor(ms: number): Promise<void> {
    const isDue = (timer: Timer): boolean => timer.atUs >= this.us + ms * 1000;
    while (![...this.timers].some(isDue)) await this.settle();
  }

  /** Goes on to that moment, timer by timer in their order; all promises settle in between. */
  to(ms: number): Promise<void> {
    return this.toUs(ms * 1000);
  }

  private async toUs(us: number): Promise<void> {
    await this.settle();
    while (this.fires(us)) await this.settle();
    this.us = Math.max(this.us, us);
  }

  /** The same, microseconds, where nobody waits for a promise. */
  runTo(us: number): void {
    while (this.fires(us));
    this.us = Math.max(this.us, us);
  }

  /** Goes on until the promise settles, at most that long. */
  async until<T>(promise: Promise<T>, withinMs: number): Promise<T> {
    const state = { settled: false };
    const done = promise.finally(() => (state.settled = true));
    // Whoever awaits it below hears of its failure.
    done.catch(() => undefined);
    const endUs = this.us + withinMs * 1000;
    await this.settle();
    while (!state.settled) {
      const next = this.next(endUs);
      if (next === undefined) throw new Error(`nothing settled within ${withinMs} ms`);
      await this.toUs(Math.max(this.us, next.atUs));
    }
    return done;
  }

  /** The next timer, if one is due by then. */
  private fires(untilUs: number): boolean {
    const next = this.next(untilUs);
    if (next === undefined) return false;
    this.us = Math.max(this.us, next.atUs);
    if (next.everyUs === undefined) this.timers.delete(next);
    else next.atUs = this.us + next.everyUs;
    next.run();
    return true;
  }

  private next(untilUs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.timers)
      if (timer.atUs <= untilUs && timer.atUs < (first?.atUs ?? Infinity)) first = timer;
    return first;
  }

  private settle(): Promise<void> {
    return new Promise((resolve) => nextTurn(resolve));
  }

  private add(timer: Timer): object {
    this.timers.add(timer);
    // Handles of real timers know these.
    return Object.assign(timer, { unref: () => timer, ref: () => timer });
  }
}
