import assert from 'node:assert/strict';
import { statusDetails, statusText } from '../../../../src/extension/run/runTexts';
import { sampleScenario, sampleSnapshot } from '../../results/sampleResult';
import { english } from '../../../../src/base/text';

const textOf = (snapshot: Parameters<typeof statusText>[0]): string =>
  statusText(snapshot, sampleScenario, english);

describe('statusText', () => {
  it('says step, p99 and time left while measuring', () => {
    const text = textOf(sampleSnapshot(60, 2));
    assert.match(text, /^step 2\/3 · p99 [\d.,]+ (ms|s|us) · \d+:\d\d left, \d+:\d\d in all$/);
    const last = { ...sampleSnapshot(60, 2), stepCount: 2 };
    assert.match(textOf(last), /· \d+:\d\d left$/);
  });

  it('says what happens before and after', () => {
    const snapshot = sampleSnapshot(60, 2);
    assert.equal(textOf(undefined), 'starting');
    assert.match(textOf({ ...snapshot, phase: 'connecting' }), /^[\d,]+ of [\d,]+ connected$/);
    assert.match(textOf({ ...snapshot, phase: 'warmup' }), /warm-up$/);
    assert.equal(textOf({ ...snapshot, phase: 'done' }), 'closing');
  });

  it('has a sign where an objective is not met by now or for good, and says which in the tooltip', () => {
    const snapshot = sampleSnapshot(60, 2);
    const message = '46 of 100 connections dropped';
    for (const [missed, sign, words] of [
      [{ message }, /^⚠ step 2\/3 · /, /^Not met by now: 46 of 100/],
      [
        { message, isFinal: true },
        /^✗ step 2\/3 · /,
        /^Cannot be met any more; at best: 46 of 100/,
      ],
    ] as const) {
      const at = { ...snapshot, step: { ...snapshot.step!, missed } };
      assert.match(textOf(at), sign);
      assert.match(statusDetails(at, english)[0]!, words);
    }
  });

  it('says in a search which value is tried', () => {
    const search = { of: 'senders', value: 1300, low: null, high: null } as const;
    const text = textOf({ ...sampleSnapshot(60, 2), search });
    assert.match(text, /^step 2: 1,300 · p99 .* · \d+:\d\d left$/);
  });

  it('gives rates and errors in the tooltip', () => {
    assert.equal(statusDetails(undefined, english).length, 0);
    assert.match(statusDetails(sampleSnapshot(60, 2), english).join('\n'), /msg\/s sent/);
  });
});
