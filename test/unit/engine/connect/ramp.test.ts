import assert from 'node:assert/strict';
import type { ErrorClass } from '../../../../src/base/errorClass';
import { Ramp, Arrivals } from '../../../../src/engine/connect/ramp';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import type { Plan } from '../../../../src/plan/plan';
import { planOf } from '../../../fakes/plan';
import { VirtualTime } from '../../../fakes/virtualTime';
import * as fc from 'fast-check';
import { configSpecs } from '../../../../src/scenario/keys/configKeys';

let time: VirtualTime;
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const never = (signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => {
    const fail = (): void => reject(new ConnectFailure('timeout', 'given up'));
    signal.addEventListener('abort', fail);
    if (signal.aborted) fail();
  });

/** A ramp with everything it did. */
class Ride {
  readonly attempts: { readonly index: number; readonly atMs: number }[] = [];
  readonly opened: number[] = [];
  readonly failed: (readonly [number, ErrorClass])[] = [];
  readonly ramp: Ramp;

  constructor(
    plan: Plan,
    private readonly open: (index: number, signal: AbortSignal) => Promise<void>,
    worker = 0,
  ) {
    this.ramp = new Ramp(plan, worker, {
      clock: time,
      open: async (index, signal) => {
        this.attempts.push({ index, atMs: time.nowMs });
        await this.open(index, signal);
        return {};
      },
      opened: (index, tookUs) => {
        assert.ok(tookUs >= 0);
        this.opened.push(index);
      },
      failed: (index, failure) => this.failed.push([index, failure.errorClass]),
    });
  }

  /** Begins at 0. */
  start(): Promise<void> {
    return this.ramp.run(0);
  }

  run(): Promise<void> {
    return time.until(this.start(), 60_000);
  }
}

const failing = (errorClass: ErrorClass, retryAfterMs?: number) => async (): Promise<void> => {
  throw new ConnectFailure(errorClass, 'no', retryAfterMs);
};

describe('Ramp', () => {
  beforeEach(() => (time = new VirtualTime().install()));
  afterEach(() => time.restore());

  it('opens this worker’s connections at the plan’s rate, each in its time', async () => {
    const plan = planOf({ connections: 40, arrivingRate: 200 }, 2);
    const ride = new Ride(plan, async () => undefined, 1);
    await ride.run();
    const odd = Array.from({ length: 20 }, (_, position) => 2 * position + 1);
    assert.deepEqual(ride.opened, odd);
    assert.deepEqual(
      ride.attempts,
      odd.map((index) => ({ index, atMs: index * 5 })),
    );
    assert.deepEqual(ride.failed, []);
  });

  it('never has more connects in flight than the plan allows, and uses what it allows', async () => {
    let inFlight = 0;
    let most = 0;
    const ride = new Ride(
      planOf({ connections: 30, arrivingRate: 100_000, connectInFlight: 4 }),
      async () => {
        most = Math.max(most, (inFlight += 1));
        await sleep(3);
        inFlight -= 1;
      },
    );
    await ride.run();
    assert.equal(most, 4);
    assert.equal(ride.opened.length, 30);
  });

  it('keeps to the ramp modes of the Azure SignalR benchmark where one is named', async () => {
    const batches = { mode: 'LowPress', batchWaitMs: 100 } as const;
    // A share of 10 for each of the two workers.
    const plan = planOf({ connections: 50, arrivingRate: 20, arrival: batches }, 2);
    const ride = new Ride({ ...plan, connectInFlight: 100 }, async () => undefined);
    await ride.run();
    assert.equal(ride.opened.length, 25);
    assert.deepEqual(
      ride.attempts.map(({ atMs }) => atMs),
      ride.attempts.map((_, position) => 100 * Math.floor(position / 10)),
    );

    let inFlight = 0;
    let most = 0;
    const pressed = planOf({
      connections: 40,
      arrivingRate: 6,
      connectInFlight: 100,
      arrival: { mode: 'HighPress', batchWaitMs: 0 },
    });
    const other = new Ride(pressed, async () => {
      most = Math.max(most, (inFlight += 1));
      await sleep(60);
      inFlight -= 1;
    });
    await other.run();
    assert.equal(other.opened.length, 40);
    assert.equal(most, 6);
  });

  it('opens a round of connections with its own share and clock', async () => {
    const plan = planOf({ connections: 40, arrivingRate: 1000 }, 3);
    const ride = new Ride(plan, async () => undefined, 2);
    await time.until(ride.ramp.run(0, 10, 21), 1000);
    assert.deepEqual(ride.opened, [11, 14, 17, 20]);
  });

  it('tries a connect that may be cured twice more, and reports its failure once', async () => {
    const ride = new Ride(planOf({ connections: 3, arrivingRate: 10_000 }), failing('refused'));
    await ride.run();
    assert.equal(ride.attempts.length, 9);
    assert.deepEqual(
      ride.failed.map(([index]) => index).sort((a, b) => a - b),
      [0, 1, 2],
    );
    assert.ok(ride.failed.every(([, errorClass]) => errorClass === 'refused'));
    const [first, second, third] = ride.attempts.filter(({ index }) => index === 0);
    const pausesMs = [second!.atMs - first!.atMs, third!.atMs - second!.atMs];
    assert.ok(pausesMs[0]! >= 100 && pausesMs[0]! < 300, `${pausesMs[0]} ms`);
    assert.ok(pausesMs[1]! >= 200 && pausesMs[1]! < 600, `${pausesMs[1]} ms`);
  });

  for (const errorClass of ['unauthorized', 'notFound', 'tls', 'dns', 'handshake'] as const) {
    it(`does not try ${errorClass} again`, async () => {
      const ride = new Ride(planOf({ connections: 1 }), failing(errorClass));
      await ride.run();
      assert.equal(ride.attempts.length, 1);
      assert.deepEqual(ride.failed, [[0, errorClass]]);
    });
  }

  it('waits as long as the server asks for', async () => {
    // Longer than the first pause of its own could be.
    const ride = new Ride(planOf({ connections: 1 }), failing('throttled', 350));
    await ride.run();
    assert.deepEqual(
      ride.attempts.map(({ atMs }) => atMs),
      [0, 350, 700],
    );
  });

  it('fails at once when the server asks for more time than there is', async () => {
    const plan = planOf({ connections: 1, connectTimeoutMs: 1000 });
    const ride = new Ride(plan, failing('throttled', 60_000));
    await ride.run();
    assert.equal(time.nowMs, 0);
    assert.deepEqual(ride.failed, [[0, 'throttled']]);
  });

  it('gives a connect up when its time is over', async () => {
    const plan = planOf({ connections: 1, connectTimeoutMs: 60 });
    const ride = new Ride(plan, (_index, signal) => never(signal));
    await ride.run();
    assert.deepEqual(ride.failed, [[0, 'timeout']]);
    assert.equal(time.nowMs, 60);
  });

  it('stops: what is open stays, what is opening is given up, nothing else begins', async () => {
    const plan = planOf({ connections: 1000, arrivingRate: 200, connectInFlight: 2 });
    const ride = new Ride(plan, async (index, signal) => {
      if (index > 0) await never(signal);
    });
    const running = ride.start();
    await time.to(20);
    assert.equal(ride.attempts.length, 3);
    ride.ramp.stop();
    await time.until(running, 0);
    assert.deepEqual(ride.opened, [0]);
    assert.deepEqual(
      ride.failed.map(([index]) => index),
      [1, 2],
    );
  });

  it('does not sit out a pause when it is stopped', async () => {
    const ride = new Ride(planOf({ connections: 1 }), failing('throttled', 4000));
    const running = ride.start();
    await time.to(20);
    ride.ramp.stop();
    await time.until(running, 0);
    assert.deepEqual([ride.attempts.length, ride.failed], [1, [[0, 'throttled']]]);
  });

  it('lets a defect through instead of counting it', async () => {
    const ride = new Ride(planOf({ connections: 1 }), async () => {
      throw new TypeError('a defect');
    });
    await assert.rejects(ride.run(), TypeError);
    assert.deepEqual(ride.failed, []);
  });
});

const wait = { batchWaitMs: 500 };

describe('the ramp modes of the Azure SignalR benchmark', () => {
  it('HighPress limits the connects in flight, to half of the share at first', () => {
    const arrivals = new Arrivals({ mode: 'HighPress', share: 9, ...wait });
    assert.equal(arrivals.mayHaveBegun(0, 0), 5);
    assert.equal(arrivals.mayHaveBegun(250, 0), 7);
    assert.equal(arrivals.mayHaveBegun(5000, 0), 9);
    assert.equal(arrivals.mayHaveBegun(5000, 40), 49);
  });

  it('LowPress opens batches with a pause, whatever became of the ones before', () => {
    const arrivals = new Arrivals({ mode: 'LowPress', share: 20, ...wait });
    const begun = [0, 499, 500, 1499, 1500].map((ms) => arrivals.mayHaveBegun(ms, 0));
    assert.deepEqual(begun, [20, 20, 40, 60, 80]);
    assert.equal(
      new Arrivals({ mode: 'LowPress', share: 1, batchWaitMs: 0 }).mayHaveBegun(0, 0),
      Infinity,
    );
  });

  it('ExtLimitRatePress opens a tenth of the rate each 100 ms, fractions not lost', () => {
    const arrivals = new Arrivals({ mode: 'ExtLimitRatePress', share: 55, ...wait });
    const begun = [0, 99, 100, 200, 1000, 2000].map((ms) => arrivals.mayHaveBegun(ms, 0));
    assert.deepEqual(begun, [0, 0, 5, 11, 55, 110]);
  });

  it('LimitRatePress opens no more than were over in the 100 ms before, unless none was', () => {
    const arrivals = new Arrivals({ mode: 'LimitRatePress', share: 100, ...wait });
    assert.equal(arrivals.mayHaveBegun(0, 0), 0);
    // Ten are allowed, and one more each time at first.
    assert.equal(arrivals.mayHaveBegun(100, 0), 11);
    assert.equal(arrivals.mayHaveBegun(200, 0), 22);
    assert.equal(arrivals.mayHaveBegun(250, 1), 22);
    assert.equal(arrivals.mayHaveBegun(300, 2), 25);
    assert.equal(arrivals.mayHaveBegun(400, 32), 36);
    // A pause counts once, with what was over in it.
    assert.equal(arrivals.mayHaveBegun(900, 36), 45);
  });

  for (const share of [1, 4, 20, 55, 100]) {
    it(`LimitRatePress keeps ${share} connects per second when they are over in time`, () => {
      const arrivals = new Arrivals({ mode: 'LimitRatePress', share, ...wait });
      const begun: number[] = [];
      for (let ms = 0; ms <= 120_000; ms += 5) {
        const over = begun.findIndex((at) => at > ms - 20);
        const may = arrivals.mayHaveBegun(ms, over === -1 ? begun.length : over);
        while (begun.length < may) begun.push(ms);
      }
      // After the ones more at first, which are a tenth of a second apart.
      const later = begun.filter((at) => at > 20_000).length;
      assert.ok(Math.abs(later - 100 * share) <= 2, `${later} in 100 s`);
      assert.ok(Math.abs(begun.length - 121 * share) <= 2, `${begun.length} in all`);
    });
  }

  it('never take anything back', () => {
    const moves = fc.array(fc.tuple(fc.nat(400), fc.nat(30)), { maxLength: 30 });
    const rising = fc.property(
      fc.constantFrom(...configSpecs.arrivingBatchMode.choices),
      fc.integer({ min: 1, max: 200 }),
      moves,
      (mode, share, list) => {
        const arrivals = new Arrivals({ mode, share, ...wait });
        let [elapsedMs, over, last] = [0, 0, 0];
        for (const [ms, more] of list) {
          elapsedMs += ms;
          over += more;
          const begun = arrivals.mayHaveBegun(elapsedMs, over);
          assert.ok(begun >= last, `${begun} after ${last}`);
          last = begun;
        }
      },
    );
    fc.assert(rising, { numRuns: 200 });
  });
});
