import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import type { EntraSignIn } from '../../../../src/scenario/target/targetKinds';
import type { EntraToken, EditorAccount } from '../../../../src/targets/target';
import { chooseTokenSource } from '../../../../src/targets/entra/signIn';

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
