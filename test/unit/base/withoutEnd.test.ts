import assert from 'node:assert/strict';
import { withoutEnd } from '../../../src/base/text';

describe('withoutEnd', () => {
  it('takes away what stands at the end, and nothing else', () => {
    assert.equal(withoutEnd('/a//b//', '/'), '/a//b');
    assert.equal(withoutEnd('closed. \n', '. \n'), 'closed');
    assert.equal(withoutEnd('///', '/'), '');
    assert.equal(withoutEnd('a', '/'), 'a');
  });
});
