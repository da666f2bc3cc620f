import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { EditorState } from '../editorState';

/** Folder for results in a workspace folder, as on the command line. */
export const resultsFolder = '.signalr-bench';

/** Where results are kept. */
export class ResultPlaces {
  constructor(
    private readonly globalStorage: vscode.Uri,
    private readonly state: EditorState,
  ) {}

  /** Folders to write a result of this scenario to, best first. */
  for(scenario: vscode.Uri | undefined): string[] {
    const owner = scenario && vscode.workspace.getWorkspaceFolder(scenario);
    const folder = owner ?? workspaceFolders()[0];
    const inWorkspace = folder?.uri.scheme === 'file' ? [resultsIn(folder)] : [];
    return [...inWorkspace, this.elsewhere];
  }

  /** Every folder that may hold results. */
  all(): string[] {
    return [...workspaceFolders().map(resultsIn), this.elsewhere];
  }

  private get elsewhere(): string {
    return path.join(this.globalStorage.fsPath, 'results');
  }

  /** Offers once per folder to keep results out of version control. */
  async offerIgnore(resultFolder: string): Promise<void> {
    const folder = workspaceFolders().find(
      (each) => path.dirname(resultFolder) === resultsIn(each),
    );
    if (!folder || this.state.ignoreOffered.includes(folder.uri.fsPath)) return;
    const root = folder.uri.fsPath;
    if (!existsSync(path.join(root, '.git'))) return;
    const file = path.join(root, '.gitignore');
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.includes(resultsFolder)) return;
    await this.state.setIgnoreOffered(root);
    const add = vscode.l10n.t('Add to .gitignore');
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t('Results of runs are in {0}. Keep them out of version control?', resultsFolder),
      add,
    );
    if (answer !== add) return;
    await appendFile(file, `${text === '' || text.endsWith('\n') ? '' : '\n'}${resultsFolder}/\n`);
  }
}

function workspaceFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

function resultsIn({ uri }: vscode.WorkspaceFolder): string {
  return path.join(uri.fsPath, resultsFolder);
}
