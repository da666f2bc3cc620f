import { latencyWords } from '../measure/sloWords';
import type { EntryStatus, ResultEntry } from './resultEntry';
import type { Translate } from './translate';

/** All results of one scenario, newest first. */
export interface ResultGroup {
  readonly scenario: string;
  readonly entries: readonly ResultEntry[];
}

/** Groups by scenario; the group with the newest result comes first. */
export function groupsOf(entries: readonly ResultEntry[]): ResultGroup[] {
  const groups = new Map<string, ResultEntry[]>();
  for (const entry of [...entries].sort(newestFirst)) {
    const group = groups.get(entry.scenario);
    if (group) group.push(entry);
    else groups.set(entry.scenario, [entry]);
  }
  return [...groups].map(([scenario, inside]) => ({ scenario, entries: inside }));
}

function newestFirst(a: ResultEntry, b: ResultEntry): number {
  return b.startedMs - a.startedMs || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
}

/** Icon and its colour by status; the word beside it says the same. */
export const statusIcons: Readonly<
  Record<EntryStatus, { readonly icon: string; readonly color?: string }>
> = {
  pass: { icon: 'pass', color: 'testing.iconPassed' },
  fail: { icon: 'error', color: 'testing.iconFailed' },
  invalid: { icon: 'warning', color: 'list.warningForeground' },
  incomplete: { icon: 'circle-slash' },
  interrupted: { icon: 'debug-disconnect' },
  running: { icon: 'sync' },
  damaged: { icon: 'bracket-error', color: 'list.errorForeground' },
  newer: { icon: 'versions' },
};

export function statusWord(status: EntryStatus, t: Translate): string {
  switch (status) {
    case 'pass':
      return t('passed');
    case 'fail':
      return t('failed');
    case 'invalid':
      return t('invalid');
    case 'incomplete':
      return t('incomplete');
    case 'interrupted':
      return t('interrupted');
    case 'running':
      return t('running');
    case 'damaged':
      return t('damaged');
    case 'newer':
      return t('from a newer version');
  }
}

/** `p99 41 ms · Unit 10 · passed`: numbers first, the icon says the verdict already. */
export function entryDescription(entry: ResultEntry, t: Translate): string {
  const { status, p99Us, unit } = entry;
  const units = unit === null ? t('no Unit fits') : unit === undefined ? '' : t('Unit {0}', unit);
  return [p99Us === undefined ? '' : `p99 ${latencyWords(p99Us)}`, units, statusWord(status, t)]
    .filter((part) => part !== '')
    .join(' · ');
}

/** For the line above a scenario: `p99 41 ms, passed, 2 h ago`. */
export function lastRunText(entry: ResultEntry, now: Date, t: Translate): string {
  const p99 = entry.p99Us === undefined ? [] : [`p99 ${latencyWords(entry.p99Us)}`];
  return [...p99, statusWord(entry.status, t), ago(entry.startedMs, now, t)].join(', ');
}

function ago(startedMs: number, now: Date, t: Translate): string {
  const minutes = Math.floor((now.getTime() - startedMs) / 60_000);
  if (minutes < 1) return t('just now');
  if (minutes < 120) return t('{0} min ago', minutes);
  if (minutes < 48 * 60) return t('{0} h ago', Math.floor(minutes / 60));
  return t('{0} days ago', Math.floor(minutes / 1440));
}

/** The newest finished result of a scenario. */
export function newestOf(
  entries: readonly ResultEntry[],
  scenario: string,
): ResultEntry | undefined {
  return entries
    .filter((entry) => entry.scenario === scenario && entry.status !== 'running')
    .sort(newestFirst)[0];
}
