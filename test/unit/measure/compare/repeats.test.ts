import { reports } from '../../../../src/measure/report/reportModel';
import { panelStrings } from '../../../../src/measure/show/panelStrings';
import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import {
  repeatRows,
  summarizeRepeats,
  type RepeatedStep,
} from '../../../../src/measure/compare/repeats';
import { normal } from '../../../fakes/simulatedServers';
import { sampleStep } from '../../results/sampleResult';

/** Steps of a run whose p99 were these, one after the other. */
const stepsWith = (p99: readonly number[]) =>
  p99.map((us, at) => ({ ...sampleStep(1, { p99: us }), index: at + 1 }));

const p99Of = (values: readonly number[]) =>
  summarizeRepeats(stepsWith(values), 1)[0]!.latency.p99!;

const sentencesOf = (found: RepeatedStep): readonly string[] => {
  const run = { steps: [], errors: {}, errorExamples: [], repeats: [found] };
  return reports.repeats(run, panelStrings, 10).sentences;
};

describe('repeats of a step', () => {
  it('are those with the same place in each round, as far as they were measured to their end', () => {
    const steps = [11, 21, 12, 22, 13, 23].map((ms, at) => ({
      ...sampleStep(1 + (at % 2), { p99: ms * 1000 }),
      index: at + 1,
    }));
    const broken = {
      ...steps[5]!,
      verdict: { status: 'incomplete', reasons: [] } as const,
    };
    const [first, second] = summarizeRepeats([...steps.slice(0, 5), broken], 2);
    assert.deepEqual(
      [first!.step, first!.senders, first!.of, first!.latency.p99!.values],
      [1, 700, [1, 3, 5], [11_000, 12_000, 13_000]],
    );
    assert.deepEqual([second!.of, second!.latency.p99!.median], [[2, 4], 21_500]);
    assert.deepEqual(summarizeRepeats(steps.slice(0, 2), 2), []);
  });

  it('have no interval where there are two, and one that holds the truth where there are more', () => {
    assert.equal(p99Of([10_000, 11_000]).interval, null);
    // By how much Student's interval is wider than the standard error with two degrees of freedom.
    const [low, high] = p99Of([9000, 10_000, 11_111]).interval!;
    assert.ok(
      Math.abs(Math.log(high / low) / 2 - 4.303 * (Math.log(10 / 9) / Math.sqrt(3))) < 1e-3,
    );
    const random = seededRandom(11);
    for (const count of [3, 4, 5, 6, 9, 20]) {
      let held = 0;
      for (let run = 0; run < 400; run++) {
        const values = Array.from({ length: count }, () => 20_000 * Math.exp(0.2 * normal(random)));
        const [from, to] = p99Of(values).interval!;
        if (from <= 20_000 && to >= 20_000) held += 1;
      }
      assert.ok(held >= 0.93 * 400, `${count} repeats: ${held} of 400`);
    }
  });

  it('from six on have two of their values as interval: the outermost ones, of many those within', () => {
    assert.deepEqual(p99Of([1, 2, 3, 4, 5, 6].map((ms) => ms * 1000)).interval, [1000, 6000]);
    const twenty = Array.from({ length: 20 }, (_, at) => (at + 1) * 1000);
    assert.deepEqual(p99Of(twenty).interval, [6000, 15_000]);
  });

  it('name the one that is unlike the others, and none that is near them', () => {
    const [found] = summarizeRepeats(stepsWith([41_000, 40_500, 80_000, 41_500]), 1);
    assert.deepEqual(
      found!.outliers!.map(({ step, metric }) => [step, metric]),
      [
        [3, 'p50'],
        [3, 'p99'],
      ],
    );
    assert.equal(
      sentencesOf(found!)[1],
      'Step 3 is unlike the other repeats: p99 80 ms, median 41 ms.',
    );
    for (const values of [
      [41_000, 41_000, 43_000],
      [41_000, 60_000],
      [30_000, 41_000, 55_000, 35_000],
    ])
      assert.equal(summarizeRepeats(stepsWith(values), 1)[0]!.outliers, undefined, values.join());
  });

  it('say so where the rank was lost', () => {
    const steps = stepsWith([41_000, 42_000, 43_000]);
    const all = { p50: null, p90: null, p95: null, p99: null, p999: null, p9999: null, max: null };
    const [found] = summarizeRepeats([...steps.slice(0, 2), { ...steps[2]!, judgedUs: all }], 1);
    assert.deepEqual(found!.latency.p99!.interval, null);
    assert.equal(found!.latency.p99!.median, 42_000);
    assert.equal(repeatRows([found!], '–')[1]![4], 'lost');
    assert.match(sentencesOf(found!)[0]!, /p50 lost/);
  });
});
