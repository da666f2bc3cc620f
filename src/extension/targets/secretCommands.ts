import * as vscode from 'vscode';
import type { TextRange } from '../../scenario/text/editYaml';
import { moveSecret, secretInFile } from '../../scenario/text/moveSecret';
import { parseScenario } from '../../scenario/parseScenario';
import { freeSecretName } from './targetsModel';
import { isSecretNameText } from './secretStore';
import type { Services } from '../services';

/** A name for a secret; undefined when the person turned away. */
export async function askSecretName(
  { secrets }: Services,
  value = '',
): Promise<string | undefined> {
  const answer = await vscode.window.showInputBox({
    title: vscode.l10n.t('Name of the secret'),
    prompt: vscode.l10n.t('Scenario files name it by this, as {0}.', '${secret:name}'),
    value,
    ignoreFocusOut: true,
    validateInput: (text) => {
      if (!isSecretNameText(text.trim())) {
        return vscode.l10n.t('Letters, digits, - and _, beginning with a letter.');
      }
      if (secrets.names.includes(text.trim())) {
        return vscode.l10n.t(
          'There is a secret of this name; remove it in the Targets view first.',
        );
      }
      return undefined;
    },
  });
  return answer?.trim();
}

/**
 * Moves a secret out of a scenario file: keeps it by name and writes a reference in its place.
 *
 * @param uriArgument the file; the active one when absent
 * @param rangeArgument where the secret stands; the first one that is found when absent
 */
export async function moveSecretOut(
  uriArgument: unknown,
  rangeArgument: unknown,
  services: Services,
): Promise<void> {
  const uri = uriArgument instanceof vscode.Uri ? uriArgument : activeUri();
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const text = document.getText();
  const at =
    rangeArgument instanceof vscode.Range ? rangeIn(document, rangeArgument) : firstIn(text);
  if (!at) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No secret was found in this file.'));
    return;
  }
  const { version } = document;
  const proposed = freeSecretName('accessKey', services.secrets.names);
  // Nobody is asked for the name of what cannot be moved.
  if (!moveSecret(text, at, proposed)) {
    tellUnmoved();
    return;
  }
  const name = await askSecretName(services, proposed);
  if (name === undefined) return;
  if (document.version !== version) {
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The file was changed meanwhile; nothing was moved.'),
    );
    return;
  }
  const move = moveSecret(text, at, name);
  if (!move) {
    tellUnmoved();
    return;
  }
  await services.secrets.set(name, move.secret);
  const edit = new vscode.WorkspaceEdit();
  const end = document.positionAt(move.offset + move.length);
  edit.replace(uri, new vscode.Range(document.positionAt(move.offset), end), move.text);
  if (!(await vscode.workspace.applyEdit(edit))) {
    await services.secrets.delete(name);
    void vscode.window.showWarningMessage(vscode.l10n.t('The file cannot be changed.'));
  }
}

function tellUnmoved(): void {
  void vscode.window.showWarningMessage(
    vscode.l10n.t(
      'This secret cannot be moved by itself; nothing was changed. Add it in the Targets view and write the reference by hand.',
    ),
  );
}

const activeUri = (): vscode.Uri | undefined => vscode.window.activeTextEditor?.document.uri;

function rangeIn(document: vscode.TextDocument, { start, end }: vscode.Range): TextRange {
  const offset = document.offsetAt(start);
  return { offset, length: document.offsetAt(end) - offset };
}

const firstIn = (text: string): TextRange | undefined =>
  parseScenario(text).problems.find(({ code }) => code === secretInFile);
