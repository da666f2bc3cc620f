import assert from 'node:assert/strict';
import { defaultSlo, type Slo } from '../../../src/base/slo';
import type { Verdict } from '../../../src/measure/summary';
import {
  judgeStep,
  rejudgeAfterDrain,
  type StepMeasures,
} from '../../../src/measure/judge/verdict';

/** A step in which all came at once, and nothing came twice. */
function step(change: Partial<StepMeasures> = {}): StepMeasures {
  const { expected = 100 } = change;
  return {
    ...{ senders: 1, offered: 1, sent: 1, expected, received: expected, duplicated: 0 },
    generator: { cpuShare: 0.2 },
    latencyAtShareUs: () => 50,
    ...change,
  };
}

const only = (duplicated: number): Slo => ({ latencyUs: {}, duplicated });
const codesOf = ({ reasons }: Verdict): string[] => reasons.map(({ code }) => code);

describe('duplicates', () => {
  const cases: [string, Partial<StepMeasures>, Slo, string][] = [
    ['none', {}, defaultSlo, 'pass'],
    ['one where none is allowed', { duplicated: 1 }, defaultSlo, 'fail slo-duplicated'],
    ['as many as are allowed', { duplicated: 7 }, only(0.07), 'pass'],
    ['one more than are allowed', { duplicated: 8 }, only(0.07), 'fail slo-duplicated'],
    ['one of each', { duplicated: 100 }, only(1), 'pass'],
    ['more than one of each', { duplicated: 101 }, only(1), 'fail slo-duplicated'],
    ['any number without an objective', { duplicated: 1e6 }, { latencyUs: {} }, 'pass'],
    ['where nothing was expected', { expected: 0, duplicated: 3 }, defaultSlo, 'pass'],
  ];
  for (const [name, change, slo, expected] of cases)
    it(`${name}: ${expected}`, () => {
      const verdict = judgeStep(step(change), slo);
      assert.equal([verdict.status, ...codesOf(verdict)].join(' '), expected);
    });

  it('make up for no loss', () => {
    const slo = { ...only(1), delivered: 0.95 };
    const verdict = judgeStep(step({ received: 90, duplicated: 300 }), slo);
    assert.deepEqual(codesOf(verdict), ['slo-delivered', 'slo-duplicated']);
  });

  it('are a check with their share of what was expected, met or not', () => {
    const check = (received: number, limit: number): unknown =>
      judgeStep(step({ received, duplicated: 20 }), only(limit)).checks;
    const reported = { metric: 'duplicated', value: 0.2 };
    assert.deepEqual(check(50, 0.1), [{ ...reported, limit: 0.1, met: false }]);
    assert.deepEqual(check(100, 0.2), [{ ...reported, limit: 0.2, met: true }]);
  });

  it('are said with their share and with the limit as it was set', () => {
    const said = (expected: number, duplicated: number, limit: number): string | undefined =>
      judgeStep(step({ expected, duplicated }), only(limit)).reasons[0]?.message;
    assert.equal(
      said(200, 28, 0),
      '28 duplicates came on top of the 200 expected (14 %), above the limit of 0 %',
    );
    assert.equal(
      said(100_000, 51, 0.0005),
      '51 duplicates came on top of the 100,000 expected (0.051 %), above the limit of 0.05 %',
    );
    assert.equal(
      said(1, 1, 0),
      '1 duplicate came on top of the 1 expected (100 %), above the limit of 0 %',
    );
    assert.equal(said(100_000, 50, 0.0005), undefined);
  });
});

describe('duplicates that come after their step was judged', () => {
  const slo: Slo = { latencyUs: { p99: 1000 }, duplicated: 0.02 };
  const judged = (duplicated: number): Verdict => judgeStep(step({ duplicated }), slo);
  const later = (before: Verdict, duplicated: number): Verdict =>
    rejudgeAfterDrain(before, step({ duplicated }), slo);

  it('leave a verdict alone that they do not change', () => {
    const before = judged(1);
    assert.equal(later(before, 1), before);
    const passed: Verdict = { status: 'pass', reasons: [] };
    assert.equal(later(passed, 5), passed);
  });

  it('change value, reason and status', () => {
    assert.deepEqual(later(judged(1), 2), judged(2));
    assert.deepEqual(later(judged(1), 3), judged(3));
    assert.deepEqual(later(judged(3), 4), judged(4));
    assert.deepEqual([judged(2).status, judged(4).status], ['pass', 'fail']);
  });

  it('keep what else was said, and make nothing better of a step that is invalid', () => {
    const slip = { code: 'slip', message: 'late' };
    const before: Verdict = { ...judged(0), status: 'invalid', reasons: [slip] };
    const after = later(before, 3);
    assert.deepEqual([after.status, codesOf(after)], ['invalid', ['slip', 'slo-duplicated']]);
  });
});
