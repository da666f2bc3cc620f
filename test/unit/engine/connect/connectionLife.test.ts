import assert from 'node:assert/strict';
import { closeMarginUs } from '../../../../src/base/message';
import type { PlanLife } from '../../../../src/plan/plan';
import {
  ConnectionLife,
  Reconnector,
  reconnectDelayMs,
} from '../../../../src/engine/connect/connectionLife';
import { ConnectFailure } from '../../../../src/wire/connectFailure';
import { FakeConnection } from '../../../fakes/connection';
import { planOf } from '../../../fakes/plan';
import { VirtualTime } from '../../../fakes/virtualTime';
import { seededRandom } from '../../../../src/base/random';
import type { ReconnectPolicy } from '../../../../src/scenario/scenario';

const leavingMs = closeMarginUs / 1000;

describe('ConnectionLife', () => {
  let time: VirtualTime;
  let life: ConnectionLife;
  let connections: FakeConnection[];
  /** What was done with connections, each with the moment. */
  let events: string[];
  let prepares: (index: number) => boolean;
  let fails: (index: number) => ConnectFailure | undefined;

  beforeEach(() => {
    time = new VirtualTime().install();
  });
  afterEach(() => {
    life.stop();
    time.restore();
  });

  function make(changes: Partial<PlanLife>, count = 3): void {
    const plan = planOf({ connections: count, arrivingRate: 10 });
    events = [];
    prepares = () => true;
    fails = () => undefined;
    connections = Array.from({ length: count }, (_, index) => new FakeConnection(index));
    const note = (what: string): unknown => events.push(`${Math.round(time.nowMs)} ${what}`);
    const given: PlanLife = { repair: false, policy: 'fixed', delayMs: 200, ...changes };
    life = new ConnectionLife(plan, given, 0, {
      nowUs: () => time.nowUs(),
      opened: () => connections.filter(({ isOpen }) => isOpen).map(({ asHub }) => asHub),
      openAt: (index) => (connections[index]!.isOpen ? connections[index]!.asHub : undefined),
      reopen: (index) => {
        const failure = fails(index);
        note(`reopen ${index}`);
        if (failure !== undefined) return Promise.reject(failure);
        connections[index] = new FakeConnection(index);
        return Promise.resolve(connections[index].asHub);
      },
      prepare: ({ index }) => Promise.resolve(prepares(index)),
      leave: (index) => note(`leave ${index}`),
      close: (connection) => {
        connections[connection.index]!.isOpen = false;
        note(`close ${connection.index}`);
      },
      failed: (index, { errorClass }) => note(`failed ${index} ${errorClass}`),
    });
  }
  const lose = (index: number): void => {
    connections[index]!.isOpen = false;
    life.lost(index);
  };

  it('opens a dropped connection again after the pause, where it repairs', async () => {
    make({ repair: true });
    lose(1);
    await time.to(1000);
    assert.deepEqual(events, ['200 reopen 1']);
  });

  it('leaves it down, where it does not', async () => {
    make({ lifetimeMs: 100_000 });
    lose(1);
    await time.to(1000);
    assert.deepEqual(events, []);
  });

  it('tries again until it works, and says each failure', async () => {
    make({ repair: true });
    fails = () => (time.nowMs < 500 ? new ConnectFailure('refused', 'no') : undefined);
    lose(0);
    await time.to(2000);
    assert.deepEqual(events, [
      ...['200 reopen 0', '200 failed 0 refused', '400 reopen 0', '400 failed 0 refused'],
      '600 reopen 0',
    ]);
  });

  it('exchanges a connection when its life is over, which takes no part in its last moment', async () => {
    make({ lifetimeMs: 1000 }, 1);
    life.joined(0);
    await time.to(2050 + leavingMs + 60);
    const [left, closed, reopened] = events.map((event) => event.split(' '));
    assert.deepEqual(
      [left, closed, reopened].map((event) => event?.[1]),
      ['leave', 'close', 'reopen'],
    );
    const leftMs = Number(left![0]);
    assert.ok(leftMs <= 2050, `a life of a mean of 1 s ended after ${leftMs} ms`);
    // Looked at every 50 ms.
    const waitedMs = Number(closed![0]) - leftMs;
    assert.ok(waitedMs >= leavingMs && waitedMs < leavingMs + 50, `closed after ${waitedMs} ms`);
  });

  it('does not close one that was lost in its last moment', async () => {
    make({ lifetimeMs: 1000 }, 1);
    life.joined(0);
    while (events.length === 0) await time.to(time.nowMs + 50);
    lose(0);
    await time.to(time.nowMs + leavingMs + 400);
    assert.ok(!events.some((event) => event.includes('close')));
    // It was to come back anyway.
    assert.ok(events.some((event) => event.includes('reopen 0')));
  });

  it('gives each connection one life, however often it joins', async () => {
    make({ lifetimeMs: 1000 }, 1);
    for (let ms = 0; ms < 4000; ms += 50) {
      if (events.length === 0) life.joined(0);
      await time.to(ms);
    }
    assert.match(events[0] ?? '', /leave 0$/);
  });

  it('drops all in one go in the measured time, first out of the game, and opens them again', async () => {
    make({ dropAllAfterMs: 1000 });
    life.beginStep(500_000, 5_000_000);
    await time.to(3000);
    const at = (what: string): number[] =>
      events.filter((event) => event.includes(what)).map((event) => Number(event.split(' ')[0]));
    assert.deepEqual(at('leave'), Array(3).fill(1500 - leavingMs));
    assert.deepEqual(at('close'), [1500, 1500, 1500]);
    assert.deepEqual(at('reopen'), [1700, 1700, 1700]);
  });

  it('leaves what is under way its time, even where the drop is noticed late', async () => {
    make({ dropAllAfterMs: 1000 });
    await time.to(1450);
    life.beginStep(500_000, 5_000_000);
    await time.to(4000);
    const at = (what: string): number[] =>
      events.filter((event) => event.includes(what)).map((event) => Number(event.split(' ')[0]));
    assert.deepEqual(at('leave'), [1500, 1500, 1500]);
    assert.deepEqual(at('close'), Array(3).fill(1500 + leavingMs));
  });

  it('does not drop them, when that would be after the step', async () => {
    make({ dropAllAfterMs: 1000 });
    life.beginStep(500_000, 1_400_000);
    await time.to(3000);
    assert.deepEqual(events, []);
  });

  it('takes one up again only when it is prepared', async () => {
    make({ repair: true, lifetimeMs: 60_000 });
    prepares = () => {
      // Whoever cannot be prepared is dropped, which counts as a loss.
      prepares = () => true;
      queueMicrotask(() => lose(2));
      return false;
    };
    lose(2);
    await time.to(1000);
    assert.deepEqual(events, ['200 reopen 2', '400 reopen 2']);
  });
});

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

const delays = (policy: ReconnectPolicy): number[] => {
  const random = seededRandom(1);
  return [0, 1, 2, 3, 4, 40].map((tries) =>
    reconnectDelayMs({ policy, delayMs: 1000 }, tries, random),
  );
};

describe('reconnectDelayMs', () => {
  it('comes back at once, fixed, or as the official clients do', () => {
    assert.deepEqual(delays('atOnce'), [0, 1000, 1000, 1000, 1000, 1000]);
    assert.deepEqual(delays('fixed'), [1000, 1000, 1000, 1000, 1000, 1000]);
    assert.deepEqual(delays('signalr'), [0, 2000, 10_000, 30_000, 30_000, 30_000]);
  });

  it('doubles up to half a minute, spread by half to both sides', () => {
    const means = [1000, 2000, 4000, 8000, 16_000, 30_000];
    delays('exponential').forEach((ms, at) => {
      const mean = means[at]!;
      assert.ok(ms >= mean / 2 && ms < mean * 1.5, `${ms} ms of ${mean} ms`);
    });
  });
});
