import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Scenario, SenderShare } from '../../../src/scenario/scenario';
import { lastStepSenders, maximumSteps, stepCount, stepsOf } from '../../../src/scenario/steps';
import { rowsOf, scenarioOf } from './parsed';

const base = scenarioOf('config:\n  target: local\n');

function scenario(
  [connections, baseSending, step, sendingSteps]: readonly [number, number, number, number],
  mix: readonly (SenderShare | undefined)[] = [undefined],
): Scenario {
  const entries = mix.map((senders) => ({
    name: 'echo',
    parameters: {},
    ...(senders === undefined ? {} : { senders }),
  }));
  return { ...base, connections, baseSending, step, sendingSteps, entries };
}

const count = (n: number): SenderShare => ({ kind: 'count', count: n });
const share = (n: number): SenderShare => ({ kind: 'share', share: n });

describe('the steps', () => {
  // Connections, baseSending, step and sendingSteps; senders of each step.
  const tables = rowsOf(`
    1000 500 500 0 | 500 1000
    1000 500 500 1 | 500
    1000 500 500 9 | 500 1000
    1000 500 300 0 | 500 800 1000
    1000 500 300 2 | 500 800
    1900 700 600 0 | 700 1300 1900
    100 1 1 1 | 1
    100 50 100 0 | 50 100
    100 100 10 0 | 100
    100 500 10 0 | 100
    100 30 0 0 | 30
    100 30 0 5 | 30
    100 0 50 0 | 0 50 100
    1 1 1 0 | 1
  `).map((row) => row.map((cell) => cell.split(' ').map(Number)));
  for (const [keys, senders] of tables as [[number, number, number, number], number[]][]) {
    it(`of ${keys.join(' ')} have ${senders.join(', ')} senders`, () => {
      const steps = stepsOf(scenario(keys)).map((one) => [one.index, one.senders]);
      const expected = senders.map((count, at) => [at + 1, count]);
      assert.deepEqual(steps, expected);
      assert.equal(stepCount(scenario(keys)), senders.length);
      assert.equal(lastStepSenders(scenario(keys)), senders.at(-1));
    });
  }

  it('are at most 10,000, however many are asked for', () => {
    const many = scenario([1_000_000, 1, 1, 0]);
    assert.equal(stepCount(many), 1_000_000);
    assert.equal(stepsOf(many).length, maximumSteps);
  });
});

describe('the senders of a mix', () => {
  const mixes: [mix: (SenderShare | undefined)[], last: number, perEntry: number[]][] = [
    [[undefined], 1000, [1000]],
    [[undefined, undefined], 1000, [500, 500]],
    [[undefined, undefined, undefined], 1000, [334, 333, 333]],
    [[count(100), undefined], 1000, [100, 900]],
    [[share(0.3), undefined], 1000, [300, 700]],
    [[share(0.5), share(0.5)], 501, [251, 250]],
    [[share(1 / 3), share(1 / 3), share(1 / 3)], 100, [34, 33, 33]],
    [[count(10), share(0.5), undefined, undefined], 100, [10, 50, 20, 20]],
    [[count(10), share(0.2)], 100, [10, 20]],
    [[count(100), undefined], 100, [100, 0]],
  ];
  for (const [mix, last, perEntry] of mixes) {
    it(`of ${last} are ${perEntry.join(' + ')}`, () => {
      assert.deepEqual(stepsOf(scenario([last, last, 0, 0], mix))[0]!.perEntry, perEntry);
    });
  }

  it('in earlier steps are in proportion', () => {
    const steps = stepsOf(scenario([1000, 500, 250, 0], [count(100), share(0.4), undefined]));
    assert.deepEqual(
      steps.map(({ perEntry }) => perEntry),
      [
        [50, 200, 250],
        [75, 300, 375],
        [100, 400, 500],
      ],
    );
  });

  it('are whole, never negative and never more than the step has', () => {
    const senders = fc.option(
      fc.oneof(
        fc.integer({ min: 1, max: 300 }).map(count),
        fc.integer({ min: 1, max: 25 }).map((percent) => share(percent / 100)),
      ),
      { nil: undefined },
    );
    const numbers = fc.tuple(
      fc.integer({ min: 1200, max: 5000 }),
      fc.integer({ min: 1200, max: 5000 }),
      fc.integer({ min: 0, max: 2000 }),
      fc.integer({ min: 0, max: 5 }),
    );
    fc.assert(
      fc.property(numbers, fc.array(senders, { minLength: 1, maxLength: 4 }), (keys, mix) => {
        const shares = mix.map((one) => (one?.kind === 'share' ? one.share : 0));
        const counts = mix.map((one) => (one?.kind === 'count' ? one.count : 0));
        const last = lastStepSenders(scenario(keys));
        const sum = (values: number[]): number => values.reduce((a, b) => a + b, 0);
        fc.pre(sum(shares) * last + sum(counts) <= last);
        for (const step of stepsOf(scenario(keys, mix))) {
          assert.ok(step.perEntry.every((value) => Number.isInteger(value) && value >= 0));
          assert.ok(sum([...step.perEntry]) <= step.senders);
          if (mix.includes(undefined)) assert.equal(sum([...step.perEntry]), step.senders);
        }
      }),
      { numRuns: 200 },
    );
  });
});
