import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import type { ComparedStep } from '../../../../src/measure/compare/comparison';
import { compareSteps } from '../../../../src/measure/compare/compareSteps';
import { measuredStep, wanderingSeconds, type Process } from '../../../fakes/measuredStep';

/*
 * Whether the intervals are what they are called, tried on made-up servers of which the truth is known. The seeds
 * are fixed: the shares below are counts, the same in each run.
 */

const cases = 12;
const seconds = 60;
/** Of the verdict: without it, any significant difference would count. */
const tolerance = 0.1;
const rise = 1.3;

/** With the number of rises that are found. */
const processes: readonly (readonly [string, Process, found: number])[] = [
  ['independent seconds', { perSecond: 100, correlation: 0, wandering: 0.1 }, cases],
  [
    'seconds that depend on each other',
    { perSecond: 100, correlation: 0.5, wandering: 0.1 },
    cases,
  ],
  ['strongly dependent seconds', { perSecond: 100, correlation: 0.65, wandering: 0.1 }, cases - 1],
];

function compared(a: readonly number[][], b: readonly number[][]): ComparedStep {
  const [step] = compareSteps([{ a: measuredStep(a), b: measuredStep(b) }], {
    ...{ tolerance, judged: ['p50', 'p90', 'p99'], judgesRate: false, random: seededRandom(1) },
  });
  return step!;
}

describe('intervals of a comparison', () => {
  for (const [at, [name, process, found]] of processes.entries()) {
    it(`of ${name}: one process is the same as itself, and a rise of 30 % is found in a minute`, () => {
      const counts = { same: 0, held: 0, found: 0 };
      for (let seed = 0; seed < cases; seed++) {
        const random = seededRandom(1000 * at + seed);
        const [a, b] = [1, 2].map(() => wanderingSeconds(process, seconds, random));
        const { verdict, latency } = compared(a!, b!);
        const intervals = Object.values(latency).flatMap(({ change, interval }) =>
          change && interval ? [interval] : [],
        );
        assert.equal(intervals.length, 3);
        if (verdict === 'same') counts.same += 1;
        if (intervals.every(([low, high]) => low <= 1 && high >= 1)) counts.held += 1;
        const slower = b!.map((second) => second.map((us) => us * rise));
        const risen = compared(a!, slower);
        if (risen.latency.p99?.change === 'worse' && risen.verdict === 'worse') counts.found += 1;
      }
      assert.deepEqual(counts, { same: cases, held: cases, found });
    });
  }

  it('of a server with rare stalls: not one of them makes a run another one', () => {
    const stalls = { perSecond: 100, correlation: 0.4, wandering: 0.05, stalls: 0.1 };
    let same = 0;
    for (let seed = 0; seed < cases; seed++) {
      const random = seededRandom(9000 + seed);
      const [a, b] = [1, 2].map(() => wanderingSeconds(stalls, seconds, random));
      if (compared(a!, b!).verdict === 'same') same += 1;
    }
    assert.equal(same, cases);
  });
});
