import { plain } from '../../plain';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Slo } from '../../../../src/base/slo';
import {
  generatorProblems,
  judgeStep,
  type StepMeasures,
} from '../../../../src/measure/judge/verdict';
import type { Verdict, VerdictReason } from '../../../../src/measure/summary';

const calm = { cpuShare: 0.2 };
/** So late to send and to read. */
const lateBy = (slipMaxUs: number, readGapMaxUs = 0) => ({ lateness: { slipMaxUs, readGapMaxUs } });

const p99 = (limitUs: number): Slo => ({ latencyUs: { p99: limitUs } });

describe('generatorProblems', () => {
  const problems = (change: object, late: VerdictReason[] = []): string[] =>
    generatorProblems({ offered: 1000, sent: 1000, generator: calm, ...change }, late).map(
      ({ code }) => code,
    );
  const slip = { code: 'slip', message: 'late' };

  it('allows the boundary and refuses what is beyond it', () => {
    assert.deepEqual(problems({ sent: 990 }), []);
    assert.deepEqual(problems({ sent: 989 }), ['send-rate']);
    assert.deepEqual(problems({ generator: { cpuShare: 0.95 } }), []);
    assert.deepEqual(problems({ generator: { cpuShare: 0.951 } }), ['cpu']);
    assert.deepEqual(problems({ offered: 0, sent: 0 }), []);
  });

  it('has nothing against lateness by which no objective is open', () => {
    assert.deepEqual(problems(lateBy(5e6, 5e6)), []);
    assert.deepEqual(problems(lateBy(5000), [slip]), ['slip']);
  });

  it('reports first what happened and what helps', () => {
    const first = (change: object, late = [slip]) =>
      generatorProblems({ offered: 10, sent: 10, generator: calm, ...change }, late)[0];
    const idle = { generator: { cpuShare: 0.03 } };
    assert.deepEqual(plain(first({ ...idle, ...lateBy(0, 310_000) })), {
      code: 'starved',
      message:
        'something else took the processor, or the machine slept: the busiest worker used only 3 % of a core, and messages left or were read late; close other programs on this machine, or run the load from another one',
    });
    assert.deepEqual(problems({ ...idle, ...lateBy(310_000) }, [slip]), ['starved', 'slip']);
    const busy = { generator: { cpuShare: 0.97 } };
    assert.deepEqual(problems({ ...busy, ...lateBy(310_000) }, [slip]), ['cpu', 'slip']);
    assert.match(first(busy, [])!.message, /used 97 % of a core; take more workers/);
    assert.deepEqual(plain(first({ generator: { ...calm, suspendedUs: 3_200_000 } }, [])), {
      code: 'suspended',
      message:
        'the load generator did not run for 3.2 s: its process was suspended, or the machine slept',
    });
    const calls = first({ byCalls: true, ...lateBy(310_000) })!;
    assert.deepEqual([calls.code, /free socket/.test(calls.message)], ['calls', true]);
  });
});

describe('the lateness of the generator', () => {
  const judged = (us: number, slo: Slo, change: Partial<StepMeasures> = {}): Verdict =>
    judgeStep(
      {
        ...{ senders: 1, offered: 1, sent: 1, expected: 1, received: 1, duplicated: 0 },
        ...{ generator: { cpuShare: 0.6 }, latencyAtShareUs: () => us, ...change },
      },
      slo,
    );
  const said = ({ status, reasons }: Verdict): string[] => [
    status,
    ...reasons.map(({ code }) => code),
  ];

  it('leaves open what is missed by no more than it, with both numbers', () => {
    assert.deepEqual(plain(judged(65_000, p99(50_000), lateBy(13_000, 2000))), {
      status: 'invalid',
      reasons: [
        {
          code: 'slip',
          message:
            'this machine may have added up to 15 ms (13 ms late to send, 2 ms late to read): 99 % of 1 delivery within 65 ms, above the limit of 50 ms',
        },
      ],
      checks: [{ metric: 'p99', limit: 50_000, value: 65_000, met: false, by: 'nothing' }],
    });
  });

  it('neither fails what it may explain nor excuses what it cannot', () => {
    assert.deepEqual(said(judged(50_000, p99(50_000), lateBy(1e6))), ['pass']);
    assert.deepEqual(said(judged(50_001, p99(50_000), lateBy(0))), ['fail', 'slo-p99']);
    assert.deepEqual(said(judged(1_500_000, p99(500_000), lateBy(22_000, 900))), [
      'fail',
      'slo-p99',
    ]);
    assert.deepEqual(said(judged(1, { latencyUs: {}, delivered: 0.9 }, lateBy(5e6))), ['pass']);
  });

  it('goes by the rule for each objective of a latency, whatever the numbers', () => {
    const us = fc.integer({ min: 1, max: 100_000 });
    const metric = fc.constantFrom('p50' as const, 'p99' as const, 'max' as const);
    const counts = { pass: 0, fail: 0, invalid: 0 };
    fc.assert(
      fc.property(us, us, us, us, metric, fc.boolean(), (v, limit, slip, gap, each, toAll) => {
        const slo: Slo = toAll
          ? { latencyUs: {}, [`timeToAll.${each}`]: limit }
          : { latencyUs: { [each]: limit } };
        const timeToAll = { messages: 1, reached: 1, atShareUs: () => v };
        const { status } = judged(v, slo, { ...lateBy(slip, gap), timeToAll });
        const expected = v <= limit ? 'pass' : v - (slip + gap) > limit ? 'fail' : 'invalid';
        assert.equal(status, expected);
        counts[expected] += 1;
      }),
      { numRuns: 500 },
    );
    assert.ok(Math.min(...Object.values(counts)) > 20, JSON.stringify(counts));
  });

  it('leaves open what was not read when the drain ended, if it would do', () => {
    const lost = (received: number, unread: number, slo: Slo): Verdict =>
      judgeStep(
        {
          ...{ senders: 1, offered: 100, sent: 100, expected: 100, duplicated: 0 },
          ...{ generator: { cpuShare: 0.6 }, latencyAtShareUs: () => 1000, received },
          lateness: { slipMaxUs: 0, readGapMaxUs: 0, unread },
          timeToAll: { messages: 100, reached: received, atShareUs: () => 1000 },
        },
        slo,
      );
    const delivered: Slo = { latencyUs: {}, delivered: 0.99 };
    assert.deepEqual(plain(lost(90, 9, delivered)), {
      status: 'invalid',
      reasons: [
        {
          code: 'unread',
          message:
            'a worker did not read when the drain ended, and 9 of what it read then may have come in time: 90 % of 100 deliveries arrived, below the limit of 99 %',
        },
      ],
      checks: [{ metric: 'delivered', limit: 0.99, value: 0.9, met: false, by: 'nothing' }],
    });
    assert.deepEqual(said(lost(90, 8, delivered)), ['fail', 'slo-delivered']);
    assert.deepEqual(said(lost(99, 1, delivered)), ['pass']);
    for (const slo of [p99(50_000), { latencyUs: {}, 'timeToAll.p99': 50_000 }]) {
      assert.deepEqual(said(lost(90, 9, slo)), ['invalid', 'unread']);
      assert.deepEqual(said(lost(90, 8, slo))[0], 'fail');
    }
    assert.deepEqual(said(lost(99, 1, p99(900))), ['fail', 'slo-p99']);
  });

  it('does not hide what else was missed', () => {
    const slo: Slo = { latencyUs: { p50: 1000, max: 50_000 }, delivered: 1 };
    const verdict = judged(65_000, slo, lateBy(20_000));
    assert.deepEqual(said(verdict), ['fail', 'slo-p50', 'slip']);
  });

  it('adds to what the clocks of agents leave open, and to what decides in their place', () => {
    const inside = { count: 2000, latencyAtShareUs: () => 12_000 };
    const across = { errorUs: 800, inside };
    const of = (us: number, lateUs: number): string[] =>
      said(judged(us, p99(10_000), { across, ...lateBy(lateUs) }));
    // 10.5 ms lie within the error of the clocks, so that 12 ms inside single agents decide.
    assert.deepEqual(of(10_500, 1999), ['fail', 'slo-p99']);
    assert.deepEqual(of(10_500, 2000), ['invalid', 'slip']);
    assert.deepEqual(of(13_000, 2199), ['fail', 'slo-p99']);
    assert.deepEqual(of(13_000, 2200), ['invalid', 'slip']);
  });
});
