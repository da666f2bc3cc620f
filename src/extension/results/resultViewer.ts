import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { resultEditorType, type PanelSource } from '../panel/panelSource';
import { showProblem, showSource } from '../panel/webviewPage';
import type { Services } from '../services';
import { resultPath } from './resultEntry';

/** The read-only editor that shows `result.json` as the panel. */
export function resultViewer(
  extensionUri: vscode.Uri,
  sourceOf: (location: string) => Promise<PanelSource>,
  { log }: Pick<Services, 'log'>,
): vscode.CustomReadonlyEditorProvider {
  const read = async ({ scheme, fsPath }: vscode.Uri): Promise<PanelSource | string> => {
    if (scheme !== 'file') {
      return vscode.l10n.t('Results can only be shown from files on this machine.');
    }
    try {
      return await sourceOf(fsPath);
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

/** Columns in which the result of a folder was open. */
export type ResultColumns = readonly vscode.ViewColumn[];

/** Closes the tabs of a result that is no longer there; settles with where they were. */
export async function closeResultTabs(folder: string): Promise<ResultColumns> {
  const file = uriOf(folder).toString();
  const tabs = vscode.window.tabGroups.all.flatMap((group) =>
    group.tabs.filter(
      ({ input }) =>
        input instanceof vscode.TabInputCustom &&
        input.viewType === resultEditorType &&
        input.uri.toString() === file,
    ),
  );
  const columns = tabs.map(({ group }) => group.viewColumn);
  await vscode.window.tabGroups.close(tabs, true);
  return columns;
}

/** Opens the result of a folder where it was open before, perhaps by another name. */
export async function openResultTabs(folder: string, columns: ResultColumns): Promise<void> {
  if (!existsSync(resultPath({ folder }))) return;
  for (const viewColumn of columns) {
    const options = { viewColumn, preserveFocus: true, preview: false };
    const file = uriOf(folder);
    await vscode.commands.executeCommand('vscode.openWith', file, resultEditorType, options);
  }
}

function uriOf(folder: string): vscode.Uri {
  return vscode.Uri.file(resultPath({ folder }));
}
