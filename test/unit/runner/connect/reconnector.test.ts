import assert from 'node:assert/strict';
import type { PlanLife } from '../../../../src/plan/plan';
import { Reconnector } from '../../../../src/runner/connect/connectionLife';
import { ConnectFailure } from '../../../../src/wire/connect/connectFailure';
import { planOf } from '../../../fakes/plan';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const life: PlanLife = { repair: true, policy: 'atOnce', delayMs: 30 };

/** A reconnector whose connects do what the test wants, with what it did. */
class Bench {
  readonly tries: { readonly index: number; readonly atMs: number }[] = [];
  readonly failures: string[] = [];
  inFlight = 0;
  mostInFlight = 0;
  readonly reconnector: Reconnector;
  private readonly startMs = performance.now();

  constructor(
    open: (index: number, signal: AbortSignal, tries: number) => Promise<boolean>,
    changes: Partial<PlanLife> = {},
  ) {
    const plan = planOf({ connectInFlight: 3, arrivingRate: 50 });
    this.reconnector = new Reconnector(plan, { ...life, ...changes }, 0, {
      nowUs: () => performance.now() * 1000,
      open: async (index, signal) => {
        this.tries.push({ index, atMs: performance.now() - this.startMs });
        this.mostInFlight = Math.max(this.mostInFlight, (this.inFlight += 1));
        try {
          return await open(index, signal, this.tries.length);
        } finally {
          this.inFlight -= 1;
        }
      },
      failed: (_index, { errorClass }) => this.failures.push(errorClass),
    });
  }

  async until(count: number): Promise<void> {
    while (this.tries.length < count) await sleep(2);
  }
}

describe('Reconnector', () => {
  it('opens all again, never more at once than the plan allows', async () => {
    const bench = new Bench(async () => {
      await sleep(3);
      return true;
    });
    for (let index = 0; index < 20; index++) bench.reconnector.down(index);
    await bench.until(20);
    assert.equal(bench.mostInFlight, 3);
    assert.equal(new Set(bench.tries.map(({ index }) => index)).size, 20);
    assert.deepEqual(bench.failures, []);
  });

  it('does not give up, and waits as long as the server asks for', async () => {
    const bench = new Bench(async (_index, _signal, tries) => {
      if (tries < 4) throw new ConnectFailure('throttled', 'no', tries === 2 ? 120 : undefined);
      return true;
    });
    bench.reconnector.down(7);
    await bench.until(4);
    const [, second, third, fourth] = bench.tries.map(({ atMs }) => atMs);
    assert.ok(third! - second! >= 119, `${third! - second!} ms`);
    assert.ok(fourth! - third! >= 29, `${fourth! - third!} ms`);
    assert.deepEqual(bench.failures, ['throttled', 'throttled', 'throttled']);
    await sleep(60);
    assert.equal(bench.tries.length, 4);
  });

  it('exchanges at the rate of the ramp', async () => {
    const bench = new Bench(async () => true);
    for (let index = 0; index < 4; index++) bench.reconnector.exchange(index);
    await bench.until(4);
    // Not from the first, which may come late.
    bench.tries.forEach(({ atMs }, position) => {
      assert.ok(atMs >= position * 20 - 3, `${position} came at ${atMs} ms`);
    });
  });

  it('stops: what is opening is given up, what waits does not begin', async () => {
    const bench = new Bench(
      (_index, signal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new ConnectFailure('timeout', 'given up'))),
        ),
      { policy: 'atOnce' },
    );
    for (let index = 0; index < 5; index++) bench.reconnector.down(index);
    await bench.until(3);
    bench.reconnector.stop();
    await sleep(30);
    assert.equal(bench.inFlight, 0);
    assert.equal(bench.tries.length, 3);
    assert.deepEqual(bench.failures, []);
  });
});
