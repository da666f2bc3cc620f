import * as vscode from 'vscode';
import { hubUrlProblem } from '../../scenario/target/hubUrl';
import type { Scenario } from '../../scenario/scenario';
import type { Services } from '../services';
import { fitsService, targetLook, targetNodes, type TargetNode } from './targetsModel';

type TargetItem = vscode.QuickPickItem & { readonly target?: TargetNode | 'asInFile' };

export interface TargetQuestion {
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

/** A whole hub URL; undefined when the person turned away. */
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
