import assert from 'node:assert/strict';
import { runLeftS } from '../../../src/measure/snapshot';
import { buildPlan } from '../../../src/plan/buildPlan';
import { parseScenario } from '../../../src/scenario/parseScenario';
import { sampleSnapshot } from '../results/sampleResult';

/** What is left at the begin of the measured time of each step, and what its plan says. */
function leftAndPlanned(config: string): (number | undefined)[][] {
  const name = config.includes('rounds') ? 'connectOnly' : 'echo';
  const parameters = config.includes('rounds') ? '\n  parameters: { rounds: 3 }' : '';
  const text = `scenario:
  name: ${name}${parameters}
config: { connections: 40, ${config.replace('rounds, ', '')} }
`;
  const { scenario, problems } = parseScenario(text);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === 'error'),
    [],
    text,
  );
  const { steps } = buildPlan(scenario!, { runId: 1, seed: 1, workers: 1 });
  return steps.map(({ index, senders, measureMs }, at) => {
    const { step } = sampleSnapshot(1, 1);
    const now = { ...step!, index, senders, elapsedS: 0, totalS: measureMs / 1000 };
    const left = runLeftS({ step: now, stepCount: steps.length }, scenario!);
    const later = steps.slice(at + 1).map((each) => each.warmupMs + each.measureMs);
    return [left, later.reduce((sum, ms) => sum + ms, measureMs) / 1000];
  });
}

describe('runLeftS', () => {
  it('is what the plan has still to do, whatever its steps are', () => {
    for (const [config, count] of [
      ['baseSending: 10, step: 10, singleStepDuration: 20s, warmup: 3s', 4],
      ['baseSending: 40, repeat: 5, singleStepDuration: 20s, warmup: 3s', 5],
      ['baseSending: 20, step: 20, repeat: 3, singleStepDuration: 20s, warmup: 3s', 6],
      ['stages: [{ to: 10, over: 30s, hold: 1m }, { to: 40, over: 5s }]', 1],
      ['stages: [{ to: 10, over: 30s }], repeat: 3, warmup: 4s', 3],
      ['rounds, singleStepDuration: 20s, warmup: 3s', 3],
    ] as const) {
      const all = leftAndPlanned(config);
      assert.equal(all.length, count, config);
      for (const [left, planned] of all) assert.equal(left, planned, config);
    }
  });

  it('is not known before the first step, nor in a search', () => {
    const { step, ...before } = sampleSnapshot(1, 1);
    const times = { warmupMs: 5000, singleStepDurationMs: 50_000 };
    assert.equal(runLeftS(before, times), undefined);
    const search = { of: 'senders', value: 10, low: null, high: null } as const;
    assert.equal(runLeftS({ ...before, step: step!, search }, times), undefined);
  });
});
