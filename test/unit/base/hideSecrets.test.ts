import assert from 'node:assert/strict';
import { hideSecrets } from '../../../src/base/text';
import { secretsOf } from '../../../src/targets/resolveEndpoint';
import { endpointOf } from '../../fakes/endpoint';

describe('hideSecrets', () => {
  it('takes out whatever was given to get in, also escaped and when one contains another', () => {
    const endpoint = {
      ...endpointOf('http://someone:s3cret-word@127.0.0.1/hub?sig=abc%2Fdef'),
      accessToken: 'token-1234',
      headers: { 'X-Api-Key': 'token-1234-longer', Authorization: 'Bearer zzzzzzzz' },
      query: { code: 'a b/c&d' },
    };
    const echoed =
      'refused token-1234 and token-1234-longer, s3cret-word, abc/def, zzzzzzzz, a%20b%2Fc%26d';
    const shown = hideSecrets(echoed, secretsOf(endpoint));
    assert.equal(
      shown,
      'refused (redacted) and (redacted), (redacted), (redacted), (redacted), (redacted)',
    );
  });

  it('changes nothing for a secret that is empty', () => {
    assert.equal(hideSecrets('abc', ['', 'b']), 'a(redacted)c');
  });

  it('leaves short values alone: they stand in ordinary text', () => {
    const endpoint = { ...endpointOf('http://127.0.0.1/hub'), query: { v: '1', mode: 'on' } };
    assert.equal(hideSecrets('answered 401 on /hub', secretsOf(endpoint)), 'answered 401 on /hub');
  });
});
