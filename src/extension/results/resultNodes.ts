import * as vscode from 'vscode';
import { t } from '../log';
import { say } from '../../base/sentence';
import type { ResultEntry } from './resultEntry';
import {
  ageGroups,
  countLabel,
  entryDescription,
  filterEntries,
  groupDescription,
  groupsOf,
  groupLabel,
  hasOriginalName,
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

interface Listed {
  readonly all: readonly ResultEntry[];
  readonly unread: number;
  readonly filter: string;
}

export function childrenOf(node: ResultNode | undefined, listed: Listed): ResultNode[] {
  if (node === undefined) return groupNodes(listed);
  if (node.kind === 'group') return inGroup(node.group, listed.filter);
  return node.kind === 'age' ? resultNodes(node.age.entries) : [];
}

function groupNodes({ all, unread, filter }: Listed): ResultNode[] {
  const groups = groupsOf(filterEntries(all, filter, new Date(), t));
  return [
    ...groups.map((group, at): ResultNode => {
      const alike = groups.some((other) => other !== group && other.scenario === group.scenario);
      return { kind: 'group', group, newest: at === 0, alike };
    }),
    ...(unread > 0 ? [{ kind: 'unread' as const, count: unread }] : []),
  ];
}

function inGroup({ key, entries }: ResultGroup, filter: string): ResultNode[] {
  const ages = ageGroups(entries, new Date(), t);
  if (!ages) return resultNodes(entries);
  const open = (at: number): boolean => at === 0 || filter !== '';
  return ages.map((age, at) => ({ kind: 'age', key, age, open: open(at) }));
}

export function itemOf(node: ResultNode, filter: string): vscode.TreeItem {
  if (node.kind === 'group') return groupItem(node, filter !== '');
  if (node.kind === 'age') return ageItem(node);
  if (node.kind === 'result') return resultItem(node);
  const text = t('{0} older results are not shown', node.count);
  return new vscode.TreeItem(text, vscode.TreeItemCollapsibleState.None);
}

export function withTooltip(item: vscode.TreeItem, node: ResultNode): vscode.TreeItem {
  if (node.kind !== 'result') return item;
  const { folder, sign, sentence } = node.entry;
  const said = [sign, say(sentence, t)].filter(Boolean).join(' ');
  item.tooltip = [longTime(node.entry), said, folder].filter(Boolean).join('\n');
  return item;
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
  const item = new vscode.TreeItem(scenario, newest || isFiltered ? Expanded : Collapsed);
  // Keeps folded groups folded, with a filter and without.
  item.id = `group:${isFiltered ? 'filtered:' : ''}${key}`;
  item.contextValue = 'group';
  item.iconPath = statusIcon(entries[0]!);
  const where = origin === undefined ? entries[0]!.folder : vscode.Uri.parse(origin);
  const file = alike ? `${vscode.workspace.asRelativePath(where)} · ` : '';
  item.description = `${file}${groupDescription(entries, t)}`;
  item.tooltip = groupLabel(group, t);
  item.accessibilityInformation = { label: `${file}${groupLabel(group, t)}` };
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
  item.description = countLabel(entries, t);
  item.accessibilityInformation = { label: groupLabel({ scenario: label, entries }, t) };
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
    hasOriginalName(entry) && entry.startedMs !== 0 ? times[at]! : entry.name,
  );
}

export function itemsToPick(entries: readonly ResultEntry[]) {
  const labels = labelsOf(entries);
  return entries.map((entry, at) => ({
    label: entry.scenario,
    description: labels[at]!,
    detail: entryDescription(entry, t),
    entry,
  }));
}

export async function pickResult(
  entries: readonly ResultEntry[],
  title: string,
): Promise<ResultEntry | undefined> {
  const options = { title, matchOnDescription: true };
  return (await vscode.window.showQuickPick(itemsToPick(entries), options))?.entry;
}

function longTime({ startedMs }: ResultEntry): string {
  return startedMs === 0 ? '' : new Date(startedMs).toLocaleString(vscode.env.language);
}
