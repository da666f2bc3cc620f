import assert from 'node:assert/strict';
import { Emitter } from '../../../../src/base/async';
import type { ToComparisonPanel } from '../../../../src/messages/panel';
import { seededRandom } from '../../../../src/base/random';
import { comparedRuns, startComparisonSession } from '../../../../src/extension/panel/comparedRuns';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';
import { sampleResult } from '../../results/sampleResult';

const minute = (seed: number, factor = 1): number[][] =>
  wanderingSeconds(
    { perSecond: 100, correlation: 0, wandering: 0.05, factor },
    60,
    seededRandom(seed),
  );
const result = (seed: number, factor?: number) =>
  sampleResult({ steps: [measuredStep(minute(seed, factor))] });

describe('compared runs as a page shows them', () => {
  it('have each later run beside the first, with its p99 of each second', () => {
    const shown = comparedRuns([result(1), result(2), result(3, 2)], ['a', 'b', 'c']);
    assert.deepEqual(
      shown.map(({ names, comparison }) => [...names, comparison.verdict]),
      [
        ['a', 'b', 'same'],
        ['a', 'c', 'worse'],
      ],
    );
    const [, times] = shown[1]!.curves[0]!.times;
    assert.equal(times.length, 60);
    for (const [at, latencies] of minute(3, 2).entries()) {
      const sorted = [...latencies].sort((one, other) => one - other);
      const { atS, p99Us } = times[at]!;
      assert.equal(atS, at);
      // A place of the blocks is 3 % wide.
      assert.ok(p99Us > sorted[97]! * 0.96 && p99Us < sorted[99]! * 1.04, `${p99Us}`);
    }
  });

  it('draw no curves of damaged blocks', () => {
    const bad = result(1);
    const steps = bad.steps.map((step) => ({
      ...step,
      latencyBlocks: { seconds: 1, counts: Array.from({ length: 60 }, () => '?') },
    }));
    const [shown] = comparedRuns([{ ...bad, steps }, result(2)], ['a', 'b']);
    assert.equal(shown!.comparison.verdict, 'unlike');
    assert.deepEqual(shown!.curves, []);
  });

  it('are sent whenever the page is ready, and take no order that is not one', () => {
    const emitter = new Emitter<unknown>();
    const posted: ToComparisonPanel[] = [];
    const ordered: string[] = [];
    const shown = comparedRuns([result(1), result(2)], ['a', 'b']);
    const port = {
      post: (message: ToComparisonPanel) => posted.push(message),
      onMessage: emitter.event,
    };
    const session = startComparisonSession(
      port,
      { shown, strings: { waiting: 'x' }, folders: ['/results/a', '/results/b'] },
      {
        copyComment: (at) => ordered.push(`copy ${at}`),
        makeBaseline: (at) => ordered.push(`keep ${at}`),
      },
    );
    const hostile = [null, 'ready', {}, { type: 'copyComment' }, { type: 'makeBaseline', at: 7 }];
    for (const message of [...hostile, { type: 'constructor', at: 0 }]) emitter.fire(message);
    assert.deepEqual([posted.length, ordered], [0, []]);
    emitter.fire({ type: 'ready' });
    emitter.fire({ type: 'ready' });
    emitter.fire({ type: 'copyComment', at: 0 });
    emitter.fire({ type: 'makeBaseline', at: 0 });
    assert.equal(posted.length, 2);
    assert.deepEqual(posted[0]?.folders, ['/results/a', '/results/b']);
    assert.deepEqual(ordered, ['copy 0', 'keep 0']);
    session.dispose();
    emitter.fire({ type: 'ready' });
    assert.equal(posted.length, 2);
  });
});
