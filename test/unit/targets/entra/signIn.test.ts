import assert from 'node:assert/strict';
import { renewalDelayMs, SignIn } from '../../../../src/targets/entra/signIn';

const minute = 60_000;

describe('a sign-in', () => {
  it('is renewed four minutes before its end, once an hour, and not at once when it came late', () => {
    assert.equal(renewalDelayMs(30 * minute, 0), 26 * minute);
    assert.equal(renewalDelayMs(24 * 60 * minute, 0), 55 * minute);
    assert.equal(renewalDelayMs(4 * minute, 0), 10_000);
    assert.equal(renewalDelayMs(-minute, 0), 10_000);
  });

  it('keeps all that lets somebody in from being shown, also when the service does not take it', async () => {
    const secrets = ['before'];
    const ways = {
      token: () => Promise.resolve({ token: 'a b', expiresAtMs: Date.now() + 60 * minute }),
      secrets,
    };
    const passFor = (bearer: string) =>
      Promise.resolve({ bearer, signingKey: { id: 'kid', text: 'k+y' } });
    const signIn = await SignIn.open({ ...ways, passFor });
    assert.equal(signIn.current.bearer, 'a b');
    signIn.dispose();
    assert.deepEqual(secrets, ['before', 'a b', 'a%20b', 'k+y', 'k%2By']);
    const refused: string[] = [];
    const failing = { ...ways, secrets: refused, passFor: () => Promise.reject(new Error('no')) };
    await assert.rejects(SignIn.open(failing), /no/);
    assert.deepEqual(refused, ['a b']);
  });
});
