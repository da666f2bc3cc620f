import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  latencyMetrics,
  latencyShare,
  summaryKeys,
  countToShowPercentile,
  canShowPercentile,
} from '../../../src/base/objectives/percentile';
import { defaultSlo } from '../../../src/base/slo';
import {
  countsLostDeliveries,
  judgedLatency,
  shownPercentiles,
  hasEarlyDeliveries,
  isTailHidden,
  shownPercentileUs,
  tailUs,
  type LatencySummary,
} from '../../../src/measure/latencySummary';
import { RunTotals } from '../../../src/measure/total/runTotals';
import { countsOf, stepSampleOf, workerSampleOf } from '../../fakes/sample';

describe('judged latencies', () => {
  it('are those of all that was expected, the lost ones last', () => {
    const property = fc.property(
      fc.array(fc.integer({ min: 1, max: 1e6 }), { maxLength: 300 }),
      fc.integer({ min: 1, max: 50 }),
      (latencies, lost) => {
        const sorted = latencies.sort((a, b) => a - b);
        const expected = sorted.length + lost;
        const judged = judgedLatency({
          ...{ expected, received: sorted.length },
          latencyAtShareUs: (share) => sorted[Math.round(share * sorted.length) - 1]!,
        });
        for (const metric of latencyMetrics) {
          const thousandths = Math.round(latencyShare[metric] * 10_000);
          const rank = Math.max(1, Math.ceil((thousandths * expected) / 10_000));
          assert.equal(judged[summaryKeys[metric] as 'p99'], sorted[rank - 1] ?? null, metric);
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });

  /** A step of 100 expected deliveries of which these arrived before the drain ended. */
  const judgedWith = (...latenciesUs: number[]) => {
    const totals = new RunTotals(1);
    const step = totals.beginStep({ index: 1, senders: 1 });
    const add = (us: readonly number[], more: object): void => {
      const counts = { ...more, received: us.length, latency: countsOf(...us) };
      totals.add(workerSampleOf({ steps: [stepSampleOf(counts)] }));
    };
    add(latenciesUs, { offered: 100, sent: 100, expected: 100 });
    step.verdict = step.judge(defaultSlo);
    return { step, add };
  };
  const rising = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

  it('are one number: in the verdict, and in what is shown of the step', () => {
    const { step, add } = judgedWith(...rising(99));
    // A worker that has not heard of it yet counts it as received.
    add([5_000_000], {});
    const summary = step.summary(defaultSlo, step.verdict!);
    const [check] = summary.verdict.checks!;
    assert.deepEqual([check!.metric, check!.value], ['p99', 99]);
    // What came after the drain changes no verdict, and so nothing that is shown beside it.
    assert.equal(shownPercentiles(summary)!.p99, 99);
    assert.equal(shownPercentiles(summary)!.max, null);
    assert.equal(shownPercentiles(summary)!.p999, undefined);
    assert.equal(summary.latencyUs.max, 99);
    const { expected, received, lost, late } = summary;
    assert.deepEqual([expected, received, lost, late], [100, 99, 1, 1]);
    assert.equal(countsLostDeliveries([summary]), true);
  });

  it('are those of what arrived where all of it did, and none where nothing was expected', () => {
    const { step } = judgedWith(...rising(100));
    const summary = step.summary(defaultSlo, step.verdict!);
    assert.equal(summary.judgedUs, undefined);
    assert.equal(shownPercentiles(summary)!.p99, summary.latencyUs.p99);
    assert.equal(shownPercentiles(summary)!.p999, undefined);
    const nothing = new RunTotals(1).beginStep({ index: 1, senders: 0 });
    assert.equal(
      shownPercentiles(nothing.summary(defaultSlo, nothing.judge(defaultSlo))),
      undefined,
    );
  });

  it('are lost throughout where nothing arrived', () => {
    const { step } = judgedWith();
    assert.equal(shownPercentiles(step.summary(defaultSlo, step.verdict!))!.p50, null);
  });
});

const summary = (count: number): LatencySummary => ({
  ...{ count, min: 1, mean: 2, p50: 2, p90: 3, p95: 4, p99: 5, p999: 6, p9999: 7, max: 8 },
});

describe('tails', () => {
  it('are reported where at least ten values lie beyond', () => {
    assert.deepEqual(
      [canShowPercentile(9_999, 0.999), canShowPercentile(10_000, 0.999)],
      [false, true],
    );
    assert.deepEqual(
      [canShowPercentile(99_999, 0.9999), canShowPercentile(100_000, 0.9999)],
      [false, true],
    );
    assert.deepEqual(
      [countToShowPercentile(0.999), countToShowPercentile(0.9999)],
      [10_000, 100_000],
    );
    assert.deepEqual(
      [tailUs(summary(50_000), 'p999'), tailUs(summary(50_000), 'p9999')],
      [6, undefined],
    );
  });

  it('leave the other percentiles alone', () => {
    assert.deepEqual(
      (['p50', 'p99', 'p999', 'max'] as const).map((key) => shownPercentileUs(summary(20), key)),
      [2, 5, undefined, 8],
    );
    assert.equal(shownPercentileUs(summary(0), 'p50'), undefined);
  });

  it('and all others say nothing where what came was early', () => {
    const early = { ...summary(20), min: 0, mean: 1, p50: 0, p90: 0, p95: 0, p99: 5, max: 8 };
    const { p50, p90, p99, max } = shownPercentiles({ latencyUs: early })!;
    assert.deepEqual([p50, p90, p99, max], [undefined, undefined, 5, 8]);
    assert.deepEqual(
      [
        hasEarlyDeliveries([{ latencyUs: early }]),
        hasEarlyDeliveries([{ latencyUs: summary(20) }]),
      ],
      [...[true, false]],
    );
  });

  it('are missed where one of several is not shown', () => {
    assert.equal(isTailHidden([summary(10_000), summary(0), undefined]), false);
    assert.equal(isTailHidden([summary(10_000), summary(9_999)]), true);
  });
});
