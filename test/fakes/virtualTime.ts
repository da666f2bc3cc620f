import type { Clock } from '../../src/runner/machineClock';

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
  private us = 0;
  private readonly timers = new Set<Timer>();

  install(): this {
    const once = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object =>
      this.add({ atUs: this.us + Math.max(0, ms) * 1000, run: () => run(...args) });
    const clear = (timer: unknown): void => void this.timers.delete(timer as Timer);
    const fakes: Timers = {
      setTimeout: once,
      // A turn of the event loop takes time, too.
      setImmediate: (run: (...args: unknown[]) => void, ...args: unknown[]) =>
        once(run, 0.001, ...args),
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
    this.us += ms * 1000;
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
    for (let next = this.next(us); next !== undefined; next = this.next(us)) {
      this.us = Math.max(this.us, next.atUs);
      if (next.everyUs === undefined) this.timers.delete(next);
      else next.atUs += next.everyUs;
      next.run();
      await this.settle();
    }
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
