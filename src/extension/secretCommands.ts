import * as vscode from 'vscode';
import { parseScenario } from '../scenario/parseScenario';
import { isSecretNameText } from './secretStore';
import type { Services } from './services';

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
export async function moveSecret(
  uriArgument: unknown,
  rangeArgument: unknown,
  services: Services,
): Promise<void> {
  const uri = uriArgument instanceof vscode.Uri ? uriArgument : activeUri();
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const range = rangeArgument instanceof vscode.Range ? rangeArgument : secretIn(document);
  if (!range || range.isEmpty) {
    void vscode.window.showInformationMessage(vscode.l10n.t('No secret was found in this file.'));
    return;
  }
  const { version } = document;
  const value = document.getText(range);
  const name = await askSecretName(services, 'accessKey');
  if (name === undefined) return;
  if (document.version !== version) {
    void vscode.window.showWarningMessage(
      vscode.l10n.t('The file was changed meanwhile; nothing was moved.'),
    );
    return;
  }
  await services.secrets.set(name, value);
  const edit = new vscode.WorkspaceEdit();
  edit.replace(uri, range, `\${secret:${name}}`);
  if (!(await vscode.workspace.applyEdit(edit))) {
    await services.secrets.delete(name);
    void vscode.window.showWarningMessage(vscode.l10n.t('The file cannot be changed.'));
  }
}

const activeUri = (): vscode.Uri | undefined => vscode.window.activeTextEditor?.document.uri;

function secretIn(document: vscode.TextDocument): vscode.Range | undefined {
  const { problems } = parseScenario(document.getText());
  const found = problems.find(({ code, fix }) => code === 'secret-in-file' && fix);
  if (!found) return undefined;
  const { offset, length } = found;
  return new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
}
