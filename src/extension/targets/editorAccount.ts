import * as vscode from 'vscode';
import { tokenExpiry } from '../../targets/entra/tokenExpiry';
import type { EditorAccount } from '../../targets/target';

/**
 * The Microsoft account of the editor. A person who does not want to sign in, or an editor that has no such
 * accounts, is the same as no account.
 */
export const editorAccount: EditorAccount = async (scope, tenantId, mayAsk) => {
  const scopes = [scope, ...(tenantId === undefined ? [] : [`VSCODE_TENANT:${tenantId}`])];
  const detail = vscode.l10n.t(
    'The connection string says AuthType=azure, and nothing else on this machine is signed in to Microsoft Entra ID.',
  );
  try {
    const session = await vscode.authentication.getSession(
      'microsoft',
      scopes,
      mayAsk ? { createIfNone: { detail } } : { silent: true },
    );
    if (session === undefined) return undefined;
    const { accessToken: token } = session;
    return { token, expiresAtMs: tokenExpiry(token, Date.now()) };
  } catch {
    return undefined;
  }
};
