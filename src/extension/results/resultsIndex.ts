/** Stored runs in the editor: an index of their folders, and the list made from it. */
import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import type { EditorState } from '../editorState';
import type { FoundResults, KnownEntry, ResultEntry } from './resultEntry';

const quietMs = 300;
/** A run of another window is looked at again after this time. */
const runningAgainMs = 6000;

/** All results on disk, read when first asked for and followed from then on. */
export class ResultsIndex implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;
  private readonly known = new Map<string, KnownEntry>();
  private watchers: vscode.Disposable[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private found: FoundResults = { entries: [], unread: 0 };

  constructor(
    private readonly places: ResultPlaces,
    private readonly now: () => Date,
    private readonly originOf: (folder: string) => string | undefined,
  ) {}

  /** What is known now; the event fires when there is more. */
  get results(): FoundResults {
    if (!this.watchers) this.follow();
    return this.found;
  }

  async load(): Promise<readonly ResultEntry[]> {
    if (!this.watchers) this.follow();
    await this.reading;
    return this.found.entries;
  }

  /** Reads again, soon: a burst of changes is read once. */
  refresh(afterMs = quietMs): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.read(), afterMs);
  }

  private follow(): void {
    this.watchers = this.places.all().flatMap((directory) => {
      const pattern = new vscode.RelativePattern(vscode.Uri.file(directory), '**');
      const watcher = vscode.workspace.createFileSystemWatcher(pattern);
      return [
        watcher,
        watcher.onDidCreate(() => this.refresh()),
        watcher.onDidDelete(() => this.refresh()),
        watcher.onDidChange((uri) => {
          // Samples are written each second; they change nothing in a list, unless a run was taken
          // for interrupted: another machine's clock may differ, and a laptop may have slept.
          if (uri.path.endsWith('/result.json') || this.isInterrupted(uri)) this.refresh();
        }),
      ];
    });
    this.watchers.push(
      vscode.workspace.onDidChangeWorkspaceFolders(() => {
        this.unfollow();
        this.follow();
      }),
    );
    this.reading = this.read();
  }

  private isInterrupted({ fsPath }: vscode.Uri): boolean {
    const folder = path.dirname(fsPath);
    return this.found.entries.some(
      (entry) => entry.folder === folder && entry.status === 'interrupted',
    );
  }

  private async read(): Promise<void> {
    const { scanResults } = await import(/* webpackChunkName: "features" */ './resultEntry.js');
    const { entries, unread } = await scanResults(this.places.all(), this.known, this.now());
    this.found = { entries: entries.map((entry) => this.withOrigin(entry)), unread };
    this.emitter.fire();
    if (this.found.entries.some(({ status }) => status === 'running')) {
      this.refresh(runningAgainMs);
    }
  }

  private withOrigin(entry: ResultEntry): ResultEntry {
    const origin = this.originOf(entry.folder);
    return origin === undefined ? entry : { ...entry, origin };
  }

  private unfollow(): void {
    for (const watcher of this.watchers ?? []) watcher.dispose();
    this.watchers = undefined;
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.unfollow();
    this.emitter.dispose();
  }
}

/** Folder for results in a workspace folder, as on the command line. */
const resultsFolder = '.signalr-bench';

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
