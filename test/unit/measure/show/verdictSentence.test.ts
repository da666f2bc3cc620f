import assert from 'node:assert/strict';
import { defaultSlo } from '../../../../src/base/slo';
import type { StepSummary, Verdict } from '../../../../src/measure/summary';
import { verdictSentence, type JudgedRun } from '../../../../src/measure/show/verdictSentence';

function judged(verdict: Verdict, step: Partial<StepSummary>, change: Partial<JudgedRun> = {}) {
  const steps = [
    {
      index: 3,
      expected: 950_000,
      received: 950_000,
      lost: 0,
      latencyUs: { count: 950_000, p99: 41_000 },
      verdict: {
        status: 'pass',
        reasons: [],
        checks: [{ metric: 'p99', limit: 1e6, value: 41_000, met: true }],
      },
      ...step,
    } as unknown as StepSummary,
  ];
  const connectUs = { p50: 1, p99: 1, max: 1 };
  const connections = {
    requested: 1000,
    connected: 1000,
    failed: 0,
    dropped: 0,
    reconnected: 0,
    connectUs,
  };
  return verdictSentence({
    verdict,
    steps,
    connections,
    ending: 'completed',
    scenario: { slo: defaultSlo },
    ...change,
  });
}

describe('verdictSentence', () => {
  const pass: Verdict = { status: 'pass', reasons: [] };

  it('says percentile, limit and loss of the last step when passed', () => {
    assert.equal(
      judged(pass, {}),
      '✓ passed; step 3: 99 % of 950,000 deliveries within 41 ms (limit 1 s), none lost',
    );
    assert.match(judged(pass, { lost: 12 }), /, 12 lost$/);
  });

  it('says how many sessions broke off, which no latency shows', () => {
    const sessions = { started: 8, completed: 0, brokenOff: 8 } as StepSummary['sessions'] & object;
    assert.match(
      judged(pass, { sessions }),
      /^✓ passed; .*, none lost; 8 of 8 sessions broke off$/,
    );
    const whole = { started: 8, completed: 8, brokenOff: 0 } as StepSummary['sessions'] & object;
    assert.match(judged(pass, { sessions: whole }), /, none lost$/);
  });

  it('takes the objective that came nearest to its limit', () => {
    const checks = [
      { metric: 'p50' as const, limit: 10_000, value: 9000, met: true },
      { metric: 'p99' as const, limit: 1e6, value: 41_000, met: true },
      { metric: 'delivered' as const, limit: 0.99, value: 1, met: true },
    ];
    assert.match(
      judged(pass, { verdict: { ...pass, checks } }),
      /50 % of 950,000 deliveries within 9 ms \(limit 10 ms\)/,
    );
  });

  it('says which deliveries have decided where the clocks of agents leave all of them open', () => {
    const check = { metric: 'p99', limit: 1e6, value: 41_000, met: true, by: 'inside' } as const;
    const verdict = { status: 'pass', reasons: [], checks: [check] } as const;
    const latencySameAgentUs = { count: 300_000 } as StepSummary['latencyUs'];
    assert.equal(
      judged({ status: 'pass', reasons: [] }, { verdict, latencySameAgentUs }),
      '✓ passed; step 3: 99 % of 300,000 deliveries inside single agents within 41 ms (limit 1 s), none lost',
    );
  });

  it('speaks of connections when nothing was sent', () => {
    assert.equal(
      judged(pass, { sent: 0, expected: 0, received: 0 }),
      '✓ passed; step 3: nothing sent, 1,000 of 1,000 connections opened, none dropped',
    );
    assert.match(
      judged(pass, { sent: 1200, expected: 0, received: 0 }),
      /step 3: 1,200 messages sent and no answer expected, 1,000 of 1,000 connections opened/,
    );
  });

  it('does not say that connections were held which the run has closed itself', () => {
    const held = { senders: 0, seconds: 7, connections: { requested: 80, open: 80 } };
    const opened = { requested: 80, connected: 80, failed: 0, reconnected: 80 };
    const words = (dropped: number, closed: number, step: Partial<StepSummary>): string => {
      const connections = { ...opened, dropped, life: { closed } };
      return judged(pass, step, { connections } as unknown as Partial<JudgedRun>);
    };
    assert.equal(words(0, 0, held), '✓ passed; 80 of 80 connections held for 7 s, none dropped');
    assert.equal(
      words(0, 80, held),
      '✓ passed; 80 of 80 connections open after 7 s, 80 closed by us, none dropped otherwise',
    );
    assert.match(
      words(3, 80, { sent: 0, expected: 0, received: 0 }),
      /: nothing sent, 80 of 80 connections opened, 80 closed by us, 3 dropped otherwise$/,
    );
  });

  it('does not blame the generator where nothing was sent', () => {
    const reasons = [{ code: 'nothingSent', message: 'step 3: the one sender sent nothing' }];
    assert.equal(
      judged({ status: 'invalid', reasons }, {}),
      '⚠ invalid; step 3: the one sender sent nothing',
    );
  });

  it('gives the first reason of a failed or invalid run and counts the others', () => {
    const reasons = [
      { code: 'a', message: 'step 3: too slow' },
      { code: 'b', message: 'step 3: too few' },
    ];
    assert.equal(
      judged({ status: 'fail', reasons }, {}),
      '✗ failed; step 3: too slow (and 1 more)',
    );
    assert.equal(
      judged({ status: 'invalid', reasons: reasons.slice(0, 1) }, {}),
      '⚠ invalid, the generator was the bottleneck; step 3: too slow',
    );
  });

  it('adds what was measured to an incomplete run', () => {
    const reasons = [{ code: 'interrupted', message: 'the run was interrupted' }];
    assert.match(
      judged({ status: 'incomplete', reasons }, {}),
      /^■ incomplete; the run was interrupted; step 3: 99 % of/,
    );
    assert.equal(
      judged({ status: 'incomplete', reasons }, {}, { steps: [] }),
      '■ incomplete; the run was interrupted',
    );
  });

  const stepOf = (index: number, p99: number, lost = 0): StepSummary =>
    ({
      ...{ index, senders: 10, sent: 100, expected: 100, received: 100 - lost, lost },
      latencyUs: { count: 100 - lost, p99: p99 - 6 },
      verdict: {
        ...pass,
        checks: [{ metric: 'p99', limit: 3e6, value: p99, met: true }],
      },
    }) as unknown as StepSummary;

  it('names the slowest step beside the last one', () => {
    const steps = [stepOf(1, 2_800_000), stepOf(2, 9000), stepOf(3, 41_000)];
    assert.equal(
      judged(pass, {}, { steps }),
      '✓ passed; step 3: 99 % of 100 deliveries within 41 ms (limit 3 s), none lost; slowest was step 1: 99 % of 100 deliveries within 2.8 s (limit 3 s)',
    );
    assert.doesNotMatch(judged(pass, {}, { steps: steps.slice(1) }), /slowest/);
  });

  it('does not say that nothing was lost where another step lost something', () => {
    assert.match(
      judged(pass, {}, { steps: [stepOf(1, 9000, 1), stepOf(2, 9000)] }),
      /, none lost, 1 in all steps/,
    );
    assert.match(judged(pass, {}, { steps: [stepOf(1, 9000), stepOf(2, 9000, 1)] }), /, 1 lost$/);
  });

  it('says which steps were not run, and does not blame the generator for what others took', () => {
    const reasons = [{ code: 'starved', message: 'step 1: something else took the processor' }];
    const ended = (plannedSteps: number, ending: JudgedRun['ending'] = 'threshold') =>
      judged({ status: 'invalid', reasons }, {}, { steps: [stepOf(1, 9)], plannedSteps, ending });
    const reported = '⚠ invalid; step 1: something else took the processor';
    assert.equal(ended(1), reported);
    assert.equal(ended(2), `${reported}; step 2 was not run`);
    assert.equal(ended(3), `${reported}; steps 2 and 3 were not run`);
    assert.equal(ended(9), `${reported}; steps 2 to 9 were not run`);
    assert.equal(ended(9, 'completed'), reported);
    const failed = { status: 'fail' as const, reasons };
    const run = { steps: [stepOf(1, 9)], plannedSteps: 2, ending: 'threshold' as const };
    assert.match(judged(failed, {}, run), /; step 2 was not run$/);
  });
});
