import assert from 'node:assert/strict';
import { redactNotice } from '../../../src/results/redact';

describe('noticeText', () => {
  it('holds no link that the editor would follow', () => {
    const hostile = 'closed: [Open Result](command:workbench.action.quit) [b](https://evil.test)';
    assert.doesNotMatch(redactNotice(hostile), /\]\(/);
    assert.match(redactNotice(hostile), /^closed: \[Open Result\] \(command:/);
  });

  it('holds no secret', () => {
    assert.equal(redactNotice('http://me:s3cret@host/hub'), 'http://(redacted)@host/hub');
  });
});
