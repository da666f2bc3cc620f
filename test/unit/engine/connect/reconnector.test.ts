import assert from 'node:assert/strict';
import type { PlanLife } from '../../../../src/plan/plan';
import { Reconnector } from '../../../../src/engine/connect/connectionLife';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { planOf } from '../../../fakes/plan';
import { VirtualTime } from '../../../fakes/virtualTime';

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
let time: VirtualTime;
const life: PlanLife = { repair: true, policy: 'atOnce', delayMs: 30 };

/** A reconnector whose connects do what the test wants, with what it did. */
class Bench {
  readonly tries: { readonly index: number; readonly atMs: number }[] = [];
  readonly failures: string[] = [];
  inFlight = 0;
  mostInFlight = 0;
  readonly reconnector: Reconnector;

  constructor(
    open: (index: number, signal: AbortSignal, tries: number) => Promise<boolean>,
    changes: Partial<PlanLife> = {},
  ) {
    const plan = planOf({ connectInFlight: 3, arrivingRate: 50 });
    this.reconnector = new Reconnector(plan, { ...life, ...changes }, 0, {
      nowUs: () => time.nowUs(),
      open: async (index, signal) => {
        this.tries.push({ index, atMs: time.nowMs });
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

  get triedAtMs(): number[] {
    return this.tries.map(({ atMs }) => atMs);
  }
}

describe('Reconnector', () => {
  beforeEach(() => (time = new VirtualTime().install()));
  afterEach(() => time.restore());

  it('opens all again, never more at once than the plan allows', async () => {
    const bench = new Bench(async () => {
      await sleep(3);
      return true;
    });
    for (let index = 0; index < 20; index++) bench.reconnector.down(index);
    await time.to(1000);
    assert.equal(bench.tries.length, 20);
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
    await time.to(60_000);
    assert.deepEqual(bench.triedAtMs, [0, 30, 150, 180]);
    assert.deepEqual(bench.failures, ['throttled', 'throttled', 'throttled']);
  });

  it('exchanges at the rate of the ramp', async () => {
    const bench = new Bench(async () => true);
    for (let index = 0; index < 4; index++) bench.reconnector.exchange(index);
    await time.to(1000);
    assert.deepEqual(bench.triedAtMs, [20, 40, 60, 80]);
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
    await time.to(0);
    assert.equal(bench.inFlight, 3);
    bench.reconnector.stop();
    await time.to(60_000);
    assert.equal(bench.inFlight, 0);
    assert.equal(bench.tries.length, 3);
    assert.deepEqual(bench.failures, []);
  });
});
