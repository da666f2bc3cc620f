import assert from 'node:assert/strict';
import {
  renewalDelayMs,
  SignIn,
  signInFailure,
  chooseTokenSource,
} from '../../../../src/targets/entra/signIn';
import type { EntraSignIn } from '../../../../src/scenario/target/targetKinds';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { EntraToken, EditorAccount } from '../../../../src/targets/target';

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

const scope = 'https://signalr.azure.com/.default';

describe('where the tokens of a sign-in come from', () => {
  let asked: string[];
  /** What the editor's account gives: without and with a question. */
  let account: { silent?: EntraToken; onRequest?: EntraToken };
  let identity: EntraToken | undefined;
  beforeEach(() => {
    asked = [];
    account = {};
    identity = undefined;
  });

  const token = (name: string): EntraToken => ({ token: name, expiresAtMs: 0 });
  const editorAccount: EditorAccount = (of, tenantId, mayAsk) => {
    assert.equal(of, scope);
    asked.push(
      `${mayAsk ? 'question' : 'account'}${tenantId === undefined ? '' : ` of ${tenantId}`}`,
    );
    return Promise.resolve(mayAsk ? account.onRequest : account.silent);
  };
  const found = (of: string): Promise<EntraToken> => {
    assert.equal(of, scope);
    asked.push('identity');
    return identity === undefined
      ? Promise.reject(new ExpectedError('sign-in', 'Nobody is signed in.'))
      : Promise.resolve(identity);
  };
  const source = (signIn: EntraSignIn, editor = true): (() => Promise<EntraToken>) =>
    chooseTokenSource(signIn, scope, editor ? editorAccount : undefined, found);

  it('is the account of the editor, where it may be used already', async () => {
    account = { silent: token('silent') };
    identity = token('identity');
    assert.equal((await source({ kind: 'default', tenantId: 't' })()).token, 'silent');
    assert.deepEqual(asked, ['account of t']);
  });

  it('is what @azure/identity finds, before anybody is asked', async () => {
    identity = token('identity');
    account = { onRequest: token('asked') };
    assert.equal((await source({ kind: 'default' })()).token, 'identity');
    assert.deepEqual(asked, ['account', 'identity']);
  });

  it('is the account that a person was asked for, once, when there is nothing else', async () => {
    account = { onRequest: token('asked') };
    const next = source({ kind: 'default' });
    assert.equal((await next()).token, 'asked');
    account = {};
    await assert.rejects(next(), /Nobody is signed in/);
    assert.deepEqual(asked, ['account', 'identity', 'question', 'account', 'identity']);
  });

  it('is nothing when the person does not want to', async () => {
    await assert.rejects(source({ kind: 'default' })(), { code: 'sign-in' });
  });

  it('is never the account of the editor for an identity of its own, or without an editor', async () => {
    account = { silent: token('silent'), onRequest: token('asked') };
    for (const signIn of [
      { kind: 'managedIdentity' },
      { kind: 'application', clientId: 'c', tenantId: 't', clientSecret: 's' },
      { kind: 'default', clientId: 'c' },
    ] as const)
      await assert.rejects(source(signIn)(), { code: 'sign-in' });
    await assert.rejects(source({ kind: 'default' }, false)(), { code: 'sign-in' });
    assert.deepEqual(new Set(asked), new Set(['identity']));
  });
});
