import assert from 'node:assert/strict';
import { hideSecrets } from '../../../src/base/secrets';
import { endpointSecrets } from '../../../src/targets/resolveEndpoint';
import { shownText } from '../../../src/wire/connectFailure';
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
    const shown = hideSecrets(echoed, endpointSecrets(endpoint, { entries: [] }));
    assert.equal(
      shown,
      'refused (redacted) and (redacted), (redacted), (redacted), (redacted), (redacted)',
    );
  });

  it('takes out what a server makes of it: cookies, user and password, what was escaped, arguments', () => {
    const basic = Buffer.from('somebody:pa:ss word').toString('base64');
    const endpoint = {
      ...endpointOf('http://us%2Fer-1:pa%3Dss-1@127.0.0.1/hub'),
      headers: {
        Cookie: 'who=cookie-1; other=cookie%2F2',
        Authorization: `Basic ${basic}`,
        'X-Form': 'client_id=client-1&client_secret=a+b/c%3D',
      },
    };
    const parameters = {
      arguments: JSON.stringify([
        { pin: 'no secret' },
        { password: 'literal-1', user: 'somebody-2' },
      ]),
      steps: JSON.stringify([
        { call: 'Login', arguments: [{ tokens: ['Bearer {time}-literal-2'] }] },
      ]),
    };
    const secrets = endpointSecrets(endpoint, { entries: [{ name: 'invoke', parameters }] });
    const said = ['us/er-1', 'pa=ss-1', 'cookie-1', 'cookie/2', 'somebody', 'pa:ss word', basic];
    said.push('a+b/c=', 'literal-1', '123-literal-2');
    for (const text of said) {
      const shown = hideSecrets(`no ${text}, sorry`, secrets);
      assert.match(shown, /^no (?:123)?\(redacted\), sorry$/, text);
    }
    assert.equal(hideSecrets('no secret of somebody-2', secrets), 'no secret of (redacted)-2');
  });

  it('takes out what is left of one where a text is cut off, and nothing that only begins like it', () => {
    const secrets = ['password-of-ann', 'key-of-bob'];
    const hides = (text: string): string => hideSecrets(text, secrets);
    assert.equal(hides('refused password-of…'), 'refused (redacted)…');
    assert.equal(hides('{"a":"key-of…","b":"passwo…"}'), '{"a":"(redacted)…","b":"(redacted)…"}');
    for (const text of ['a password', 'password-of-eve…', 'pass…', 'key-of-carl and…'])
      assert.equal(hides(text), text);
    // As texts of servers are cut.
    for (let before = 180; before < 200; before++) {
      const shown = hides(shownText(`${'x'.repeat(before)} password-of-ann and more`));
      assert.doesNotMatch(shown, /passwo/, `${before}`);
    }
  });

  it('changes nothing for a secret that is empty', () => {
    assert.equal(hideSecrets('abc', ['', 'b']), 'a(redacted)c');
  });

  it('leaves short values alone: they stand in ordinary text', () => {
    const endpoint = { ...endpointOf('http://127.0.0.1/hub'), query: { v: '1', mode: 'on' } };
    assert.equal(
      hideSecrets('answered 401 on /hub', endpointSecrets(endpoint, { entries: [] })),
      'answered 401 on /hub',
    );
  });
});
