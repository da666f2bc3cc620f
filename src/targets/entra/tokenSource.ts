import { ExpectedError } from '../../base/expectedError';
import type { EntraSignIn } from '../../scenario/target/connectionString';
import type { EditorAccount } from '../target';
import type { EntraCredential, EntraToken } from './entraToken';

/**
 * Where the tokens of a sign-in come from. The editor's account is for `AuthType=azure` without an identity
 * of its own: one that may be used already goes first, then what @azure/identity finds, and only when there
 * is nothing the person is asked, once.
 *
 * @param credential opens what @azure/identity has; not called while the editor's account does
 */
export function tokenSource(
  { kind, clientId, tenantId }: EntraSignIn,
  scope: string,
  account: EditorAccount | undefined,
  credential: () => Promise<EntraCredential>,
): () => Promise<EntraToken> {
  const editors = kind === 'default' && clientId === undefined ? account : undefined;
  let isFirst = true;
  return async () => {
    const mayAsk = isFirst;
    isFirst = false;
    const known = await editors?.(scope, tenantId, false);
    if (known !== undefined) return known;
    try {
      return await (await credential()).token(scope);
    } catch (error) {
      if (!mayAsk || !(error instanceof ExpectedError)) throw error;
      const asked = await editors?.(scope, tenantId, true);
      if (asked === undefined) throw error;
      return asked;
    }
  };
}
