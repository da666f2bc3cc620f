import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../base/expectedError';
import { readResult } from '../results/readResult';
import { fileProblem, scenarioFile } from '../results/resultFolder';
import { errorText } from './log';
import { openRunPanel } from './panel/runPanel';
import type { PanelSource } from './panelSource';
import { fromName, resultPath, type ResultEntry } from './resultEntry';
import { entryDescription, groupsOf } from './resultsModel';
import { labelOf } from './resultsTree';
import type { RunController } from './runController';
import { deletedPrefix } from './scanResults';
import { scenarioText } from './scenarioFiles';
import type { Services } from './services';
import { interruptedMarkdown, summaryMarkdown } from './summaryMarkdown';

export const resultEditorType = 'signalrBenchmark.result';

/** What can be done with stored results, from the tree, the palette and the panel. */
export class ResultCommands {
  constructor(
    private readonly services: Services,
    private readonly controller: RunController,
    private readonly extensionUri: vscode.Uri,
  ) {}

  /** Opens a result by node, folder or file; without one the person chooses. */
  async open(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    try {
      const run = await readResult(folder);
      if (run.kind === 'result') {
        const file = vscode.Uri.file(run.path);
        await vscode.commands.executeCommand('vscode.openWith', file, resultEditorType);
      } else {
        const log = (message: string): void => this.services.log.warn(message);
        openRunPanel(this.extensionUri, await this.source(folder), log);
      }
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const text = vscode.l10n.t('Open as Text');
      const answer = await vscode.window.showErrorMessage(errorText(error), text);
      if (answer === text) {
        await vscode.window.showTextDocument(vscode.Uri.file(resultPath({ folder })));
      }
    }
  }

  /** A stored run as the panel shows it. */
  async source(location: string): Promise<PanelSource> {
    const { storedSource } = await import(/* webpackChunkName: "run" */ './storedSource.js');
    return storedSource(location, {
      runAgain: (folder) => void this.runAgain(folder),
      openScenario: (folder) => this.openScenario(vscode.Uri.file(folder)),
      copySummary: (folder) => void this.copySummary(folder),
    });
  }

  /** The scenario as it was run, by the result's folder or file. */
  openScenario(result: vscode.Uri): void {
    const file = vscode.Uri.file(path.join(folderOfUri(result), scenarioFile));
    void vscode.window.showTextDocument(file).then(undefined, (error: unknown) => {
      void vscode.window.showErrorMessage(errorText(error));
    });
  }

  /** The run of that id: the one that is going on, or a stored one; undefined when it is gone. */
  async find(id: string): Promise<PanelSource | undefined> {
    const live = this.controller.find(id);
    if (live) return live;
    // An id is the name of a folder; anything else is not ours.
    if (path.basename(id) !== id || id.startsWith('.')) return undefined;
    const folder = this.services.places
      .all()
      .map((directory) => path.join(directory, id))
      .find((each) => existsSync(each));
    return folder === undefined ? undefined : this.source(folder);
  }

  /** Runs the scenario of a result again, as it was run then. */
  async runAgain(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const uri = vscode.Uri.file(path.join(folder, scenarioFile));
    const title = `${fromName(path.basename(folder)).scenario}.yaml`;
    await this.controller.run({ uri, title, text: await scenarioText(uri), overrides: [] });
  }

  async copySummary(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const run = await readResult(folder);
    const text =
      run.kind === 'result'
        ? summaryMarkdown(run.result)
        : interruptedMarkdown(path.basename(folder), run);
    await vscode.env.clipboard.writeText(text);
    void vscode.window.setStatusBarMessage(vscode.l10n.t('Summary copied as Markdown.'), 3000);
  }

  /** Puts the folder aside first: it is gone for good when the way back was not taken. */
  async delete(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const name = path.basename(folder);
    const aside = path.join(path.dirname(folder), `${deletedPrefix}${name}`);
    await moved(folder, aside);
    this.services.index.refresh(0);
    const undo = vscode.l10n.t('Undo');
    const answer = await vscode.window.showInformationMessage(
      vscode.l10n.t('Result {0} deleted.', name),
      undo,
    );
    if (answer === undo) await moved(aside, folder);
    else await rm(aside, { recursive: true, force: true });
    this.services.index.refresh(0);
  }

  async rename(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const name = path.basename(folder);
    const answer = await vscode.window.showInputBox({
      title: vscode.l10n.t('Rename Result'),
      value: name,
      validateInput: (text) =>
        /^[\p{L}\p{N}_][\p{L}\p{N} ._-]{0,119}$/u.test(text.trim())
          ? undefined
          : vscode.l10n.t('Letters, digits, blanks, dots, - and _, at most 120.'),
    });
    const wanted = answer?.trim();
    if (wanted === undefined || wanted === name) return;
    await moved(folder, path.join(path.dirname(folder), wanted));
    this.services.index.refresh(0);
  }

  async reveal(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const uri = vscode.Uri.file(folder);
    const inside = vscode.workspace.getWorkspaceFolder(uri) !== undefined;
    const command = inside ? 'revealInExplorer' : 'revealFileInOS';
    await vscode.commands.executeCommand(command, uri);
  }

  private async folderOf(argument: unknown): Promise<string | undefined> {
    if (typeof argument === 'string') return argument;
    if (argument instanceof vscode.Uri) return folderOfUri(argument);
    const { entry } = (argument ?? {}) as { entry?: ResultEntry };
    if (entry) return entry.folder;
    const open = openResult();
    return open ? folderOfUri(open) : this.choose();
  }

  private async choose(): Promise<string | undefined> {
    const entries = groupsOf(await this.services.index.load()).flatMap((group) => group.entries);
    if (entries.length === 0) {
      void vscode.window.showInformationMessage(vscode.l10n.t('There are no results yet.'));
      return undefined;
    }
    const items = [...entries]
      .sort((a, b) => b.startedMs - a.startedMs)
      .map((entry) => ({
        label: entry.scenario,
        description: labelOf(entry),
        detail: entryDescription(entry, vscode.l10n.t),
        folder: entry.folder,
      }));
    const answer = await vscode.window.showQuickPick(items, {
      title: vscode.l10n.t('Results'),
      matchOnDescription: true,
    });
    return answer?.folder;
  }
}

/** The result in the active tab. */
function openResult(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const ours = input instanceof vscode.TabInputCustom && input.viewType === resultEditorType;
  return ours ? input.uri : undefined;
}

function folderOfUri({ fsPath }: vscode.Uri): string {
  return fsPath.endsWith('.json') ? path.dirname(fsPath) : fsPath;
}

async function moved(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    throw new ExpectedError(
      'result-folder',
      vscode.l10n.t('{0} cannot be moved ({1}).', from, fileProblem(error)),
      { cause: error },
    );
  }
}
