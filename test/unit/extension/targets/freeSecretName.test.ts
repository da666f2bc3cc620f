import assert from 'node:assert/strict';
import { freeSecretName } from '../../../../src/extension/targets/targetsModel';

describe('freeSecretName', () => {
  it('counts on where the name is taken', () => {
    assert.equal(freeSecretName('accessKey', ['other']), 'accessKey');
    assert.equal(freeSecretName('accessKey', ['accessKey']), 'accessKey2');
    assert.equal(
      freeSecretName('accessKey', ['accessKey3', 'accessKey', 'accessKey2']),
      'accessKey4',
    );
  });
});
