import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import type { PanelSource } from '../panelSource';
import { showProblem, showSource } from '../panel/webviewPage';
import type { ResultCommands } from './resultCommands';
import type { Services } from '../services';

/** The read-only editor that shows `result.json` as the panel. */
export function resultViewer(
  extensionUri: vscode.Uri,
  results: ResultCommands,
  { log }: Pick<Services, 'log'>,
): vscode.CustomReadonlyEditorProvider {
  const read = async ({ scheme, fsPath }: vscode.Uri): Promise<PanelSource | string> => {
    if (scheme !== 'file') {
      return vscode.l10n.t('Results can only be shown from files on this machine.');
    }
    try {
      return await results.source(fsPath);
    } catch (error) {
      if (error instanceof ExpectedError) return error.message;
      log.error(error);
      return vscode.l10n.t('It cannot be read. The log has the details.');
    }
  };
  return {
    openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
    resolveCustomEditor: async ({ uri }, panel, token) => {
      const source = await read(uri);
      if (token.isCancellationRequested) return;
      if (typeof source === 'string') showProblem(panel, extensionUri, source);
      else {
        showSource(panel, extensionUri, source, (message) => log.warn(message));
      }
    },
  };
}
