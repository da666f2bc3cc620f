import assert from 'node:assert/strict';
import { english } from '../../../../src/base/text';
import { objectivesIn, outcomeOf } from '../../../../src/extension/run/scenarioObjectives';
import type { SloCheck, Verdict } from '../../../../src/measure/summary';
import { sampleResult } from '../../results/sampleResult';

const map = `scenario:
  name: echo
slo:
  p99: 500ms
  rate: { limit: 95/s, step: last }
`;

const list = `scenario: { name: echo }
slo:
  - { name: usual, metric: p99, limit: 200ms }
  - { name: full, metric: p99, limit: 1s, step: last }
  - { metric: errors, limit: 10 }
  - { limit: 10 }
`;

describe('the objectives of a scenario file', () => {
  it('stand where they are written, in a map and in a list', () => {
    const places = (text: string): unknown[] =>
      objectivesIn(text).map(({ label, last, offset }) => [
        label,
        last,
        text.slice(0, offset).split('\n').length,
      ]);
    assert.deepEqual(places(map), [
      ['p99: 500ms', false, 4],
      ['rate: 95/s', true, 5],
    ]);
    assert.deepEqual(places(list), [
      ['usual (p99): 200ms', false, 3],
      ['full (p99): 1s', true, 4],
      ['errors: 10', false, 5],
    ]);
  });

  it('are none where the defaults hold, and where the text is broken', () => {
    for (const text of ['scenario:\n  name: echo\n', 'slo:', 'slo: [', ''])
      assert.deepEqual(objectivesIn(text), [], text);
  });

  const result = sampleResult();
  const judged = (step: Verdict, whole: Verdict = { status: 'pass', reasons: [] }) => ({
    verdict: whole,
    steps: [{ ...result.steps[0]!, index: 2, verdict: step }],
  });
  const p99 = (met: boolean): SloCheck => ({
    ...{ metric: 'p99', limit: 500_000, met },
    value: met ? 41_000 : 900_000,
  });
  const slow = 'p99 was 900 ms, limit 500 ms';
  const [objective] = objectivesIn(map);

  it('are met, missed with what was measured, or not measured', () => {
    const outcome = (step: Verdict) => outcomeOf(objective!, judged(step), english);
    assert.deepEqual(outcome({ status: 'pass', reasons: [], checks: [p99(true)] }), {
      status: 'met',
    });
    const missed: Verdict = {
      status: 'fail',
      reasons: [{ code: 'slo-p99', message: slow }],
      checks: [p99(false)],
    };
    assert.deepEqual(outcome(missed), { status: 'missed', words: `step 2: ${slow}` });
    assert.deepEqual(outcome({ status: 'pass', reasons: [] }), { status: 'notMeasured' });
    assert.deepEqual(outcome({ ...missed, status: 'invalid' }), { status: 'notMeasured' });
  });

  it('of one kind differ by their names and places', () => {
    const [usual, full] = objectivesIn(list);
    const checks: SloCheck[] = [
      { ...p99(false), name: 'usual' },
      { ...p99(true), name: 'full', step: 'last' },
    ];
    const reasons = [
      { code: 'slo-p99', message: 'objective “other”: no' },
      { code: 'slo-p99', message: `objective “usual”: ${slow}` },
    ];
    const run = judged({ status: 'fail', reasons, checks });
    assert.deepEqual(outcomeOf(usual!, run, english), {
      status: 'missed',
      words: `step 2: objective “usual”: ${slow}`,
    });
    assert.deepEqual(outcomeOf(full!, run, english), { status: 'met' });
  });
});
