import '../../../fakes/plainVscode';
import assert from 'node:assert/strict';
import { english } from '../../../../src/base/text';
import { objectivesIn, outcomeOf } from '../../../../src/extension/run/scenarioTests';
import type { SloCheck, Verdict } from '../../../../src/measure/summary';
import { searchSample } from '../../../fakes/searchSample';
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
      reasons: [{ code: 'slo-p99', rule: p99(false), message: slow }],
      checks: [p99(false)],
    };
    assert.deepEqual(outcome(missed), { status: 'missed', words: `step 2: ${slow}` });
    assert.deepEqual(outcome({ status: 'pass', reasons: [] }), { status: 'notMeasured' });
    assert.deepEqual(outcome({ ...missed, status: 'invalid' }), { status: 'notMeasured' });
  });

  it('are not measured where the clocks of agents leave them open', () => {
    const open: SloCheck = { ...p99(false), by: 'nothing' };
    const verdict: Verdict = {
      status: 'fail',
      reasons: [
        { code: 'slo-errors', message: 'many errors' },
        { code: 'clockError', message: 'is open' },
      ],
      checks: [open],
    };
    assert.deepEqual(outcomeOf(objective!, judged(verdict), english), { status: 'notMeasured' });
    const inside: SloCheck = { ...p99(false), by: 'inside' };
    const missed = { code: 'slo-p99', rule: inside, message: slow };
    const both = { ...verdict, reasons: [missed, ...verdict.reasons], checks: [inside] };
    assert.deepEqual(outcomeOf(objective!, judged(both), english), {
      ...{ status: 'missed', words: `step 2: ${slow}` },
    });
  });

  it('of one kind differ by their names and places', () => {
    const [usual, full] = objectivesIn(list);
    const checks: SloCheck[] = [
      { ...p99(false), name: 'usual' },
      { ...p99(true), name: 'full', step: 'last' },
    ];
    const reasons = [
      { code: 'slo-p99', message: 'objective “other”: no' },
      { code: 'slo-p99', rule: checks[0]!, message: `objective “usual”: ${slow}` },
    ];
    const run = judged({ status: 'fail', reasons, checks });
    assert.deepEqual(outcomeOf(usual!, run, english), {
      status: 'missed',
      words: `step 2: objective “usual”: ${slow}`,
    });
    assert.deepEqual(outcomeOf(full!, run, english), { status: 'met' });
  });

  it('are missed by the steps of a search only where it has failed', () => {
    const steps = [true, false].map((met, at) => ({
      ...result.steps[0]!,
      index: at + 1,
      verdict: {
        status: met ? ('pass' as const) : ('fail' as const),
        reasons: met ? [] : [{ code: 'slo-p99', rule: p99(false), message: slow }],
        checks: [p99(met)],
      },
    }));
    const outcome = (status: Verdict['status'], of = steps) =>
      outcomeOf(
        objective!,
        { verdict: { status, reasons: [] }, steps: of, search: searchSample },
        english,
      );
    assert.deepEqual(outcome('pass'), { status: 'met' });
    assert.deepEqual(outcome('incomplete'), { status: 'met' });
    assert.deepEqual(outcome('pass', steps.slice(1)), { status: 'notMeasured' });
    assert.deepEqual(outcome('fail', steps.slice(1)), {
      status: 'missed',
      words: `step 2: ${slow}`,
    });
  });

  it('have the reason of their own, with and without names', () => {
    const alike = 'slo:\n  - { metric: p99, limit: 200ms }\n  - { metric: p99, limit: 500ms }\n';
    const missed = (text: string, checks: SloCheck[], messages: string[]): unknown[] =>
      objectivesIn(text).map((one) => {
        const unmet = checks.filter(({ met }) => !met);
        const reasons = messages.map((message, at) => ({
          ...{ code: 'slo-p99', rule: unmet[at]!, message },
        }));
        const verdict = { status: 'fail' as const, reasons, checks };
        const outcome = outcomeOf(one, judged(verdict), english);
        return 'words' in outcome ? outcome.words : outcome.status;
      });
    const limits = [200_000, 500_000].map((limit) => ({ ...p99(false), limit }));
    const messages = ['above the limit of 200 ms', 'above the limit of 500 ms'];
    assert.deepEqual(
      missed(alike, limits, messages),
      messages.map((each) => `step 2: ${each}`),
    );
    assert.deepEqual(missed(alike, [{ ...limits[0]!, met: true }, limits[1]!], messages.slice(1)), [
      'met',
      `step 2: ${messages[1]}`,
    ]);
    const inNames = `slo:
  - { name: full load, metric: p99, limit: 200ms }
  - { name: load, metric: p99, limit: 500ms }
`;
    const names = ['full load', 'load'];
    const words = names.map((name) => `objective “${name}”: slow`);
    assert.deepEqual(
      missed(
        inNames,
        limits.map((check, at) => ({ ...check, name: names[at]! })),
        words,
      ),
      words.map((each) => `step 2: ${each}`),
    );
  });
});
