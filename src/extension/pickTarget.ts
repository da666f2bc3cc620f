import * as vscode from 'vscode';
import { hubUrlProblem } from '../scenario/hubUrl';
import type { Services } from './services';
import { targetLook, targetNodes, targetText } from './targetsModel';

type TargetItem = vscode.QuickPickItem & { readonly text?: string };

/**
 * Asks for a target: a remembered one or a hub URL. Empty text stands for the one in the file; undefined
 * when the person turned away.
 */
export async function pickTarget(
  { state, secrets }: Services,
  { title, asInFile }: { readonly title: string; readonly asInFile: boolean },
): Promise<string | undefined> {
  const known = targetNodes(state.hubs, secrets.names).map((node): TargetItem => {
    const { label, description, icon } = targetLook(node, vscode.l10n.t);
    return { label: `$(${icon}) ${label}`, description, text: targetText(node) };
  });
  const items: TargetItem[] = [
    ...(asInFile ? [{ label: `$(file) ${vscode.l10n.t('As in the file')}`, text: '' }] : []),
    ...known,
    { label: `$(edit) ${vscode.l10n.t('Another hub URL…')}` },
  ];
  const answer = await vscode.window.showQuickPick(items, { title });
  if (!answer) return undefined;
  return answer.text ?? askHubUrl(title);
}

/** A whole hub URL; undefined when the person turned away. */
export async function askHubUrl(title: string): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title,
    prompt: vscode.l10n.t('Hub URL'),
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
