import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { recoverTime } from '../../../../src/machines/clock/clockInterval';
import { encode, readAlive, subjectsOf, type Member } from '../../../../src/machines/messages';
import { VirtualTime } from '../../../fakes/virtualTime';
import { MemoryBus } from '../memoryBus';

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const subjects = subjectsOf('r1');
/** By how much the clock that asks is ahead. */
const aheadUs = 500_000_000;

describe(`the time of a run whose coordinator is gone (SEED=${seed})`, () => {
  let time: VirtualTime;
  let bus: MemoryBus;

  beforeEach(() => {
    time = new VirtualTime().install();
    bus = new MemoryBus();
  });
  afterEach(() => time.restore());

  const member = (epoch: string): Member => ({
    ...{ epoch, host: 'h', cores: 1, fileDescriptors: null, localPorts: null },
  });

  /** Answers after a while with the time of the run, which it knows as well as it says. */
  function agent(epoch: string, offUs: number, errorUs: number, waitMs: () => number): void {
    const link = bus.link();
    link.hear(subjects.alive, (text) => {
      const question = readAlive(text)?.question;
      if (question === undefined) return;
      setTimeout(() => {
        const said = { question, runUs: time.nowUs() + offUs, errorUs };
        setTimeout(() => {
          const beat = { epoch, facts: 0, orders: 0, clockErrorUs: 0, time: said };
          link.say(`${subjects.beats}.0`, encode(beat));
        }, waitMs());
      }, waitMs());
    });
  }
  const recovered = (...epochs: string[]) =>
    time.until(
      recoverTime(bus.link(), subjects, epochs.map(member), () => time.nowUs() + aheadUs),
      60_000,
    );

  it('is known within what is said of it, whatever agents know and ways take', async () => {
    const random = seededRandom(seed);
    agent('a', 300 * (2 * random.next() - 1), 300, () => 5 * random.next());
    agent('b', 2000 * (2 * random.next() - 1), 2000, () => 30 * random.next());
    const found = await recovered('a', 'b');
    assert.ok(found !== undefined);
    const { offsetUs, boundUs } = found;
    assert.ok(Math.abs(offsetUs + aheadUs) <= boundUs + 0.01, `${offsetUs}, ${boundUs}`);
    assert.ok(boundUs < 6000, `${boundUs} us`);
  });

  it('is known better by an agent that reads the clock itself', async () => {
    agent('a', 0, 0, () => 0.1);
    agent('b', 1500, 2000, () => 0.1);
    const { boundUs } = (await recovered('a', 'b'))!;
    assert.ok(boundUs < 200, `${boundUs} us`);
  });

  it('is not found where agents contradict each other, or none answers', async () => {
    agent('a', 0, 100, () => 0.1);
    agent('b', 9000, 100, () => 0.1);
    assert.equal(await recovered('a', 'b'), undefined);
    // Whoever has no place is not heard.
    assert.ok(await recovered('a'));
    assert.equal(await recovered('c'), undefined);
  });
});
