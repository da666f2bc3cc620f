import assert from 'node:assert/strict';
import { statusDetails, statusText } from '../../../../src/extension/run/runTexts';
import { sampleSnapshot } from '../../results/sampleResult';
import { english } from '../../../../src/base/text';

describe('statusText', () => {
  it('says step, p99 and time left while measuring', () => {
    const text = statusText(sampleSnapshot(60, 2), english);
    assert.match(text, /^step \d\/\d · p99 [\d.,]+ (ms|s|us) · .* left$/);
  });

  it('says what happens before and after', () => {
    const snapshot = sampleSnapshot(60, 2);
    assert.equal(statusText(undefined, english), 'starting');
    assert.match(
      statusText({ ...snapshot, phase: 'connecting' }, english),
      /^[\d,]+ of [\d,]+ connected$/,
    );
    assert.match(statusText({ ...snapshot, phase: 'warmup' }, english), /warm-up$/);
    assert.equal(statusText({ ...snapshot, phase: 'done' }, english), 'closing');
  });

  it('says in a search which value is tried', () => {
    const search = { of: 'senders', value: 1300, low: null, high: null } as const;
    const text = statusText({ ...sampleSnapshot(60, 2), search }, english);
    assert.match(text, /^step 2: 1,300 · p99 /);
  });

  it('gives rates and errors in the tooltip', () => {
    assert.equal(statusDetails(undefined, english).length, 0);
    assert.match(statusDetails(sampleSnapshot(60, 2), english).join('\n'), /msg\/s sent/);
  });
});
