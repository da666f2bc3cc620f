import * as vscode from 'vscode';
import { noticeText } from '../../results/redact';
import type { Scenario } from '../../scenario/scenario';
import { hubUrlProblem } from '../../scenario/target/hubUrl';
import type { MissingMethods } from '../../session/askTarget';
import { tokenExpiry, type EditorAccount } from '../../targets/target';
import { hubCode } from '../../usecases/hubCode';
import type { Services } from '../services';
import { fitsService, targetLook, targetNodes, type TargetNode } from './targetsModel';

type TargetItem = vscode.QuickPickItem & { readonly target?: TargetNode | 'asInFile' };

interface TargetQuestion {
  readonly title: string;
  /** Whether the target of the file is one to choose. */
  readonly asInFile: boolean;
  /** Only what a scenario of this service can run on is offered; absent is everything. */
  readonly service?: Scenario['service'] | undefined;
}

/**
 * Asks for a target: one on this machine, a remembered one, or a hub URL. Undefined when the person turned
 * away.
 */
export async function pickTarget(
  { state, secrets }: Services,
  { title, asInFile, service }: TargetQuestion,
): Promise<TargetNode | 'asInFile' | undefined> {
  const fits = (node: TargetNode): boolean => service === undefined || fitsService(node, service);
  const known = targetNodes(state.hubs, secrets.names)
    .filter(fits)
    .map((node): TargetItem => {
      const { label, description, icon } = targetLook(node, vscode.l10n.t);
      return { label: `$(${icon}) ${label}`, description, target: node };
    });
  const items: TargetItem[] = [
    ...(asInFile
      ? [{ label: `$(file) ${vscode.l10n.t('As in the file')}`, target: 'asInFile' as const }]
      : []),
    ...known,
    ...(fits({ kind: 'hub', url: '' })
      ? [{ label: `$(edit) ${vscode.l10n.t('Another hub URL…')}` }]
      : []),
  ];
  const answer = await vscode.window.showQuickPick(items, { title });
  if (!answer) return undefined;
  if (answer.target !== undefined) return answer.target;
  const url = await askHubUrl(title);
  return url === undefined ? undefined : { kind: 'hub', url };
}

export async function askHubUrl(title: string): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Hub URL'),
    ignoreFocusOut: true,
    placeHolder: 'http://localhost:5050/signalrbench',
    validateInput: (text) => urlProblem(text.trim()),
  });
  return answer?.trim();
}

function urlProblem(text: string): string | undefined {
  if (!/^(https?|wss?):\/\/[^\s/]/i.test(text)) {
    return vscode.l10n.t('Write the whole URL, such as http://localhost:5050/signalrbench');
  }
  return hubUrlProblem(text) === undefined ? undefined : vscode.l10n.t('This is no hub URL.');
}

/** What helps with a hub that has not the methods of a benchmark. */
export const hubHelp = () => ({
  copy: vscode.l10n.t('Copy C# Code'),
  ownMethod: vscode.l10n.t('Call Your Own Method'),
});

/** Does what a person has chosen of {@link hubHelp}; anything else is left alone. */
export async function helpWithHub(answer: string | undefined, url: string): Promise<void> {
  const { copy, ownMethod } = hubHelp();
  if (answer === copy) await vscode.env.clipboard.writeText(hubCode('recordLatency'));
  if (answer === ownMethod)
    await vscode.commands.executeCommand('signalrBenchmark.newScenario', 'invoke', url);
}

/** Says which methods a hub lacks that a run would have called, with what helps. */
export async function sayMissingMethods({ methods, url }: MissingMethods): Promise<void> {
  const { copy, ownMethod } = hubHelp();
  const text =
    methods.length === 1
      ? vscode.l10n.t('{0}: the hub has no method {1}. Nothing was started.', url, methods[0]!)
      : vscode.l10n.t(
          '{0}: the hub has no methods {1}. Nothing was started.',
          url,
          methods.join(', '),
        );
  const answer = await vscode.window.showErrorMessage(noticeText(text), copy, ownMethod);
  await helpWithHub(answer, url);
}

/** Asks whether a hub may be asked on the other machine that it redirects to. */
export async function confirmRedirect(host: string, url: string): Promise<boolean> {
  const connect = vscode.l10n.t('Connect');
  const text = vscode.l10n.t('{0} redirects to {1}, which is not on this machine.', url, host);
  const answer = await vscode.window.showWarningMessage(noticeText(text), { modal: true }, connect);
  return answer === connect;
}

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
