import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { StepClocks } from '../../../../src/measure/total/stepClocks';

const calm = (errorUs: number) => ({ errorUs, jumps: 0 });

describe('StepClocks', () => {
  it('adds up the two largest errors, each the most of the step', () => {
    const clocks = new StepClocks();
    assert.equal(clocks.errorUs, undefined);
    clocks.note(2, calm(30));
    assert.equal(clocks.errorUs, 30);
    for (const [agent, us] of [
      [0, 100],
      [2, 400],
      [1, 250],
      [2, 10],
    ] as const)
      clocks.note(agent, calm(us));
    assert.equal(clocks.errorUs, 650);
    assert.equal(clocks.problem, undefined);
  });

  it('blames no clock that is within its error, and each pair that is not', () => {
    const agents = fc.array(
      // Error, where the clock really is within it and beyond, and how long a delivery takes.
      fc.record({
        errorUs: fc.nat({ max: 1000 }),
        at: fc.integer({ min: -100, max: 100 }),
        beyondUs: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat({ max: 3000 })),
      }),
      { minLength: 2, maxLength: 5 },
    );
    const delay = fc.nat({ max: 500 });
    let blamed = 0;
    fc.assert(
      fc.property(agents, delay, (all, delayUs) => {
        const clocks = new StepClocks();
        const offUs = all.map(({ errorUs, at, beyondUs }) => (errorUs * at) / 100 + beyondUs);
        const proved: [number, number][] = [];
        all.forEach(({ errorUs }, receiver) => {
          clocks.note(receiver, calm(errorUs));
          const ahead = all.flatMap((_, sender) => {
            // By how much the stamp is later than the arrival.
            const us = offUs[sender]! - offUs[receiver]! - delayUs;
            if (sender === receiver || us <= 0) return [];
            if (us > errorUs + all[sender]!.errorUs + 5) proved.push([sender, receiver]);
            return [sender, us];
          });
          clocks.came(receiver, ahead);
        });
        assert.equal(clocks.problem !== undefined, proved.length > 0);
        if (all.every(({ beyondUs }) => beyondUs === 0)) assert.equal(clocks.problem, undefined);
        blamed += Math.min(1, proved.length);
      }),
      { numRuns: 400 },
    );
    assert.ok(blamed > 20, `${blamed} were blamed`);
  });

  it('names the pair that is furthest beyond what its clocks may differ', () => {
    const clocks = new StepClocks();
    for (const agent of [0, 1, 2]) clocks.note(agent, calm(400));
    clocks.came(1, [0, 900]);
    clocks.came(2, [1, 5400]);
    clocks.came(2, [1, 300]);
    assert.equal(
      say(clocks.problem!),
      'messages of agent 2 came to agent 3 5.4 ms before they were sent although their clocks differ by at most 800 µs',
    );
  });

  it('says nothing of agents whose clocks nobody has described, nor of numbers that are no pair', () => {
    const clocks = new StepClocks();
    clocks.note(0, calm(1));
    clocks.came(0, [7, 1e9, 3]);
    clocks.note(5, calm(1));
    clocks.came(0, [-1, 1e9, 5.5, 1e9, NaN, 1e9, 5, NaN, 5, -1, 5, Infinity]);
    clocks.came(0, '5999' as unknown as number[]);
    assert.equal(clocks.problem, undefined);
  });

  it('names a clock that was moved first, and counts how often', () => {
    const clocks = new StepClocks();
    clocks.note(0, calm(1));
    clocks.note(1, { errorUs: 30_000_000, jumps: 2 });
    clocks.came(0, [1, 60_000_000]);
    assert.equal(clocks.jumps, 2);
    assert.equal(say(clocks.problem!), 'the clock of agent 2 was moved');
  });
});
