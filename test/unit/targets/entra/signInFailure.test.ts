import assert from 'node:assert/strict';
import { signInFailure } from '../../../../src/targets/entra/signIn';
import type { EntraSignIn } from '../../../../src/scenario/target/targetKinds';

const application: EntraSignIn = {
  kind: 'application',
  clientId: 'c',
  tenantId: 't',
  clientSecret: 'T0p-secret',
};

/** As @azure/identity reports it: several ways, each with its error and a cause. */
const chain = (...messages: readonly string[]): Error =>
  Object.assign(new Error('ChainedTokenCredential authentication failed.'), {
    errors: messages.map((message) => new Error('outer', { cause: new Error(message) })),
  });

describe('why nobody could be signed in', () => {
  for (const [error, signIn, says] of [
    [chain('Azure CLI could not be found.'), { kind: 'default' }, /CLI is not installed/],
    [
      chain("Please run 'az login'"),
      { kind: 'default' },
      /^Nobody is signed in .*: run `az login`/,
    ],
    [
      chain('AADSTS700016: T0p-secret'),
      application,
      /application in this tenant.*\(AADSTS700016\)/,
    ],
    [new Error('AADSTS7000222: T0p-secret expired'), application, /client secret.*expired/],
    [new Error('AADSTS500011: no resource'), { kind: 'default' }, /az login --tenant/],
    [new Error('AADSTS123456: what'), { kind: 'default' }, /refuses the sign-in.*AADSTS123456/],
    [new Error('connect ECONNREFUSED 127.0.0.1:1'), application, /cannot be reached/],
    [new Error('Invalid tenant id provided.'), application, /TenantId.*neither/],
    [
      new Error('Invalid value for AZURE_TOKEN_CREDENTIALS = x.'),
      { kind: 'default' },
      /AZURE_TOKEN_CREDENTIALS names no way/,
    ],
    ['thrown', { kind: 'managedIdentity' }, /no managed identity: AuthType=azure\.msi/],
    [chain(), { kind: 'managedIdentity', clientId: 'i' }, /with the ClientId/],
  ] as const)
    it(`says ${String(says)}`, () => {
      const { code, message } = signInFailure(error, signIn);
      assert.equal(code, 'sign-in');
      assert.match(message, says);
      assert.doesNotMatch(message, /T0p-secret|\n/);
      assert.match(message, /^[^.].*\.$/);
    });

  it('ends with a chain of causes that does not', () => {
    const endless = new Error('round and round');
    endless.cause = endless;
    assert.match(signInFailure(endless, { kind: 'default' }).message, /^Nobody is signed in/);
  });
});
