import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { SignJWT } from 'jose';
import { HubTokens } from '../../../../src/servers/hub/benchHub';

const key = 'the key of the hub';
const nowMs = 1_000_000_000_000;

const tokenOf = (changes: { alg?: string; by?: string; expS?: number; sub?: string } = {}) => {
  const { alg = 'HS256', by = key, expS = nowMs / 1000 + 60, sub = 'ann' } = changes;
  return new SignJWT({ sub })
    .setProtectedHeader({ alg })
    .setExpirationTime(expS)
    .sign(new TextEncoder().encode(by.padEnd(64, '.').slice(0, alg === 'HS256' ? by.length : 64)));
};
const asked = (url: string, authorization?: string): IncomingMessage =>
  ({ url, headers: { ...(authorization !== undefined && { authorization }) } }) as IncomingMessage;

describe('a hub that wants tokens', () => {
  const tokens = new HubTokens(key, () => nowMs);

  it('lets in who shows one of its key, in the header or in the query', async () => {
    const [ann, bob] = [await tokenOf(), await tokenOf({ sub: 'bob' })];
    assert.equal(tokens.refusal(asked('/hub', `Bearer ${ann}`)), undefined);
    assert.equal(tokens.refusal(asked(`/hub?access_token=${bob}`)), undefined);
    assert.deepEqual([...tokens.users], ['ann', 'bob']);
  });

  it('refuses all others with 401, and says why', async () => {
    const good = await tokenOf();
    const [head = '', , signature = ''] = good.split('.');
    const other = Buffer.from('{"sub":"eve","exp":9e9}').toString('base64url');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    const cases: readonly (readonly [token: string, why: RegExp])[] = [
      ['', /wants an access token/],
      ['opaque', /not a JSON web token/],
      [`${good}.x`, /not a JSON web token/],
      [`${none}.${other}.`, /not a JSON web token/],
      [await tokenOf({ alg: 'HS512' }), /not a JSON web token/],
      [`${head}.${other}.${signature}`, /does not fit/],
      [await tokenOf({ by: 'another key' }), /does not fit/],
      [await tokenOf({ expS: nowMs / 1000 }), /has expired/],
    ];
    for (const [token, why] of cases) {
      const refusal = tokens.refusal(asked('/hub', token === '' ? undefined : `Bearer ${token}`));
      assert.equal(refusal?.status, 401, token);
      assert.match(refusal.text, why);
    }
    assert.ok(!tokens.users.has('eve'));
  });
});
