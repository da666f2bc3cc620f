import assert from 'node:assert/strict';
import { tokenExpiry } from '../../../src/targets/target';

const withPayload = (payload: unknown): string =>
  `e30.${Buffer.from(JSON.stringify(payload)).toString('base64url')}.sig`;

describe('the expiry of a token', () => {
  it('is what it says', () => {
    assert.equal(tokenExpiry(withPayload({ exp: 1_800_000_000 }), 7), 1_800_000_000_000);
  });

  it('is soon where it does not say', () => {
    for (const token of ['', 'opaque', 'a.b.c', withPayload({}), withPayload(null)])
      assert.equal(tokenExpiry(token, 7), 7 + 5 * 60_000, token);
  });
});
