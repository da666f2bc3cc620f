import type * as vscode from 'vscode';
import { copySummary } from './runController';
import type { ResultCommands } from './resultCommands';

/**
 * The read-only editor of `result.json`, loaded with the first result that is opened: reading histograms
 * is no part of what editing needs.
 */
export function resultViewer(
  extensionUri: vscode.Uri,
  results: ResultCommands,
  log: (message: string) => void,
): vscode.CustomReadonlyEditorProvider {
  const actions = {
    runAgain: (file: vscode.Uri) => void results.runAgain(file),
    openScenario: (file: vscode.Uri) => results.openScenario(file),
    copySummary: (result: Parameters<typeof copySummary>[0]) => void copySummary(result),
  };
  return {
    openCustomDocument: (uri) => ({ uri, dispose: () => undefined }),
    resolveCustomEditor: async (document, panel, token) => {
      const { createResultEditor } = await import(
        /* webpackChunkName: "run" */ './panel/resultEditor.js'
      );
      const editor = createResultEditor(extensionUri, actions, log);
      await editor.resolveCustomEditor(document, panel, token);
    },
  };
}
