import assert from 'node:assert/strict';
import { exportRun } from '../../../../src/run/export/exporters';
import { sampleResult } from '../../results/sampleResult';

describe('JUnit of what is left open', () => {
  const stepOf = async (status: 'incomplete' | 'invalid', code: string): Promise<string> => {
    const [first] = sampleResult().steps;
    const { verdict } = first!;
    const checks = verdict.checks!.map((check) =>
      check.metric === 'p99' ? { ...check, met: false, by: 'nothing' as const } : check,
    );
    const rule = checks.find(({ metric }) => metric === 'p99')!;
    const reasons = [{ code, rule, message }];
    const open = { ...first!, verdict: { status, reasons, checks } };
    const result = sampleResult({ steps: [open] });
    const run = { kind: 'result', path: '/nowhere', result } as const;
    const xml = await exportRun(run, 'junit', () => Promise.resolve([]));
    const [, step = ''] = /<testsuite [^>]*step 1"[^>]*>([^]*?)<\/testsuite>/.exec(xml) ?? [];
    return step;
  };

  const message = 'whether 99 % came within 1 s is open';
  for (const [status, code] of [
    ['incomplete', 'clockError'],
    ['invalid', 'slip'],
    ['invalid', 'unread'],
  ] as const) {
    it(`by ${code} skips the objective with its reason, and passes the others`, async () => {
      const step = await stepOf(status, code);
      assert.match(step, new RegExp(`p99 at most 1 s[^>]*>\\s*<skipped[^>]*>?[^<]*${message}`));
      assert.match(step, /delivered at least 99 %"[^>]*\/>/);
      assert.doesNotMatch(step, /<failure/);
    });
  }

  it('skips all where the load was not sent', async () => {
    const step = await stepOf('invalid', 'send-rate');
    assert.match(step, /delivered at least 99 %"[^>]*>\s*<skipped>the step is invalid, so nothing/);
  });
});
