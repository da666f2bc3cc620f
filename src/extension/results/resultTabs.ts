import { existsSync } from 'node:fs';
import * as vscode from 'vscode';
import { resultPath } from './resultEntry';
import { resultEditorType } from '../viewTypes';

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
