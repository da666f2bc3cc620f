import * as vscode from 'vscode';
import type { ResultEntry } from './resultEntry';
import type { ResultsIndex } from './resultsIndex';
import {
  entryDescription,
  groupsOf,
  statusIcons,
  statusWord,
  type ResultGroup,
} from './resultsModel';

/** A line of the Results view. */
export type ResultNode =
  | { readonly kind: 'group'; readonly group: ResultGroup }
  | { readonly kind: 'result'; readonly entry: ResultEntry }
  | { readonly kind: 'unread'; readonly count: number };

/** The Results view: scenarios, and below them their results, newest first. */
export class ResultsTree implements vscode.TreeDataProvider<ResultNode> {
  readonly onDidChangeTreeData: vscode.Event<void>;

  constructor(private readonly index: ResultsIndex) {
    this.onDidChangeTreeData = index.onDidChange;
  }

  async getChildren(node?: ResultNode): Promise<ResultNode[]> {
    if (node?.kind === 'group') {
      return node.group.entries.map((entry) => ({ kind: 'result', entry }));
    }
    if (node) return [];
    const groups = groupsOf(await this.index.load());
    const { unread } = this.index.results;
    return [
      ...groups.map((group): ResultNode => ({ kind: 'group', group })),
      ...(unread > 0 ? [{ kind: 'unread' as const, count: unread }] : []),
    ];
  }

  getTreeItem(node: ResultNode): vscode.TreeItem {
    switch (node.kind) {
      case 'group':
        return groupItem(node.group);
      case 'result':
        return resultItem(node);
      case 'unread':
        return new vscode.TreeItem(
          vscode.l10n.t('{0} older results are not shown', node.count),
          vscode.TreeItemCollapsibleState.None,
        );
    }
  }
}

function groupItem({ scenario, entries }: ResultGroup): vscode.TreeItem {
  const item = new vscode.TreeItem(scenario, vscode.TreeItemCollapsibleState.Collapsed);
  item.id = `group:${scenario}`;
  item.contextValue = 'group';
  item.description = String(entries.length);
  return item;
}

function resultItem(node: ResultNode & { readonly kind: 'result' }): vscode.TreeItem {
  const { entry } = node;
  const item = new vscode.TreeItem(labelOf(entry), vscode.TreeItemCollapsibleState.None);
  const { icon, color } = statusIcons[entry.status];
  item.id = `result:${entry.folder}`;
  item.contextValue = `result.${entry.status}`;
  item.description = entryDescription(entry, vscode.l10n.t);
  item.iconPath = new vscode.ThemeIcon(icon, color ? new vscode.ThemeColor(color) : undefined);
  item.tooltip = [labelOf(entry), entry.sentence, entry.folder].filter(Boolean).join('\n');
  item.accessibilityInformation = {
    label: `${entry.scenario}, ${labelOf(entry)}, ${entryDescription(entry, vscode.l10n.t)}`,
  };
  item.command = {
    command: 'signalrBenchmark.openResult',
    title: statusWord(entry.status, vscode.l10n.t),
    arguments: [node],
  };
  return item;
}

/** Local time of the run; the name of the folder where somebody gave it one. */
export function labelOf({ name, scenario, startedMs }: ResultEntry): string {
  const time = startedMs === 0 ? name : shortTime(new Date(startedMs));
  return name.endsWith(`-${scenario}`) || name === scenario ? time : name;
}

/** As short as it can be told from the others: the side bar is narrow. */
function shortTime(time: Date): string {
  const thisYear = time.getFullYear() === new Date().getFullYear();
  return time.toLocaleString(vscode.env.language, {
    ...(!thisYear && { year: 'numeric' }),
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}
