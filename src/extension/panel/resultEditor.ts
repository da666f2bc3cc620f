import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { readResult } from '../../results/readResult';
import type { Result } from '../../results/result';
import type { PanelSource } from '../panelSource';
import { storedSource, type StoredActions } from './storedSource';
import { showProblem, showSource, type PanelLog } from './webviewPage';

/** View type of the editor of `result.json`, as in the manifest. */
export const resultEditorViewType = 'signalrBenchmark.result';

/** What the editor offers for the result in a file. */
export interface ResultActions {
  runAgain(file: vscode.Uri): void;
  openScenario(file: vscode.Uri): void;
  copySummary(result: Result): void;
}

/** A read-only editor that shows `result.json` as the panel. */
export function createResultEditor(
  extensionUri: vscode.Uri,
  actions: ResultActions,
  log: PanelLog = () => undefined,
): vscode.CustomReadonlyEditorProvider {
  return {
    openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
    async resolveCustomEditor({ uri }, panel, token) {
      const read = await sourceOf(uri, actions, log);
      if (token.isCancellationRequested) return;
      if ('problem' in read) showProblem(panel, extensionUri, read.problem);
      else showSource(panel, extensionUri, read.source, log);
    },
  };
}

type Read = { readonly source: PanelSource } | { readonly problem: string };

/** The result as a source, or a sentence why there is none. */
async function sourceOf(uri: vscode.Uri, actions: ResultActions, log: PanelLog): Promise<Read> {
  if (uri.scheme !== 'file') {
    return { problem: vscode.l10n.t('Results can only be shown from files on this machine.') };
  }
  try {
    const stored = await readResult(uri.fsPath);
    if (stored.kind === 'interrupted') {
      return { problem: vscode.l10n.t('The run was broken off before it had a result.') };
    }
    const forFile: StoredActions = {
      runAgain: () => actions.runAgain(uri),
      openScenario: () => actions.openScenario(uri),
      copySummary: (result) => actions.copySummary(result),
    };
    return { source: await storedSource(uri.fsPath, stored.result, forFile) };
  } catch (error) {
    if (error instanceof ExpectedError) return { problem: error.message };
    log(`A result cannot be shown: ${error instanceof Error ? (error.stack ?? '') : ''}`);
    return { problem: vscode.l10n.t('It cannot be read. The log has the details.') };
  }
}
