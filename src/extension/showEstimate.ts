import * as vscode from 'vscode';
import { parseScenario } from '../scenario/parseScenario';

/**
 * Shows where the estimate of a scenario comes from: the hover of its connections, by keyboard as well.
 * Errors that keep it from having one are gone through instead.
 */
export async function showEstimate(argument: unknown): Promise<void> {
  const uri =
    argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const text = document.getText();
  const { problems } = parseScenario(text);
  if (problems.some(({ severity }) => severity === 'error')) {
    await vscode.commands.executeCommand('editor.action.marker.next');
    return;
  }
  // A scenario may leave its connections to the default; it always has a name.
  const key =
    /^[ \t]+(?=connections[ \t]*:)/m.exec(text) ?? /^[ \t]*-?[ \t]*(?=name[ \t]*:)/m.exec(text);
  const place = document.positionAt(key ? key.index + key[0].length : 0);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
}
