import assert from 'node:assert/strict';
import { exported } from '../../../../src/session/export/exporters';
import { sampleResult } from '../../results/sampleResult';

describe('JUnit of what the clocks of agents leave open', () => {
  it('skips the objective with its reason, and passes the others', async () => {
    const [first] = sampleResult().steps;
    const { verdict } = first!;
    const message = 'whether 99 % came within 1 s is open';
    const checks = verdict.checks!.map((check) =>
      check.metric === 'p99' ? { ...check, met: false, by: 'nothing' as const } : check,
    );
    const reasons = [{ code: 'clockError', message }];
    const open = { ...first!, verdict: { status: 'incomplete' as const, reasons, checks } };
    const result = sampleResult({ steps: [open] });
    const run = { kind: 'result', path: '/nowhere', result } as const;
    const xml = await exported(run, 'junit', () => Promise.resolve([]));
    const [, step = ''] = /<testsuite [^>]*step 1"[^>]*>([^]*?)<\/testsuite>/.exec(xml) ?? [];
    assert.match(step, new RegExp(`p99 at most 1 s[^>]*>\\s*<skipped[^>]*>?[^<]*${message}`));
    assert.match(step, /delivered at least 99 %"[^>]*\/>/);
    assert.doesNotMatch(step, /<failure/);
  });
});
