import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import * as vscode from 'vscode';
import { ExpectedError } from '../../base/expectedError';
import { readResult } from '../../results/readResult';
import { replaceFile } from '../../results/safeFiles';
import { describeFileError, scenarioFile } from '../../results/resultFolder';
import { redactedKeys } from '../../results/scenarioCopy';
import { exportRun, exportersFor } from '../../run/export/exporters';
import { storedMarkdown } from '../../run/export/summaryMarkdown';
import { errorText, t, inBackground } from '../log';
import { ask, offer, say } from '../notices';
import { storedSource, type PanelSource } from '../panel/panelSession';
import {
  closeResultTabs,
  openResultTabs,
  type ResultColumns,
  type RunPanels,
  type OverviewPanel,
} from '../panel/runPanel';
import { askToConfirm, ensureTrusted, ensureTrustedToWrite } from '../questions';
import {
  deletedPrefix,
  resultFolderAt,
  newFolderName,
  resultEntry,
  resultPath,
  runState,
  type ResultEntry,
} from '../results/resultEntry';
import { groupsOf, statusWord, type ResultGroup } from '../results/resultsModel';
import { labelsOf, pickResult, type ResultNode } from '../results/resultNodes';
import { scenarioText } from '../scenarios/scenarioFiles';
import { resultEditorType, type Services } from '../services';
import { copyMarkdown, copyUri, openScenarioAsRun, type RunController } from './runController';

/** Argument of key bindings that act on the selection in the list; no folder has this name. */
const selectionArgument = 'selection:';

export class ResultCommands {
  constructor(
    private readonly services: Services,
    private readonly controller: RunController,
    private readonly panels: RunPanels,
  ) {}

  async open(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    try {
      const run = await readResult(folder);
      if (run.kind === 'result') {
        const file = vscode.Uri.file(run.path);
        // One preview tab for browsing; a pinned one stays.
        await vscode.commands.executeCommand('vscode.openWith', file, resultEditorType, {
          preview: true,
        });
      } else {
        this.panels.show(await this.source(folder));
      }
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      const file = resultPath({ folder });
      const text = {
        // `result.json` opens in our editor by default.
        [t('Open as Text')]: () =>
          vscode.commands.executeCommand('vscode.openWith', vscode.Uri.file(file), 'default'),
      };
      await offer('Error', errorText(error), existsSync(file) ? text : {});
    }
  }

  source(location: string): Promise<PanelSource> {
    const folder = resultFolderAt(location);
    // Commands, since they report a folder that is gone.
    const command = (name: string) => () =>
      inBackground(vscode.commands.executeCommand(name, folder));
    const orders = {
      stop: () => undefined,
      runAgain: command('signalrBenchmark.runAgain'),
      openScenario: () =>
        inBackground(openScenarioAsRun(folder, this.originOf(folder), this.services.log)),
      copySummary: command('signalrBenchmark.copySummary'),
    };
    return storedSource(location, orders, t);
  }

  private originOf(folder: string): vscode.Uri | undefined {
    const written = this.services.state.originOf(folder);
    return written === undefined ? undefined : vscode.Uri.parse(written);
  }

  /** The current or a stored run; undefined if deleted. */
  async find(id: string): Promise<PanelSource | undefined> {
    const live = this.controller.find(id);
    if (live) return live;
    // Ids are folder names; anything else is not ours.
    if (path.basename(id) !== id || id.startsWith('.')) return undefined;
    const { index, places } = this.services;
    const folder =
      places
        .all()
        .map((directory) => path.join(directory, id))
        .find((each) => existsSync(each)) ??
      (await index.load()).find((entry) => entry.id === id)?.folder;
    return folder === undefined ? undefined : this.source(folder);
  }

  /** Offers results of runs that a closed window or a crash interrupted. */
  async offerInterrupted(): Promise<void> {
    const { state } = this.services;
    const offerOpening = (folder: string): Promise<void> => {
      const name = path.basename(folder);
      const open = { [t('Open Result')]: () => this.open(folder) };
      const inCluster = state.clusterRunOf(folder);
      if (inCluster === undefined)
        return offer(
          'Information',
          t('The run {0} was interrupted; what was measured is kept.', name),
          open,
        );
      const attach = { [t('Attach')]: () => this.controller.attach(inCluster) };
      return offer(
        'Information',
        t('The run {0} goes on in its cluster, without this window.', name),
        { ...attach, ...open },
      );
    };
    for (const run of state.list('unfinishedRuns')) {
      const found = await runState(run);
      if (found === 'running') continue;
      await state.removeUnfinishedRun(run.folder);
      if (found === 'interrupted') inBackground(offerOpening(run.folder));
    }
  }

  async runAgain(argument: unknown): Promise<void> {
    if (!(await ensureTrusted())) return;
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const uri = vscode.Uri.file(path.join(folder, scenarioFile));
    // The user may have renamed the folder.
    const entry = await resultEntry(folder, new Date());
    const title = `${entry?.scenario ?? path.basename(folder)}.yaml`;
    const text = await scenarioText(uri);
    const [missing] = redactedKeys(text);
    if (missing !== undefined) {
      throw new ExpectedError(
        'result-redacted',
        t(
          'The copy of {0} lacks the secret of {1}: secrets are not kept. Write {2} there in your own scenario, and run that one.',
          title,
          missing,
          '${secret:name}',
        ),
      );
    }
    // Relative paths resolve against the original file.
    const origin = this.originOf(folder);
    const cluster = this.services.state.clusterRunOf(folder)?.cluster;
    await this.controller.run({ uri, origin, title, text, overrides: [], cluster });
  }

  async copySummary(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    await copyMarkdown(storedMarkdown(await readResult(folder)));
  }

  async export(argument: unknown): Promise<void> {
    if (!(await ensureTrustedToWrite())) return;
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const run = await readResult(folder);
    const items = exportersFor(run).map((exporter) => ({
      label: exporter.name,
      description: t(exporter.words),
      exporter,
    }));
    const answer = await vscode.window.showQuickPick(items, { title: t('Export As') });
    if (answer === undefined) return;
    const { name, extension } = answer.exporter;
    const near = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder))?.uri.fsPath;
    const file = `${path.basename(folder)}.${extension}`;
    const target = await vscode.window.showSaveDialog({
      title: t('Export Result'),
      defaultUri: vscode.Uri.file(path.join(near ?? homedir(), file)),
      filters: { [name]: [extension] },
    });
    if (target === undefined) return;
    const text = Buffer.from(await exportRun(run, name));
    const writing =
      target.scheme === 'file'
        ? replaceFile(target.fsPath, text)
        : vscode.workspace.fs.writeFile(target, text);
    await tried(writing, 'export-failed', (reason) =>
      t('{0} cannot be written ({1}).', target.fsPath, reason),
    );
    await offer('Information', t('Result exported to {0}.', path.basename(target.path)), {
      [t('Open')]: () =>
        // The local browser cannot open a file of a remote machine.
        name === 'html' && vscode.env.remoteName === undefined
          ? vscode.env.openExternal(target)
          : vscode.commands.executeCommand('vscode.open', target),
    });
  }

  /** Moves the folders aside, and removes them when *Undo* is not used. */
  async delete(argument: unknown, chosen?: unknown): Promise<void> {
    if (!(await ensureTrustedToWrite())) return;
    const several = this.foldersOf(argument, chosen);
    const folders: string[] = [];
    for (const each of several.length > 1 ? several : [several[0] ?? argument]) {
      const folder = await this.writtenFolder(each);
      if (folder !== undefined) folders.push(folder);
    }
    const [first] = folders;
    if (first === undefined || !(await agreed(folders.length))) return;
    const deleted: { folder: string; aside: string; columns: ResultColumns }[] = [];
    for (const folder of folders) {
      const aside = path.join(path.dirname(folder), `${deletedPrefix}${path.basename(folder)}`);
      await moved(folder, aside);
      deleted.push({ folder, aside, columns: await this.closeTabs(folder) });
    }
    this.services.index.refresh(0);
    const undo = t('Undo');
    const text =
      folders.length === 1
        ? t('Result {0} deleted.', path.basename(first))
        : t('{0} results deleted.', folders.length);
    const answer = await ask('Information', text, undo);
    for (const { folder, aside, columns } of deleted) {
      if (answer === undo) {
        await moved(aside, folder);
        await openResultTabs(folder, columns);
      } else await rm(aside, { recursive: true, force: true });
    }
    this.services.index.refresh(0);
  }

  private foldersOf(argument: unknown, chosen: unknown): string[] {
    const nodes =
      argument === selectionArgument
        ? this.services.selected.results()
        : Array.isArray(chosen)
          ? (chosen as readonly ResultNode[])
          : [];
    const entries = nodes.flatMap((node) => {
      if (node.kind === 'result') return [node.entry];
      return node.kind === 'group'
        ? node.group.entries
        : node.kind === 'age'
          ? node.age.entries
          : [];
    });
    return [...new Set(entries.map(({ folder }) => folder))];
  }

  async diffScenarios(argument: unknown, chosen?: unknown): Promise<void> {
    const picked = this.foldersOf(argument, chosen);
    const first = picked[0] ?? (await this.folderOf(argument));
    if (first === undefined) return;
    const second = picked[1] ?? (await this.choose(({ folder }) => folder !== first));
    if (second === undefined) return;
    const now = new Date();
    const entries = await Promise.all([first, second].map((folder) => resultEntry(folder, now)));
    const both = entries
      .filter((entry) => entry !== undefined)
      .sort((a, b) => a.startedMs - b.startedMs);
    const [left, right] = both;
    if (!left || !right) return;
    const [from, to] = labelsOf(both);
    const title = `${left.scenario}: ${from!} ↔ ${left.scenario === right.scenario ? '' : `${right.scenario}: `}${to!}`;
    await vscode.commands.executeCommand(
      'vscode.diff',
      copyUri(left.folder),
      copyUri(right.folder),
      title,
      { preview: true },
    );
  }

  filter(): void {
    const { index } = this.services;
    const before = index.filter;
    const words = [
      ...(['fail', 'invalid', 'pass'] as const).map((status) => statusWord(status, t)),
      ...[t('Today'), t('Yesterday'), t('Last 7 days')],
    ];
    const all = { label: t('All results'), words: '' };
    const presets = [all, ...words.map((each) => ({ label: each, words: each }))];
    const pick = vscode.window.createQuickPick<(typeof presets)[number]>();
    pick.title = t('Filter Results');
    pick.placeholder = t('Words such as: failed chat');
    const offerTyped = (): void => {
      const typed = pick.value.trim();
      const shown = { label: t('Results with: {0}', typed), words: typed, alwaysShow: true };
      pick.items = typed === '' ? presets : [shown, ...presets];
    };
    pick.value = before;
    offerTyped();
    let accepted = false;
    pick.onDidChangeValue((value) => {
      offerTyped();
      index.filter = value.trim();
    });
    pick.onDidAccept(() => {
      accepted = true;
      index.filter = pick.activeItems[0]?.words ?? pick.value.trim();
      pick.hide();
    });
    pick.onDidHide(() => {
      if (!accepted) index.filter = before;
      pick.dispose();
    });
    pick.show();
  }

  async showTrend(node: unknown, overview: OverviewPanel): Promise<void> {
    const { group } = (node ?? {}) as { group?: ResultGroup };
    if (group) {
      overview.show(group.scenario);
      return;
    }
    const folder = await this.folderOf(node);
    const entry = folder === undefined ? undefined : await resultEntry(folder, new Date());
    if (entry) overview.show(entry.scenario);
  }

  clearFilter(): void {
    this.services.index.filter = '';
  }

  async rename(argument: unknown): Promise<void> {
    if (!(await ensureTrustedToWrite())) return;
    const folder = await this.writtenFolder(argument);
    if (folder === undefined) return;
    const name = path.basename(folder);
    const answer = await vscode.window.showInputBox({
      title: t('Rename Result'),
      value: name,
      validateInput: (text) =>
        /^[\p{L}\p{N}_][\p{L}\p{N} ._-]{0,119}$/u.test(text.trim())
          ? undefined
          : t('Letters, digits, blanks, dots, - and _, at most 120.'),
    });
    const given = answer?.trim();
    if (given === undefined || given === name) return;
    const entry = await resultEntry(folder, new Date());
    const renamed = path.join(path.dirname(folder), newFolderName(entry ?? { name }, given));
    await moved(folder, renamed);
    await this.services.state.moveOrigin(folder, renamed);
    await openResultTabs(renamed, await this.closeTabs(folder));
    this.services.index.refresh(0);
  }

  /** Tabs of a moved folder could not be refilled. */
  private async closeTabs(folder: string): Promise<ResultColumns> {
    this.panels.closeStored(path.basename(folder));
    return closeResultTabs(folder);
  }

  async reveal(argument: unknown): Promise<void> {
    const folder = await this.folderOf(argument);
    if (folder === undefined) return;
    const uri = vscode.Uri.file(folder);
    const inside = vscode.workspace.getWorkspaceFolder(uri) !== undefined;
    const command = inside ? 'revealInExplorer' : 'revealFileInOS';
    await vscode.commands.executeCommand(command, uri);
  }

  /** As {@link runFolder}, but of a run that writes no more. @throws ExpectedError `result-running` */
  private async writtenFolder(argument: unknown): Promise<string | undefined> {
    const over = ({ status }: ResultEntry): boolean => status !== 'running';
    const folder = await this.folderOf(argument, over);
    if (folder === undefined) return undefined;
    const entry = await resultEntry(folder, new Date());
    if (this.controller.writesTo(folder) || (entry && !over(entry))) {
      throw new ExpectedError(
        'result-running',
        t('The run {0} is still going on. Stop it first.', path.basename(folder)),
      );
    }
    return folder;
  }

  private async folderOf(
    argument: unknown,
    offered: (entry: ResultEntry) => boolean = () => true,
  ): Promise<string | undefined> {
    if (argument === selectionArgument) return this.foldersOf(argument, undefined)[0];
    if (typeof argument === 'string') return argument;
    if (argument instanceof vscode.Uri) return resultFolderAt(argument.fsPath);
    const { entry } = (argument ?? {}) as { entry?: ResultEntry };
    if (entry) return entry.folder;
    const open = openResult();
    return open ? resultFolderAt(open.fsPath) : this.choose(offered);
  }

  private async choose(offered: (entry: ResultEntry) => boolean): Promise<string | undefined> {
    const all = groupsOf(await this.services.index.load()).flatMap((group) => group.entries);
    const entries = all.filter(offered);
    if (entries.length === 0) {
      say('Information', t('There are no results yet.'));
      return undefined;
    }
    const newestFirst = [...entries].sort((a, b) => b.startedMs - a.startedMs);
    return (await pickResult(newestFirst, t('Results')))?.folder;
  }
}

/** A single result can be undone; for several, which a folded group may hide, confirm the number. */
const agreed = async (count: number): Promise<boolean> =>
  count === 1 || askToConfirm(t('Delete {0} results?', count), t('Delete'));

function openResult(): vscode.Uri | undefined {
  const input = vscode.window.tabGroups.activeTabGroup.activeTab?.input;
  const ours = input instanceof vscode.TabInputCustom && input.viewType === resultEditorType;
  return ours ? input.uri : undefined;
}

async function moved(from: string, to: string): Promise<void> {
  const sentence = (reason: string): string => t('{0} cannot be moved ({1}).', from, reason);
  await tried(rename(from, to), 'result-folder', sentence);
}

async function tried(
  act: Thenable<void>,
  code: string,
  sentence: (reason: string) => string,
): Promise<void> {
  try {
    await act;
  } catch (error) {
    throw new ExpectedError(code, sentence(describeFileError(error)), { cause: error });
  }
}
