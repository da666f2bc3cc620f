import { existsSync } from 'node:fs';
import { appendFile, readFile } from 'node:fs/promises';
import path from 'node:path';
import * as vscode from 'vscode';
import { offer, t } from '../log';
import type { EditorState } from '../editorState';
import type { ResultEntry, FoundResults, KnownEntry } from './resultEntry';
import {
  ageGroups,
  countWords,
  entryDescription,
  filtered,
  groupDescription,
  groupsOf,
  groupWords,
  hasOwnName,
  shortTimes,
  statusIcons,
  statusWord,
  type AgeGroup,
  type ResultGroup,
} from './resultsModel';

export type ResultNode =
  | {
      readonly kind: 'group';
      readonly group: ResultGroup;
      readonly newest: boolean;
      readonly alike: boolean;
    }
  | { readonly kind: 'age'; readonly key: string; readonly age: AgeGroup; readonly open: boolean }
  | { readonly kind: 'result'; readonly entry: ResultEntry; readonly label: string }
  | { readonly kind: 'unread'; readonly count: number };

export class ResultsTree implements vscode.TreeDataProvider<ResultNode> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly index: ResultsIndex) {
    this.onDidChangeTreeData = index.onDidChange;
  }

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    switch (node?.kind) {
      case undefined:
        return this.groups();
      case 'group':
        return this.inGroup(node.group);
      case 'age':
        return resultNodes(node.age.entries);
      default:
        return [];
    }
  }

  private async groups(): Promise<ResultNode[]> {
    const all = await this.index.load();
    const groups = groupsOf(filtered(all, this.index.filter, new Date(), t));
    const { unread } = this.index.results;
    return [
      ...groups.map((group, at): ResultNode => {
        const alike = groups.some((other) => other !== group && other.scenario === group.scenario);
        return { kind: 'group', group, newest: at === 0, alike };
      }),
      ...(unread > 0 ? [{ kind: 'unread' as const, count: unread }] : []),
    ];
  }

  private inGroup({ key, entries }: ResultGroup): ResultNode[] {
    const ages = ageGroups(entries, new Date(), t);
    if (!ages) return resultNodes(entries);
    const open = (at: number): boolean => at === 0 || this.index.filter !== '';
    return ages.map((age, at) => ({ kind: 'age', key, age, open: open(at) }));
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node, this.index.filter !== '');
      case 'age':
        return ageItem(node);
      case 'result':
        return resultItem(node);
      case 'unread':
        return new vscode.TreeItem(
          t('{0} older results are not shown', node.count),
          vscode.TreeItemCollapsibleState.None,
        );
    }
  }

  /** What is shown under the mouse; its words are read when somebody asks. */
  async resolveTreeItem(item: vscode.TreeItem, node: ResultNode): Promise<vscode.TreeItem> {
    if (node.kind !== 'result') return item;
    const { sentencesIn } = await import(
      /* webpackChunkName: "features" */ '../translateSentences.js'
    );
    const { folder, sentence } = node.entry;
    const said = sentencesIn(t)(sentence);
    item.tooltip = [longTime(node.entry), said, folder].filter(Boolean).join('\n');
    return item;
  }
}

function resultNodes(entries: readonly ResultEntry[]): ResultNode[] {
  const labels = labelsOf(entries);
  return entries.map((entry, at) => ({ kind: 'result', entry, label: labels[at]! }));
}

const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;

function groupItem(
  { group, newest, alike }: ResultNode & { readonly kind: 'group' },
  isFiltered: boolean,
): vscode.TreeItem {
  const { key, scenario, origin, entries } = group;
  // What was run last is what people look for.
  const item = new vscode.TreeItem(scenario, newest || isFiltered ? Expanded : Collapsed);
  // What was folded by hand stays so, with a filter and without.
  item.id = `group:${isFiltered ? 'filtered:' : ''}${key}`;
  item.contextValue = 'group';
  item.iconPath = statusIcon(entries[0]!);
  const where = origin === undefined ? entries[0]!.folder : vscode.Uri.parse(origin);
  const file = alike ? `${vscode.workspace.asRelativePath(where)} · ` : '';
  item.description = `${file}${groupDescription(entries, t)}`;
  item.tooltip = groupWords(group, t);
  item.accessibilityInformation = { label: `${file}${groupWords(group, t)}` };
  return item;
}

function ageItem({
  key,
  age: { label, entries },
  open,
}: ResultNode & { readonly kind: 'age' }): vscode.TreeItem {
  const item = new vscode.TreeItem(label, open ? Expanded : Collapsed);
  item.id = `age:${open}:${label}:${key}`;
  item.contextValue = 'age';
  item.description = countWords(entries, t);
  item.accessibilityInformation = { label: groupWords({ scenario: label, entries }, t) };
  return item;
}

function statusIcon({ status }: ResultEntry): vscode.ThemeIcon {
  const { icon, color } = statusIcons[status];
  return new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
}

function resultItem(node: ResultNode & { readonly kind: 'result' }): vscode.TreeItem {
  const { entry, label } = node;
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
  item.id = `result:${entry.folder}`;
  item.contextValue = `result.${entry.status}`;
  item.description = entryDescription(entry, t);
  item.iconPath = statusIcon(entry);
  item.accessibilityInformation = {
    label: `${entry.scenario}, ${label}, ${entryDescription(entry, t)}`,
  };
  item.command = {
    command: 'signalrBenchmark.openResult',
    title: statusWord(entry.status, t),
    arguments: [node],
  };
  return item;
}

export function labelsOf(entries: readonly ResultEntry[]): string[] {
  const style = { now: new Date(), language: vscode.env.language };
  const times = shortTimes(
    entries.map(({ startedMs }) => new Date(startedMs)),
    style,
  );
  return entries.map((entry, at) =>
    hasOwnName(entry) && entry.startedMs !== 0 ? times[at]! : entry.name,
  );
}

function longTime({ startedMs }: ResultEntry): string {
  return startedMs === 0 ? '' : new Date(startedMs).toLocaleString(vscode.env.language);
}

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
  private shownFilter = '';

  constructor(
    private readonly places: ResultPlaces,
    private readonly state: EditorState,
  ) {}

  get results(): FoundResults {
    if (!this.watchers) this.follow();
    return this.found;
  }

  /** Words that the list shows the results of; empty shows all. */
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
          // Samples change nothing in a list, unless a run was taken for interrupted: clocks differ, and laptops sleep.
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
    if (this.found.entries.some(({ status }) => status === 'running')) {
      this.refresh(runningAgainMs);
    }
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
    const offered = this.state.list('ignoreOffered');
    if (!folder || offered.includes(folder.uri.fsPath)) return;
    const root = folder.uri.fsPath;
    if (!existsSync(path.join(root, '.git'))) return;
    const file = path.join(root, '.gitignore');
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text.includes(resultsFolder)) return;
    await this.state.keep('ignoreOffered', [...offered, root]);
    const question = t(
      'Results of runs are in {0}. Keep them out of version control?',
      resultsFolder,
    );
    const before = text === '' || text.endsWith('\n') ? '' : '\n';
    await offer('Information', question, {
      [t('Add to .gitignore')]: () => appendFile(file, `${before}${resultsFolder}/\n`),
    });
  }
}

function workspaceFolders(): vscode.WorkspaceFolder[] {
  return (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file');
}

function resultsIn({ uri }: vscode.WorkspaceFolder): string {
  return path.join(uri.fsPath, resultsFolder);
}
