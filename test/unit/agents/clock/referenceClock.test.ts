import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import {
  answerClock,
  ReferenceClock,
  AskingPace,
  ClockInterval,
} from '../../../../src/agents/clock/referenceClock';
import {
  ClockDiscipline,
  createClockMemory,
  steeredClock,
} from '../../../../src/engine/machineClock';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus, MemoryLink } from '../memoryBus';
import fc from 'fast-check';

const exchange = (sentUs: number, offsetUs: number, thereUs: number, backUs: number) => ({
  sentUs,
  heardUs: sentUs + thereUs + offsetUs,
  answeredUs: sentUs + thereUs + offsetUs + 5,
  receivedUs: sentUs + thereUs + 5 + backUs,
});

describe('where another clock stands', () => {
  it('lies within the bound whatever the ways take, and clocks that drift too', () => {
    const ways = fc.array(
      fc.record({
        there: fc.nat({ max: 20_000 }),
        back: fc.nat({ max: 20_000 }),
        pauseMs: fc.nat({ max: 2000 }),
      }),
      { minLength: 1, maxLength: 40 },
    );
    const offset = fc.integer({ min: -1e12, max: 1e12 });
    const drift = fc.integer({ min: -400, max: 400 });
    fc.assert(
      fc.property(ways, offset, drift, (all, offsetUs, ppm) => {
        const interval = new ClockInterval();
        let atUs = 0;
        for (const { there, back, pauseMs } of all) {
          const now = offsetUs + atUs * ppm * 1e-6;
          interval.add(exchange(atUs, now, there, back));
          atUs += there + back + 5 + pauseMs * 1000;
          const found = interval.at(atUs);
          assert.ok(found);
          const truth = offsetUs + atUs * ppm * 1e-6;
          // What a double cannot hold.
          const more = Math.abs(offsetUs) * 1e-12 + 1e-3;
          assert.ok(Math.abs(found.offsetUs - truth) <= found.boundUs + more);
          assert.ok(interval.boundOf(truth, atUs) <= 2 * found.boundUs + 2 * more);
        }
        assert.equal(interval.jumps, 0);
      }),
    );
  });

  it('is known as well as the quickest exchange says', () => {
    const interval = new ClockInterval();
    interval.add(exchange(0, 1000, 500, 9000));
    interval.add(exchange(10_000, 1000, 100, 140));
    const { offsetUs, boundUs } = interval.at(10_245)!;
    // Half of what it took, less the 5 us between question and answer; and what clocks drift in 245 us.
    assert.ok(Math.abs(boundUs - 120 - 245 * 500e-6) < 1e-6, `${boundUs} us`);
    assert.ok(Math.abs(offsetUs - 1000) <= boundUs);
  });

  it('begins anew when a clock was moved', () => {
    const interval = new ClockInterval();
    interval.add(exchange(0, 0, 100, 100));
    interval.add(exchange(1_000_000, 1e9, 100, 100));
    assert.equal(interval.jumps, 1);
    assert.ok(Math.abs(interval.at(1_000_300)!.offsetUs - 1e9) < 200);
  });

  it('takes no exchange whose times cannot be', () => {
    const interval = new ClockInterval();
    interval.add({ sentUs: 10, heardUs: 5, answeredUs: 4, receivedUs: 20 });
    interval.add({ sentUs: 10, heardUs: NaN, answeredUs: NaN, receivedUs: 20 });
    interval.add({ sentUs: 30, heardUs: 5, answeredUs: 6, receivedUs: 20 });
    assert.equal(interval.at(100), undefined);
  });
});

describe('when an agent asks for the time', () => {
  function burst(pace: AskingPace, errorUs: number): { asked: number; pauseMs: number } {
    let asked = 1;
    while (pace.goesOn(asked, errorUs)) asked += 1;
    return { asked, pauseMs: pace.pauseMs(errorUs) };
  }

  it('is seldom while it knows the time well', () => {
    assert.deepEqual(burst(new AskingPace(3), 150), { asked: 1, pauseMs: 700 });
  });

  it('is often while it does not, and less so the more agents ask', () => {
    for (const [agents, asked, pauseMs] of [
      [1, 4, 100],
      [3, 4, 120],
      [10, 4, 400],
      [25, 4, 1000],
      [50, 2, 1000],
      [200, 1, 1000],
    ] as const) {
      const pace = new AskingPace(agents);
      burst(pace, 150);
      assert.deepEqual(burst(pace, 600), { asked, pauseMs }, `${agents} agents`);
    }
  });

  it('expects no more than a long way allows', () => {
    assert.deepEqual(burst(new AskingPace(3), 10_000), { asked: 1, pauseMs: 1000 });
  });

  it('forgets a way that was shorter', () => {
    const pace = new AskingPace(1);
    burst(pace, 200);
    const bursts = Array.from({ length: 120 }, () => burst(pace, 5000));
    assert.equal(bursts[0]!.asked, 4);
    assert.equal(bursts.at(-1)!.asked, 1);
  });
});

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const aheadUs = 12_345_000_000;

class SlowLink extends MemoryLink {
  thereMs = 0.2;
  backMs = 0.2;
  asked = 0;

  constructor(
    bus: MemoryBus,
    private readonly time: VirtualTime,
  ) {
    super(bus);
  }

  override async ask(subject: string, value: string): Promise<string | undefined> {
    this.asked += 1;
    this.time.pass(this.thereMs);
    const answer = await super.ask(subject, value);
    this.time.pass(this.backMs);
    return answer;
  }
}

describe(`ReferenceClock (SEED=${seed})`, () => {
  let time: VirtualTime;
  let bus: MemoryBus;
  let link: SlowLink;
  let clock: ReferenceClock;
  let jumpUs: number;
  let drift: number;
  let runUs: () => number;

  beforeEach(() => {
    time = new VirtualTime().install();
    bus = new MemoryBus();
    jumpUs = 0;
    answerClock(bus.link(), 'clock', () => time.nowUs());
    link = new SlowLink(bus, time);
    drift = 0;
    const machine = { nowUs: () => time.nowUs() * (1 + drift) + aheadUs + jumpUs };
    clock = new ReferenceClock(link, 'clock', machine.nowUs, false);
    const memory = createClockMemory();
    const discipline = new ClockDiscipline(machine, memory);
    const steered = steeredClock(machine, memory);
    runUs = () => steered.nowUs() + firstUs;
    let firstUs = 0;
    begin = async () => {
      const first = await time.until(
        clock.begin(({ offsetUs }) => discipline.steer(offsetUs - firstUs)),
        60_000,
      );
      assert.ok(first !== undefined);
      firstUs = first.offsetUs;
    };
  });
  let begin: () => Promise<void>;

  afterEach(() => {
    clock.dispose();
    time.restore();
  });

  const offUs = (): number => Math.abs(runUs() - time.nowUs());

  /** Looks many times whether what is said of the error holds. @returns the largest error that was said */
  async function followed(forMs: number, stepMs = 37): Promise<number> {
    let most = 0;
    for (const endMs = time.nowMs + forMs; time.nowMs < endMs;) {
      await time.to(time.nowMs + stepMs);
      // What a double cannot hold of so large a number.
      assert.ok(offUs() <= clock.boundUs + 0.01, `${offUs()} of ${clock.boundUs} us`);
      assert.ok(clock.errorUs >= clock.boundUs);
      most = Math.max(most, clock.errorUs);
    }
    return most;
  }

  it('knows its error on ways that take as long as they like', async () => {
    const random = seededRandom(seed);
    await begin();
    for (let second = 0; second < 20; second++) {
      link.thereMs = 30 * random.next() ** 4;
      link.backMs = 10 * random.next() ** 4;
      await followed(1000);
    }
    assert.equal(clock.jumps, 0);
  });

  it('knows the time to a millisecond on one network', async () => {
    await begin();
    const most = await followed(5000);
    assert.ok(most < 1000, `${most} us`);
  });

  it('asks twice a second or so where that is known well, however clocks drift', async () => {
    drift = 400e-6;
    await begin();
    link.asked = 0;
    const most = await followed(20_000);
    assert.ok(most < 700, `${most} us`);
    assert.ok(link.asked >= 20 && link.asked <= 60, `${link.asked} questions`);
    assert.equal(clock.jumps, 0);
  });

  it('asks more often where most answers take long, and knows the time as well', async () => {
    const random = seededRandom(seed);
    drift = -400e-6;
    await begin();
    link.asked = 0;
    let most = 0;
    for (let count = 0; count < 400; count++) {
      link.thereMs = random.next() < 0.1 ? 0.2 : 3;
      link.backMs = random.next() < 0.1 ? 0.2 : 3;
      most = Math.max(most, await followed(50));
    }
    assert.ok(most < 3000, `${most} us`);
    assert.ok(link.asked > 100, `${link.asked} questions`);
    assert.equal(clock.jumps, 0);
  });

  it('is less sure the longer it hears nothing, and says so for seconds after', async () => {
    await begin();
    await followed(3000);
    link.isConnected = false;
    const outageMs = 10_000;
    const alone = await followed(outageMs);
    // 500 ppm of the time, and what it was before.
    assert.ok(alone >= 5000 && alone < 6000, `${alone} us`);
    link.isConnected = true;
    await time.to(time.nowMs + 1000);
    assert.ok(clock.boundUs < 1000);
    assert.ok(clock.errorUs >= alone, 'it was so in the last seconds');
    await time.to(time.nowMs + 6000);
    assert.ok(clock.errorUs < 1000);
  });

  it('counts a clock that is moved, is as far off as that, and comes back slowly', async () => {
    await begin();
    await followed(3000);
    jumpUs = 200_000;
    await time.to(time.nowMs + 500);
    assert.equal(clock.jumps, 1);
    assert.ok(clock.errorUs >= 200_000, `${clock.errorUs} us`);
    // A hundredth of the time: 20 seconds for 200 ms.
    await followed(12_000);
    assert.ok(clock.boundUs > 50_000, `${clock.boundUs} us`);
    await followed(12_000);
    assert.equal(clock.jumps, 1);
    assert.ok(clock.boundUs < 1000, `${clock.boundUs} us`);
  });

  it('has nothing to find out where both have one clock', async () => {
    const same = new ReferenceClock(link, 'clock', () => time.nowUs(), true);
    assert.deepEqual(await same.begin(() => assert.fail('it is never moved')), {
      ...{ offsetUs: 0, boundUs: 0 },
    });
    assert.deepEqual([same.boundUs, same.errorUs, same.jumps], [0, 0, 0]);
    assert.equal(time.pending, 0);
    same.dispose();
  });

  it('begins with nothing where nobody answers', async () => {
    link.isConnected = false;
    assert.equal(await clock.begin(() => undefined), undefined);
    assert.equal(clock.errorUs, 0);
  });
});
