import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { answerClock, ReferenceClock } from '../../../../src/agents/clock/referenceClock';
import { ClockDiscipline, clockMemory, steeredClock } from '../../../../src/engine/machineClock';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus, MemoryLink } from '../memoryBus';

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
/** By how much the clock of the agent is ahead of the reference. */
const aheadUs = 12_345_000_000;

/** A link on which a question and its answer take their time. */
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
  /** Of the agent's clock, as a part of the time. */
  let drift: number;
  /** Run time of the agent's threads, and how far it is from that of the reference. */
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
    const memory = clockMemory();
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
