import * as vscode from 'vscode';
import { analyseScenario } from '../language/analyseScenario';
import { estimatePlace } from '../language/hoverAt';
import type { LanguageProviders } from '../language/languageProviders';

/**
 * Shows where the estimate of a scenario comes from: the hover of its connections, or of what stands for
 * them, by keyboard as well.
 * Errors that keep it from having one are gone through instead.
 */
export async function showEstimate(
  argument: unknown,
  language: Pick<LanguageProviders, 'showEstimateNext'>,
): Promise<void> {
  const uri =
    argument instanceof vscode.Uri ? argument : vscode.window.activeTextEditor?.document.uri;
  if (!uri) return;
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const analysis = analyseScenario(document.getText());
  if (analysis.problems.some(({ severity }) => severity === 'error')) {
    await vscode.commands.executeCommand('editor.action.marker.next');
    return;
  }
  const place = document.positionAt(estimatePlace(analysis).offset);
  editor.selection = new vscode.Selection(place, place);
  editor.revealRange(editor.selection, vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  language.showEstimateNext(uri);
  await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
}
