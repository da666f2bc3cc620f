import assert from 'node:assert/strict';
import {
  machineClock,
  ClockDiscipline,
  createClockMemory,
  steeredClock,
} from '../../../src/engine/machineClock';
import * as fc from 'fast-check';

const hrtimeUs = (): number => Number(process.hrtime.bigint()) / 1000;

describe('machineClock', () => {
  it('lies between two readings of the machine’s clock around it, however often it is made', () => {
    // A reading may be interrupted; then the two around it lie apart, and the clock still between them.
    for (let count = 0; count < 50; count++) {
      const clock = machineClock();
      const beforeUs = hrtimeUs();
      const nowUs = clock.nowUs();
      const afterUs = hrtimeUs();
      assert.ok(nowUs > beforeUs - 100 && nowUs < afterUs + 100, `${beforeUs} ${nowUs} ${afterUs}`);
    }
  });
});

describe('steeredClock', () => {
  it('is the machine’s until it is steered', () => {
    const clock = steeredClock({ nowUs: () => 1234.5 }, createClockMemory());
    assert.equal(clock.nowUs(), 1234.5);
  });

  it('goes evenly to each new offset, in half a second where that is no steep change', () => {
    let nowUs = 1_000_000;
    const machine = { nowUs: () => nowUs };
    const memory = createClockMemory();
    const clock = steeredClock(machine, memory);
    const discipline = new ClockDiscipline(machine, memory);
    const offsetAt = (us: number): number => {
      nowUs = us;
      return clock.nowUs() - us;
    };
    discipline.steer(300);
    assert.deepEqual(
      [1_000_000, 1_250_000, 1_500_000, 9_000_000].map(offsetAt),
      [0, 150, 300, 300],
    );
    discipline.steer(200);
    assert.equal(offsetAt(9_250_000), 250);
    // From where it is just now.
    discipline.steer(500);
    assert.deepEqual([9_250_000, 9_500_000, 9_750_000].map(offsetAt), [250, 375, 500]);
    // A second back, at a hundredth of the time.
    discipline.steer(-999_500);
    assert.deepEqual([59_750_000, 109_750_000].map(offsetAt), [-499_500, -999_500]);
  });

  it('never runs backwards, nor slower or faster than by a hundredth, however it is steered', () => {
    const steps = fc.array(
      fc.tuple(
        fc.integer({ min: 1, max: 400_000 }),
        fc.option(fc.integer({ min: -1e6, max: 1e6 })),
      ),
      { maxLength: 40 },
    );
    const steady = fc.property(steps, (list) => {
      let nowUs = 5_000_000;
      const machine = { nowUs: () => nowUs };
      const memory = createClockMemory();
      const [clock, discipline] = [
        steeredClock(machine, memory),
        new ClockDiscipline(machine, memory),
      ];
      for (const [passUs, offsetUs] of list) {
        const before = clock.nowUs();
        if (offsetUs !== null) discipline.steer(offsetUs);
        assert.ok(Math.abs(clock.nowUs() - before) < 0.001, 'steering is no jump');
        nowUs += passUs;
        const rate = (clock.nowUs() - before) / passUs;
        assert.ok(rate > 0.9899 && rate < 1.0101, `${rate}`);
      }
    });
    fc.assert(steady, { numRuns: 100 });
  });

  it('reads once more when it is steered in the midst of a reading', () => {
    let nowUs = 1_000_000;
    let meanwhile: (() => void) | undefined;
    const memory = createClockMemory();
    const discipline = new ClockDiscipline({ nowUs: () => nowUs }, memory);
    const clock = steeredClock(
      {
        nowUs: () => {
          const readUs = nowUs;
          meanwhile?.();
          return readUs;
        },
      },
      memory,
    );
    discipline.steer(5000);
    nowUs += 250_000;
    let steeredAtUs = 0;
    meanwhile = () => {
      meanwhile = undefined;
      nowUs += 100_000;
      steeredAtUs = clock.nowUs();
      discipline.steer(-5000);
    };
    assert.equal(
      clock.nowUs(),
      steeredAtUs,
      'the time of the second reading, by the line that held then',
    );
    assert.equal(steeredAtUs, 1_350_000 + 3500);
  });

  it('waits while somebody writes', () => {
    const memory = createClockMemory();
    const version = new Int32Array(memory, 0, 1);
    let reads = 0;
    const clock = steeredClock(
      { nowUs: () => ((reads += 1) === 5 ? (version[0] = 2) : 2) },
      memory,
    );
    version[0] = 1;
    assert.equal(clock.nowUs(), 2);
    assert.equal(reads, 6);
  });
});
