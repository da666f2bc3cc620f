import { existsSync } from 'node:fs';
import path from 'node:path';
import * as vscode from 'vscode';
import { t, inBackground } from '../log';
import { offer } from '../notices';
import type { EditorState } from '../editorState';
import type { ResultEntry, FoundResults, KnownEntry } from './resultEntry';
import type { ResultNode } from './resultNodes';

const files = {
  reading: () => import(/* webpackChunkName: "features" */ '../../run/scenarioFile.js'),
  writing: () => import(/* webpackChunkName: "features" */ '../../results/safeFiles.js'),
};

const nodes = () => import(/* webpackChunkName: "features" */ './resultNodes.js');

export class ResultsTree implements vscode.TreeDataProvider<ResultNode> {
  readonly onDidChangeTreeData: vscode.Event<void> = (listener) => this.index.onDidChange(listener);

  constructor(private readonly index: ResultsIndex) {}

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    const all = await this.index.load();
    const { filter, results } = this.index;
    return (await nodes()).childrenOf(node, { all, unread: results.unread, filter });
  }

  async getTreeItem(node: ResultNode): Promise<vscode.TreeItem> {
    return (await nodes()).itemOf(node, this.index.filter);
  }

  async resolveTreeItem(item: vscode.TreeItem, node: ResultNode): Promise<vscode.TreeItem> {
    return (await nodes()).withTooltip(item, node);
  }
}

const quietMs = 300;
const runningAgainMs = 6000;

export class ResultsIndex implements vscode.Disposable {
  private readonly emitter = new vscode.EventEmitter<void>();
  readonly onDidChange = this.emitter.event;
  private readonly known = new Map<string, KnownEntry>();
  private watchers: vscode.Disposable[] | undefined;
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private found: FoundResults = { entries: [], unread: 0 };
  private shownFilter = '';

  constructor(
    private readonly places: ResultPlaces,
    private readonly state: EditorState,
  ) {}

  get results(): FoundResults {
    if (!this.watchers) this.follow();
    return this.found;
  }

  get filter(): string {
    return this.shownFilter;
  }

  set filter(words: string) {
    if (words === this.shownFilter) return;
    this.shownFilter = words;
    this.emitter.fire();
  }

  async load(): Promise<readonly ResultEntry[]> {
    if (!this.watchers) this.follow();
    await this.reading;
    return this.found.entries;
  }

  /** Rescans soon, once for a burst of changes. */
  refresh(afterMs = quietMs): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => inBackground(this.read()), afterMs);
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
          // Samples matter only for a run that was taken for interrupted: clocks differ, and laptops sleep.
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
    const { entries, unread } = await scanResults(this.places.all(), this.known, new Date());
    this.found = { entries: entries.map((entry) => this.withOrigin(entry)), unread };
    this.emitter.fire();
    if (this.found.entries.some(({ status }) => status === 'running')) this.refresh(runningAgainMs);
  }

  private withOrigin(entry: ResultEntry): ResultEntry {
    const origin = this.state.originOf(entry.folder);
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

const resultsFolder = '.signalr-bench';

export class ResultPlaces {
  constructor(
    private readonly globalStorage: vscode.Uri,
    private readonly state: EditorState,
  ) {}

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

  async offerIgnore(resultFolder: string): Promise<void> {
    const folder = workspaceFolders().find(
      (each) => path.dirname(resultFolder) === resultsIn(each),
    );
    const offered = this.state.list('ignoreOffered');
    if (!folder || offered.includes(folder.uri.fsPath)) return;
    const root = folder.uri.fsPath;
    if (!existsSync(path.join(root, '.git'))) return;
    const file = path.join(root, '.gitignore');
    const read = async (): Promise<string> =>
      existsSync(file) ? (await files.reading()).readNamedFile(root, '.gitignore') : '';
    // A `.gitignore` that links elsewhere is not written.
    const found = await read().catch(() => undefined);
    if (found === undefined || found.includes(resultsFolder)) return;
    await this.state.store('ignoreOffered', [...offered, root]);
    const question = t(
      'Results of runs are in {0}. Keep them out of version control?',
      resultsFolder,
    );
    await offer('Information', question, {
      [t('Add to .gitignore')]: async () => {
        const text = await read();
        const before = text === '' || text.endsWith('\n') ? '' : '\n';
        await (await files.writing()).replaceFile(file, `${text}${before}${resultsFolder}/\n`);
      },
    });
  }
}

function workspaceFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

function resultsIn({ uri }: vscode.WorkspaceFolder): string {
  return path.join(uri.fsPath, resultsFolder);
}
