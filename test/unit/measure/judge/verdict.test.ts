import { plain } from '../../plain';
import { say } from '../../../../src/base/sentence';
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { JudgedConnections } from '../../../../src/base/objectives/objective';
import { defaultSlo, rulesFromSlo, type Slo } from '../../../../src/base/slo';
import type { Ending, RunSummary, StepSummary, Verdict } from '../../../../src/measure/summary';
import {
  judgeConnections,
  failByAbort,
  addConnectionVerdict,
  judgeLostAgents,
  judgeUnsettledMessages,
  judgeRun,
  judgeStep,
  type StepMeasures,
  abortedWords,
} from '../../../../src/measure/judge/verdict';

const calm = { cpuShare: 0.2 };

/** A step whose received deliveries took these microseconds each, in rising order. */
function step(latencies: readonly number[], change: Partial<StepMeasures> = {}): StepMeasures {
  return {
    senders: 1,
    offered: latencies.length,
    sent: latencies.length,
    expected: latencies.length,
    received: latencies.length,
    duplicated: 0,
    generator: calm,
    latencyAtShareUs: (share) =>
      latencies[Math.max(0, Math.ceil(share * latencies.length - 1e-6) - 1)] ?? 0,
    ...change,
  };
}

const rising = (count: number, us = (index: number): number => index): number[] =>
  Array.from({ length: count }, (_, index) => us(index + 1));

const p99 = (limitUs: number): Slo => ({ latencyUs: { p99: limitUs } });

describe('judgeStep', () => {
  const lost = (count: number): StepMeasures => step(rising(100 - count), { expected: 100 });
  const delivered: Slo = { latencyUs: {}, delivered: 0.98 };
  const busy = { generator: { ...calm, cpuShare: 0.96 } };
  const nothing = { expected: 10, offered: 10, sent: 10 };
  /** With status and codes. */
  const cases: [string, StepMeasures, Slo, string][] = [
    ['99 of 100 within the limit', step(rising(100)), p99(99), 'pass'],
    ['the 99th of 100 above the limit', step(rising(100)), p99(98), 'fail slo-p99'],
    ['exactly at the limit', step([500]), p99(500), 'pass'],
    ['one lost of 100, the rest fast', lost(1), p99(99), 'pass'],
    ['two lost of 100 break p99', lost(2), p99(1e9), 'fail slo-p99'],
    ['one lost breaks max', lost(1), { latencyUs: { max: 1e9 } }, 'fail slo-max'],
    ['nothing received', step([], nothing), defaultSlo, 'fail slo-p99 slo-delivered'],
    ['nothing expected', step([], { offered: 1, sent: 1 }), defaultSlo, 'pass'],
    ['nothing to be sent', step([], { senders: 0 }), defaultSlo, 'pass'],
    ['nothing sent by a sender', step([]), defaultSlo, 'invalid nothingSent'],
    ['delivered below its limit', lost(3), delivered, 'fail slo-delivered'],
    ['delivered at its limit', lost(2), delivered, 'pass'],
    ['invalid beats fail', step(rising(100), busy), p99(1), 'invalid cpu slo-p99'],
    ['invalid beats pass', step(rising(100), { offered: 102 }), defaultSlo, 'invalid send-rate'],
  ];
  for (const [name, measures, slo, expected] of cases)
    it(`${name}: ${expected}`, () => {
      const { status, reasons } = judgeStep(measures, slo);
      assert.equal([status, ...reasons.map(({ code }) => code)].join(' '), expected);
    });

  it('fails where sessions break off, also where nothing else was expected', () => {
    const of = (completed: number, brokenOff: number): StepMeasures =>
      step([], { sent: 4, offered: 4, sessions: { completed, brokenOff } });
    const words = (measures: StepMeasures, sessionsBrokenOff?: number): string[] => {
      const slo = { ...defaultSlo, ...(sessionsBrokenOff !== undefined && { sessionsBrokenOff }) };
      const { status, reasons } = judgeStep(measures, slo);
      assert.equal(status, reasons.length > 0 ? 'fail' : 'pass');
      return reasons.map(({ message }) => message);
    };
    assert.deepEqual(words(of(0, 7)), ['7 sessions were broken off, and none was completed']);
    assert.deepEqual(words(of(0, 7), 0.01), [
      '7 of 7 sessions broke off (100 %), above the limit of 1 %',
    ]);
    assert.deepEqual(words(of(1, 7)), []);
    const sessionsOf = [
      { name: 'chat', completed: 9, brokenOff: 1 },
      { name: 'typing', completed: 0, brokenOff: 2 },
    ];
    assert.deepEqual(words({ ...of(9, 3), sessionsOf }), [
      'typing: 2 sessions were broken off, and none was completed',
    ]);
    // Those of the step are still on their way: there is nothing to judge.
    assert.deepEqual(words(of(0, 0), 0), []);
    assert.deepEqual(words(of(1, 1), 0.5), []);
  });

  it('says what was measured and what the limit is', () => {
    const slow = step([], { expected: 950_000, received: 950_000, offered: 10, sent: 10 });
    const verdict = judgeStep({ ...slow, latencyAtShareUs: () => 1_400_000 }, defaultSlo);
    assert.equal(
      verdict.reasons[0]?.message,
      '99 % of 950,000 deliveries within 1.4 s, above the limit of 1 s',
    );
    const near = judgeStep({ ...slow, latencyAtShareUs: () => 1_004_000 }, defaultSlo);
    assert.equal(
      near.reasons[0]?.message,
      '99 % of 950,000 deliveries within 1.004 s, above the limit of 1 s',
    );
  });

  it('distinguishes losses from slowness and never rounds a missed share up to its limit', () => {
    const verdict = judgeStep(step(rising(98_960), { expected: 100_000 }), defaultSlo);
    assert.deepEqual(
      verdict.reasons.map(({ message }) => message),
      [
        '1,040 of 100,000 deliveries lost, and only 1 % may be slower than 1 s',
        '98.96 % of 100,000 deliveries arrived, below the limit of 99 %',
      ],
    );
  });

  it('writes a missed limit as it was set', () => {
    const slo = { latencyUs: {}, delivered: 0.9995 };
    const verdict = judgeStep(step(rising(9990), { expected: 10_000 }), slo);
    assert.equal(
      verdict.reasons[0]?.message,
      '99.9 % of 10,000 deliveries arrived, below the limit of 99.95 %',
    );
  });

  it('keeps every judged objective with its value, a lost rank as null', () => {
    const slo: Slo = { latencyUs: { p50: 60, max: 60 }, delivered: 0.5 };
    assert.deepEqual(judgeStep(step(rising(99), { expected: 100 }), slo).checks, [
      { metric: 'p50', limit: 60, value: 50, met: true },
      { metric: 'max', limit: 60, value: null, met: false },
      { metric: 'delivered', limit: 0.5, value: 0.99, met: true },
    ]);
  });

  it('agrees with sorting all expected deliveries, the lost ones last', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 0, max: 10 }),
        fc.constantFrom('p50', 'p90', 'p95', 'p99', 'p99.9', 'max'),
        fc.integer({ min: 1, max: 100 }),
        (latencies, lost, metric, limit) => {
          const sorted = [...latencies].sort((a, b) => a - b);
          const expected = sorted.length + lost;
          const verdict = judgeStep(step(sorted, { expected }), {
            latencyUs: { [metric]: limit },
          });
          // Thousandths avoid the rounding of binary fractions.
          const share = { p50: 500, p90: 900, p95: 950, p99: 990, 'p99.9': 999, max: 1000 }[metric];
          const needed = Math.ceil((share * expected) / 1000);
          const fastEnough = sorted.filter((us) => us <= limit).length;
          assert.equal(
            verdict.reasons.some(({ code }) => code === `slo-${metric}`),
            fastEnough < needed,
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('judgeStep between agents', () => {
  /** As if so many of them had stayed inside their agents, each of that time. */
  const across = (count: number, us: number, wrong?: string): Partial<StepMeasures> => ({
    across: {
      ...{ errorUs: 800, inside: { count, latencyAtShareUs: () => us } },
      ...(wrong !== undefined && { wrong }),
    },
  });
  const measured = (valueUs: number, change: Partial<StepMeasures>): StepMeasures =>
    step([], {
      ...{ offered: 3000, sent: 3000, expected: 3000, received: 3000 },
      ...{ latencyAtShareUs: () => valueUs, ...change },
    });
  const said = ({ status, reasons }: Verdict) => [status, ...reasons.map(({ code }) => code)];

  it('goes by the value where clocks cannot change what it says', () => {
    for (const [us, status] of [
      [9200, 'pass'],
      [10_801, 'fail'],
    ] as const) {
      const verdict = judgeStep(measured(us, across(0, 0)), p99(10_000));
      assert.equal(verdict.status, status);
      assert.deepEqual(verdict.checks, [
        { metric: 'p99', limit: 10_000, value: us, met: status === 'pass' },
      ]);
    }
  });

  it('goes by the deliveries inside single agents where they can', () => {
    const met = judgeStep(measured(10_200, across(1000, 9900)), p99(10_000));
    assert.deepEqual(met, {
      ...{ status: 'pass', reasons: [] },
      checks: [{ metric: 'p99', limit: 10_000, value: 9900, met: true, by: 'inside' }],
    });
    const missed = judgeStep(measured(9900, across(1000, 10_400)), p99(10_000));
    assert.deepEqual(plain(missed), {
      status: 'fail',
      reasons: [
        {
          code: 'slo-p99',
          message:
            '99 % of 1,000 deliveries inside single agents within 10.4 ms, above the limit of 10 ms',
        },
      ],
      checks: [{ metric: 'p99', limit: 10_000, value: 10_400, met: false, by: 'inside' }],
    });
  });

  it('is incomplete where nothing can say it, and fails all the same for what else was missed', () => {
    const step = measured(10_200, across(999, 9900));
    const verdict = judgeStep(step, p99(10_000));
    assert.deepEqual(plain(verdict), {
      status: 'incomplete',
      reasons: [
        {
          code: 'clockError',
          message:
            'whether 99 % of 3,000 deliveries came within 10 ms is open: 10.2 ms were measured, clocks may differ by 800 µs, and only 999 of them stayed inside one agent',
        },
      ],
      checks: [{ metric: 'p99', limit: 10_000, value: 10_200, met: false, by: 'nothing' }],
    });
    const both = { latencyUs: { p50: 5000, p99: 10_000 } };
    assert.deepEqual(said(judgeStep(step, both)), ['fail', 'slo-p50', 'clockError']);
    const late = { ...step, generator: { cpuShare: 0.97 } };
    assert.deepEqual(said(judgeStep(late, p99(10_000))), ['invalid', 'cpu', 'clockError']);
    const dropped = { requested: 10, failed: 0, dropped: 10 };
    assert.equal(addConnectionVerdict(verdict, dropped, defaultSlo).status, 'fail');
  });

  it('is judged inside single agents where the clocks are wrong, and says so even when it passes', () => {
    const wrong = 'the clock of agent 2 was moved';
    const verdict = judgeStep(measured(1, across(1000, 7000, wrong)), p99(10_000));
    assert.equal(verdict.status, 'pass');
    assert.deepEqual(plain(verdict.reasons), [
      {
        code: 'clocks',
        message: 'the clock of agent 2 was moved, so latency is judged inside single agents',
      },
    ]);
    const few = judgeStep(measured(1, across(10, 7000, wrong)), p99(10_000));
    assert.deepEqual(said(few), ['incomplete', 'clockError']);
    const unjudged = judgeStep(measured(1, across(10, 7000, wrong)), {
      ...{ latencyUs: {}, delivered: 1 },
    });
    assert.deepEqual(said(unjudged), ['pass']);
  });

  it('loses what was lost, whatever the clocks say', () => {
    const lost = measured(1, { ...across(1000, 1), received: 2000 });
    assert.deepEqual(said(judgeStep(lost, p99(10_000))), ['fail', 'slo-p99']);
  });
});

describe('abortedWords', () => {
  it('says the time to the hundredth of a second, and never none', () => {
    const after = (seconds: number): string =>
      say(abortedWords('slow', seconds)).replace('slow; it ended the step after ', '');
    assert.deepEqual([0.353497, 0.0004, 0.999, 3, 61.04].map(after), [
      ...['0.35 s', '0.01 s', '1 s', '3 s', '61 s'],
    ]);
  });
});

describe('addConnectionVerdict', () => {
  it('fails a step that has passed, and adds its reason to any other', () => {
    const lost = { requested: 10, failed: 0, dropped: 10 };
    const judged = (status: 'pass' | 'invalid', dropped = lost) => {
      const reasons = status === 'pass' ? [] : [{ code: 'slip', message: 'late' }];
      const verdict = addConnectionVerdict({ status, reasons }, dropped, defaultSlo);
      return [verdict.status, ...verdict.reasons.map(({ code }) => code)];
    };
    assert.deepEqual(judged('pass', { ...lost, dropped: 0 }), ['pass']);
    assert.deepEqual(judged('pass'), ['fail', 'slo-dropped']);
    assert.deepEqual(judged('invalid'), ['invalid', 'slip', 'slo-dropped']);
  });
});

describe('judgeLostAgents and judgeUnsettledMessages', () => {
  const reasons = [{ code: 'why', message: 'so' }];
  const statuses = ['pass', 'fail', 'invalid', 'incomplete'] as const;

  it('let no step pass, and leave standing what is worse', () => {
    const found = (change: (verdict: Verdict) => Verdict): Verdict['status'][] =>
      statuses.map((status) => change({ status, reasons }).status);
    const left = ['incomplete', 'fail', 'invalid', 'incomplete'];
    assert.deepEqual(
      found((verdict) => judgeLostAgents(verdict, ['agent 1 of 2 was lost'])),
      left,
    );
    assert.deepEqual(
      found((verdict) => judgeUnsettledMessages(verdict, 3)),
      left,
    );
  });

  it('add a reason for each agent, and one for all messages', () => {
    const codes = (verdict: Verdict): string[] => verdict.reasons.map(({ code }) => code);
    const verdict = { status: 'fail', reasons } as const;
    assert.deepEqual(codes(judgeLostAgents(verdict, ['one', 'two'])), [
      'why',
      'agentLost',
      'agentLost',
    ]);
    assert.deepEqual(plain(judgeUnsettledMessages(verdict, 1200).reasons[1]), {
      code: 'unsettled',
      message: 'agents have not reported in time who was to get 1,200 messages',
    });
  });

  it('say nothing where nothing is missing', () => {
    const verdict = { status: 'pass', reasons: [] } as const;
    assert.equal(judgeLostAgents(verdict, []), verdict);
    assert.equal(judgeUnsettledMessages(verdict, 0), verdict);
  });
});

describe('failByAbort', () => {
  it('fails the step by the objective that has ended it, said first unless it is invalid', () => {
    const reasons = [
      { code: 'slo-p99', message: 'slow' },
      { code: 'cpu', message: 'busy' },
    ];
    const ended = { code: 'slo-p99', message: 'slow' };
    const found = (status: Verdict['status']): [string, string[]] => {
      const verdict = failByAbort({ status, reasons }, ended, 2);
      return [verdict.status, verdict.reasons.map(({ message }) => message)];
    };
    const said = 'slow; it ended the step after 2 s';
    assert.deepEqual(found('pass'), ['fail', [said, 'busy']]);
    assert.deepEqual(found('incomplete'), ['fail', [said, 'busy']]);
    assert.deepEqual(found('invalid'), ['invalid', ['busy', said]]);
  });
});

describe('judgeConnections', () => {
  const missedOf = (connections: JudgedConnections, slo: Slo) =>
    judgeConnections(connections, rulesFromSlo(slo)).flatMap(({ reason }) => reason ?? []);

  it('counts failed, dropped and those that did not come back over requested', () => {
    const connections = { requested: 1000, failed: 6, dropped: 4 };
    assert.deepEqual(missedOf(connections, defaultSlo), []);
    assert.deepEqual(plain(missedOf({ ...connections, dropped: 5 }, defaultSlo)), [
      {
        code: 'slo-dropped',
        message: '6 of 1,000 connections failed, 5 dropped (1.1 %), above the limit of 1 %',
      },
    ]);
    const gone = { requested: 1000, failed: 0, dropped: 4, notBack: 7 };
    assert.deepEqual(missedOf({ ...gone, notBack: 6 }, defaultSlo), []);
    assert.equal(
      missedOf(gone, defaultSlo)[0]?.message,
      '0 of 1,000 connections failed, 4 dropped, 7 did not come back (1.1 %), above the limit of 1 %',
    );
    assert.deepEqual(missedOf({ requested: 0, failed: 0, dropped: 0 }, defaultSlo), []);
    assert.deepEqual(missedOf({ ...connections, dropped: 900 }, { latencyUs: {} }), []);
  });
});

describe('judgeRun', () => {
  const connections = {
    ...{ requested: 10, connected: 10, failed: 0, dropped: 0, reconnected: 0 },
    connectUs: { p50: 1, p99: 1, max: 1 },
  };
  function run(
    statuses: Verdict['status'][],
    ending: Ending = 'completed',
    change: Partial<RunSummary> = {},
    answered = true,
  ): Verdict {
    const steps = statuses.map((status, index) => ({
      index: index + 1,
      ...{ senders: 5, sent: 10, expected: answered ? 10 : 0 },
      verdict: { status, reasons: status === 'pass' ? [] : [{ code: status, message: 'why' }] },
    })) as unknown as StepSummary[];
    return judgeRun(
      {
        ending,
        steps,
        connections,
        target: { kind: 'local', url: '' },
        machine: { cores: 1, node: '', platform: '', workers: 1 },
        errors: {},
        errorExamples: [],
        ...change,
      },
      defaultSlo,
    );
  }
  const dropped = { connections: { ...connections, dropped: 5 } };

  it('fails where nothing is expected and the hub refuses what it is asked', () => {
    const refused = { errors: { invocation: 5 } };
    const verdict = run(['pass'], 'completed', refused, false);
    assert.equal(verdict.status, 'fail');
    assert.deepEqual(plain(verdict.reasons), [
      {
        code: 'refused',
        message:
          'the hub refused messages of 5 of 5 senders, and later messages ask for no answer, so more may have been refused',
      },
    ]);
    // Where deliveries are expected, they are what is judged.
    assert.equal(run(['pass'], 'completed', refused).status, 'pass');
    assert.equal(run(['pass'], 'completed', {}, false).status, 'pass');
  });

  it('is incomplete when a step is, unless another one is worse', () => {
    assert.equal(run(['pass', 'incomplete']).status, 'incomplete');
    assert.equal(run(['fail', 'incomplete']).status, 'fail');
    assert.equal(run(['invalid', 'fail', 'incomplete']).status, 'invalid');
    assert.equal(run(['incomplete', 'pass']).reasons[0]!.code, 'incomplete');
  });

  it('says why every step is incomplete, where each was measured to its end', () => {
    assert.deepEqual(plain(run(['incomplete', 'incomplete'])), {
      status: 'incomplete',
      reasons: [1, 2].map((index) => ({ code: 'incomplete', message: `step ${index}: why` })),
      checks: run(['pass']).checks,
    });
  });

  it('is the worst of its steps', () => {
    assert.equal(run(['pass', 'pass']).status, 'pass');
    assert.equal(run(['pass', 'fail'], 'threshold').status, 'fail');
    assert.equal(run(['fail', 'pass']).status, 'fail');
    assert.equal(run(['invalid', 'fail']).status, 'invalid');
    assert.equal(run(['pass', 'invalid']).status, 'invalid');
  });

  it('names the step in its reasons', () => {
    assert.deepEqual(plain(run(['pass', 'fail']).reasons), [
      { code: 'fail', message: 'step 2: why' },
    ]);
  });

  it('fails for dropped connections even when every step passed or none was completed', () => {
    assert.equal(run(['pass'], 'completed', dropped).status, 'fail');
    const none = run([], 'threshold', dropped);
    assert.equal(none.status, 'fail');
    assert.deepEqual(
      none.reasons.map(({ code }) => code),
      ['slo-dropped'],
    );
  });

  it('names the step whose connections were gone, when they are back at the end', () => {
    const reasons = [{ code: 'slo-dropped', message: '5 did not come back' }];
    const step = { index: 1, senders: 5, expected: 10, verdict: { status: 'fail', reasons } };
    const steps = [step as unknown as StepSummary];
    const verdict = run([], 'completed', { steps });
    assert.equal(verdict.status, 'fail');
    assert.deepEqual(plain(verdict.reasons), [
      { code: 'slo-dropped', message: 'step 1: 5 did not come back' },
    ]);
    assert.equal(run([], 'completed', { ...dropped, steps }).reasons.length, 1);
  });

  for (const ending of ['stopped', 'interrupted', 'targetLost', 'workerLost'] as const) {
    it(`is incomplete after ${ending} and says so first`, () => {
      const verdict = run(['pass', 'fail'], ending);
      assert.equal(verdict.status, 'incomplete');
      assert.deepEqual(
        verdict.reasons.map(({ code }) => code),
        [ending, 'fail'],
      );
    });
  }

  it('is incomplete without a completed step and reports the reason of the ending', () => {
    assert.equal(run([]).reasons[0]?.code, 'no-step');
    assert.equal(run(['incomplete']).status, 'incomplete');
    const lost = run([], 'targetLost', { endingMessage: 'nothing listens on port 1' });
    assert.deepEqual(plain(lost.reasons), [
      { code: 'targetLost', message: 'nothing listens on port 1' },
    ]);
  });
});
