import assert from 'node:assert/strict';
import { seededRandom } from '../../../../src/base/random';
import { compareSteps } from '../../../../src/measure/compare/compareSteps';
import type { StepSummary } from '../../../../src/measure/summary';
import { measuredStep, wanderingSeconds } from '../../../fakes/measuredStep';

const process = { perSecond: 200, correlation: 0, wandering: 0.02 };

/** The p99 of a step beside one that is half as slow again, with these facts of clocks. */
function slower(clocksA: Partial<StepSummary>, clocksB: Partial<StepSummary>) {
  const seconds = wanderingSeconds(process, 60, seededRandom(7));
  const more = seconds.map((second) => second.map((us) => 1.5 * us));
  const [a, b] = [
    { ...measuredStep(seconds), ...clocksA },
    { ...measuredStep(more), ...clocksB },
  ];
  const [step] = compareSteps([{ a, b }], {
    ...{ tolerance: 0.1, judged: ['p99'], judgesRate: false, random: seededRandom(1) },
  });
  return { ...step!.latency.p99!, apartUs: b.latencyUs.p99 - a.latencyUs.p99 };
}

describe('a comparison of runs on agents', () => {
  const { apartUs, interval: usual, change } = slower({}, {});

  it('calls nothing worse that may be the error of clocks, of either run', () => {
    assert.equal(change, 'worse');
    const error = { clockErrorUs: Math.ceil(apartUs / 2) };
    assert.equal(slower(error, {}).change, 'worse');
    const both = slower(error, error);
    assert.equal(both.change, 'same');
    assert.ok(both.interval![0] <= 1 && both.interval![1] > usual![1]);
    assert.equal(slower({}, { clockErrorUs: Math.ceil(apartUs) }).change, 'same');
  });

  it('is as usual where all deliveries stayed inside their agents, or had one clock', () => {
    const { latencyUs } = measuredStep([[1000]]);
    const inside = { clockErrorUs: 1e6, latencySameAgentUs: { ...latencyUs, count: 1e6 } };
    assert.deepEqual(slower(inside, inside).interval, usual);
    assert.deepEqual(slower({ clockErrorUs: 0 }, { clockErrorUs: 0 }).interval, usual);
  });
});
