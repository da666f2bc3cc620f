import assert from 'node:assert/strict';
import { SecretHider } from '../../../../src/targets/identities/rowSecrets';

describe('what lets connections in, one by one', () => {
  const hider = new SecretHider(['common-secret'], {
    headers: { Authorization: ['Basic ', { name: 'data', column: 'login' }] },
    query: {},
    accessToken: [{ name: 'identity', column: 'pass' }],
    identities: {
      kind: 'rows',
      rows: Array.from({ length: 10_000 }, (_, at) => ({
        values: { user: `user-number-${at}`, pass: `T0ken-${at}==`, password: `pa ss${at}word` },
      })),
    },
    data: { rows: [{ login: 'bG9naW4=', room: 'lobby-room' }], shared: false },
  });

  it('is taken out of texts, and what is no secret stays', () => {
    const shown = (text: string): string => hider.hide(text);
    assert.equal(
      shown('no T0ken-9999== for user-number-9999'),
      'no (redacted) for user-number-9999',
    );
    assert.equal(
      shown('?access_token=T0ken-5%3D%3D&room=lobby-room'),
      '?access_token=(redacted)&room=lobby-room',
    );
    assert.equal(
      shown('"T0ken-7==", bG9naW4= common-secret'),
      '"(redacted)", (redacted) (redacted)',
    );
    assert.equal(shown('ss77word'), '(redacted)');
    assert.equal(shown('T0ken-10000=='), 'T0ken-10000==');
    // Cut off, as texts of servers are.
    assert.equal(shown('no T0ken-999…'), 'no (redacted)');
    assert.equal(shown('token=bG9naW…'), 'token=(redacted)');
    assert.equal(shown('no T0kens…'), 'no T0kens…');
  });

  it('is known when it is new, and a JSON web token always', () => {
    hider.add([{ pass: 'renewed-token' }]);
    assert.equal(hider.hide('renewed-token'), '(redacted)');
    assert.equal(hider.hide('bearer eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl!'), 'bearer (redacted)!');
  });
});
