import * as vscode from 'vscode';
import {
  entryDescription,
  groupsOf,
  hasOwnName,
  shortTimes,
  statusIcons,
  statusWord,
  type ResultGroup,
} from './resultsModel';
import type { ResultEntry } from './resultEntry';
import type { ResultsIndex } from './resultsIndex';

/** A line of the Results view. */
export type ResultNode =
  | {
      readonly kind: 'group';
      readonly group: ResultGroup;
      readonly newest: boolean;
      readonly alike: boolean;
    }
  | { readonly kind: 'result'; readonly entry: ResultEntry; readonly label: string }
  | { readonly kind: 'unread'; readonly count: number };

/** The Results view: scenarios, and below them their results, newest first. */
export class ResultsTree implements vscode.TreeDataProvider<ResultNode> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly index: ResultsIndex) {
    this.onDidChangeTreeData = index.onDidChange;
  }

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    if (node?.kind === 'group') {
      const { entries } = node.group;
      const labels = labelsOf(entries);
      return entries.map((entry, at) => ({ kind: 'result', entry, label: labels[at]! }));
    }
    if (node) return [];
    const groups = groupsOf(await this.index.load());
    const { unread } = this.index.results;
    return [
      ...groups.map((group, at): ResultNode => {
        const alike = groups.some((other) => other !== group && other.scenario === group.scenario);
        return { kind: 'group', group, newest: at === 0, alike };
      }),
      ...(unread > 0 ? [{ kind: 'unread' as const, count: unread }] : []),
    ];
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node);
      case 'result':
        return resultItem(node);
      case 'unread':
        return new vscode.TreeItem(
          vscode.l10n.t('{0} older results are not shown', node.count),
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
    const said = sentencesIn(vscode.l10n.t)(sentence);
    item.tooltip = [longTime(node.entry), said, folder].filter(Boolean).join('\n');
    return item;
  }
}

function groupItem({
  group,
  newest,
  alike,
}: ResultNode & { readonly kind: 'group' }): vscode.TreeItem {
  const { key, scenario, origin, entries } = group;
  const { Collapsed, Expanded } = vscode.TreeItemCollapsibleState;
  // What was run last is what people look for.
  const item = new vscode.TreeItem(scenario, newest ? Expanded : Collapsed);
  item.id = `group:${key}`;
  item.contextValue = 'group';
  const where = origin === undefined ? entries[0]!.folder : vscode.Uri.parse(origin);
  const file = alike ? `${vscode.workspace.asRelativePath(where)} · ` : '';
  item.description = `${file}${entries.length}`;
  return item;
}

function resultItem(node: ResultNode & { readonly kind: 'result' }): vscode.TreeItem {
  const { entry, label } = node;
  const item = new vscode.TreeItem(label, vscode.TreeItemCollapsibleState.None);
  const { icon, color } = statusIcons[entry.status];
  item.id = `result:${entry.folder}`;
  item.contextValue = `result.${entry.status}`;
  item.description = entryDescription(entry, vscode.l10n.t);
  item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  item.accessibilityInformation = {
    label: `${entry.scenario}, ${label}, ${entryDescription(entry, vscode.l10n.t)}`,
  };
  item.command = {
    command: 'signalrBenchmark.openResult',
    title: statusWord(entry.status, vscode.l10n.t),
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
