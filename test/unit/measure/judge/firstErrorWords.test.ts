import assert from 'node:assert/strict';
import { firstErrorWords } from '../../../../src/measure/judge/hubComplaint';

describe('the first error of a run', () => {
  it('is reported with what to do about it', () => {
    const words = firstErrorWords([{ errorClass: 'refused', text: 'nobody there.' }]);
    assert.match(words, /^First error: refused: nobody there\. Start the server/);
    assert.equal(firstErrorWords([]), 'The target did not answer.');
  });

  it('names the files of a client certificate where a server may want one', () => {
    const text = 'tlsv13 alert certificate required';
    assert.match(firstErrorWords([{ errorClass: 'tls', text }]), /`certFile` and `keyFile`/);
  });

  it('is that of a server of the run, which has caused the others', () => {
    const errors = ['closed', 'ownServer'].map((errorClass) => ({ errorClass, text: 'gone' }));
    assert.match(firstErrorWords(errors), /^First error: ownServer: gone\./);
  });
});
