import { groupBy } from '../../base/collect';
import path from 'node:path';
import type { Translate } from '../../base/text';
import { latencyWords, formatCount } from '../../base/units';
import type { SearchKind } from '../../base/searchSummary';
import type { EntryStatus, ResultEntry } from './resultEntry';

export interface ResultGroup {
  readonly key: string;
  readonly scenario: string;
  readonly origin?: string;
  readonly entries: readonly ResultEntry[];
}

/** Groups by scenario, newest first. Scenarios of one name differ by file, else by folder. */
export function groupsOf(entries: readonly ResultEntry[]): ResultGroup[] {
  const originOf = originsIn(entries);
  const groups = groupBy([...entries].sort(newestFirst), (entry) =>
    JSON.stringify([entry.scenario, originOf(entry) ?? placeOf(entry)]),
  );
  return [...groups].map(([key, inside]) => {
    const [{ scenario }] = inside as [ResultEntry];
    return { key, scenario, origin: originOf(inside[0]!), entries: inside };
  });
}

/** Scenario file of each entry; a result of the command line belongs to the only file of that name beside it. */
function originsIn(entries: readonly ResultEntry[]): (entry: ResultEntry) => string | undefined {
  const beside = new Map<string, Set<string>>();
  const place = (entry: ResultEntry): string => JSON.stringify([entry.scenario, placeOf(entry)]);
  for (const entry of entries) {
    if (entry.origin === undefined) continue;
    const key = place(entry);
    beside.set(key, (beside.get(key) ?? new Set()).add(entry.origin));
  }
  return (entry) => {
    if (entry.origin !== undefined) return entry.origin;
    const origins = [...(beside.get(place(entry)) ?? [])];
    return origins.length === 1 ? origins[0] : undefined;
  };
}

const failed: readonly EntryStatus[] = ['fail', 'invalid'];
const failedCount = (entries: readonly ResultEntry[]): number =>
  entries.filter(({ status }) => failed.includes(status)).length;

const mostBars = 8;
const bars = '▁▂▃▄▅▆▇█';

export const recentP99Us = (entries: readonly ResultEntry[]): number[] =>
  [...entries]
    .sort(newestFirst)
    .flatMap(({ p99Us }) => p99Us ?? [])
    .slice(0, mostBars)
    .reverse();

/** One block per value, scaled from zero: `▂▂▃█`. Empty for fewer than two. */
export function sparkline(values: readonly number[]): string {
  const most = Math.max(...values);
  if (values.length < 2 || most <= 0) return '';
  return values
    .map((value) => bars[Math.min(bars.length - 1, Math.floor((value / most) * bars.length))])
    .join('');
}

/** `12 · 2 failed`. */
export function countLabel(entries: readonly ResultEntry[], t: Translate): string {
  const missed = failedCount(entries);
  return `${entries.length}${missed === 0 ? '' : ` · ${t('{0} failed', missed)}`}`;
}

/** `▂▂▃█ · 12 · 2 failed`. */
export function groupDescription(entries: readonly ResultEntry[], t: Translate): string {
  const line = sparkline(recentP99Us(entries));
  return `${line}${line === '' ? '' : ' · '}${countLabel(entries, t)}`;
}

export function groupLabel(
  { scenario, entries }: Pick<ResultGroup, 'scenario' | 'entries'>,
  t: Translate,
): string {
  const missed = failedCount(entries);
  const recent = recentP99Us(entries);
  const latencies = recent.map(latencyWords).join(', ');
  return [
    scenario,
    entries.length === 1 ? t('1 result') : t('{0} results', entries.length),
    ...(missed === 0 ? [] : [t('{0} failed', missed)]),
    ...(recent.length < 2
      ? []
      : [t('p99 of the last {0} runs, oldest first: {1}', recent.length, latencies)]),
  ].join(', ');
}

export interface AgeGroup {
  readonly label: string;
  readonly entries: readonly ResultEntry[];
}

const mostFlat = 10;

const dayMs = 86_400_000;

/** `Today`, `Yesterday`, `Last 7 days` … by local calendar days. */
function ageLabel({ startedMs }: ResultEntry, now: Date, t: Translate): string {
  const midnight = (time: Date): number =>
    new Date(time.getFullYear(), time.getMonth(), time.getDate()).getTime();
  // Rounds days of 23 and 25 hours.
  const days = Math.round((midnight(now) - midnight(new Date(startedMs))) / dayMs);
  if (days <= 0) return t('Today');
  if (days <= 1) return t('Yesterday');
  if (days <= 7) return t('Last 7 days');
  return days <= 30 ? t('Last 30 days') : t('Older');
}

export function ageGroups(
  entries: readonly ResultEntry[],
  now: Date,
  t: Translate,
): AgeGroup[] | undefined {
  if (entries.length <= mostFlat) return undefined;
  const groups = groupBy(entries, (entry) => ageLabel(entry, now, t));
  if (groups.size < 2) return undefined;
  return [...groups].map(([label, inside]) => ({ label, entries: inside }));
}

/** Entries whose text in the list contains every word, ignoring case. */
export function filterEntries(
  entries: readonly ResultEntry[],
  filter: string,
  now: Date,
  t: Translate,
): readonly ResultEntry[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter((entry) => {
    const { scenario, name } = entry;
    const said = [scenario, name, entryDescription(entry, t), ageLabel(entry, now, t)];
    const text = said.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const placeOf = ({ folder }: ResultEntry): string => path.dirname(folder);

function newestFirst(a: ResultEntry, b: ResultEntry): number {
  return b.startedMs - a.startedMs || (a.name < b.name ? 1 : a.name > b.name ? -1 : 0);
}

export const statusIcons: Readonly<
  Record<EntryStatus, { readonly word: string; readonly icon: string; readonly color?: string }>
> = {
  pass: { word: 'passed', icon: 'pass', color: 'testing.iconPassed' },
  fail: { word: 'failed', icon: 'error', color: 'testing.iconFailed' },
  invalid: { word: 'invalid', icon: 'warning', color: 'list.warningForeground' },
  incomplete: { word: 'incomplete', icon: 'circle-slash' },
  interrupted: { word: 'interrupted', icon: 'debug-disconnect' },
  running: { word: 'running', icon: 'sync' },
  damaged: { word: 'damaged', icon: 'bracket-error', color: 'list.errorForeground' },
  newer: { word: 'from a newer version', icon: 'versions' },
};

export const statusWord = (status: EntryStatus, t: Translate): string =>
  t(statusIcons[status].word);

/** `p99 41 ms · Unit 10 · passed · emulator`; the icon shows the verdict already. */
export function entryDescription(entry: ResultEntry, t: Translate): string {
  const { status, p99Us, unit, emulated } = entry;
  const units = unit === null ? t('no Unit fits') : unit === undefined ? '' : t('Unit {0}', unit);
  const marks = { embeddedHub: t('embedded hub'), emulator: t('emulator') };
  const p99 = p99Us === undefined ? '' : `p99 ${latencyWords(p99Us)}`;
  return [
    heldText(entry, t),
    p99,
    units,
    statusWord(status, t),
    emulated === undefined ? '' : marks[emulated],
    entry.isBaseline ? t('baseline') : '',
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** For the code lens: `p99 41 ms, Unit 10, passed, 2 h ago`. */
export function lastRunText(entry: ResultEntry, now: Date, t: Translate): string {
  const { p99Us, unit, status, startedMs } = entry;
  const held = [heldText(entry, t)].filter((text) => text !== '');
  const p99 = p99Us === undefined ? [] : [`p99 ${latencyWords(p99Us)}`];
  const units = typeof unit === 'number' ? [t('Unit {0}', unit)] : [];
  return [...held, ...p99, ...units, statusWord(status, t), ago(startedMs, now, t)].join(', ');
}

function heldText({ held }: ResultEntry, t: Translate): string {
  if (held === undefined || held.value === null) return '';
  const count = formatCount(held.value);
  const texts: Readonly<Record<SearchKind, () => string>> = {
    senders: () => t('up to {0} senders', count),
    rate: () => t('up to {0} msg/s', count),
    connections: () => t('up to {0} connections', count),
    messageSize: () => t('up to {0} bytes', count),
  };
  return texts[held.of]();
}

function ago(startedMs: number, now: Date, t: Translate): string {
  const minutes = Math.floor((now.getTime() - startedMs) / 60_000);
  if (minutes < 1) return t('just now');
  if (minutes < 120) return t('{0} min ago', minutes);
  if (minutes < 48 * 60) return t('{0} h ago', Math.floor(minutes / 60));
  return t('{0} days ago', Math.floor(minutes / 1440));
}

const unknown: readonly EntryStatus[] = ['running', 'damaged', 'newer'];

interface ScenarioPlace {
  readonly scenario: string;
  readonly origin: string;
  readonly places: readonly string[];
}

/** Newest result with a known outcome; without a known origin, name and folder must match. */
export function newestResultOf(
  entries: readonly ResultEntry[],
  { scenario, origin, places }: ScenarioPlace,
): ResultEntry | undefined {
  return entries
    .filter((entry) => entry.scenario === scenario && !unknown.includes(entry.status))
    .filter((entry) =>
      entry.origin === undefined ? places.includes(placeOf(entry)) : entry.origin === origin,
    )
    .sort(newestFirst)[0];
}

/** Whether the folder still has the name its run gave it, perhaps with a number. */
export function hasOriginalName({
  name,
  scenario,
}: Pick<ResultEntry, 'name' | 'scenario'>): boolean {
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.*)$/.exec(name) ?? [];
  return rest?.startsWith(scenario) === true && /^(-\d+)?$/.test(rest.slice(scenario.length));
}

interface TimeStyle {
  readonly now: Date;
  readonly language: string;
  readonly seconds: boolean;
}

/** Local start time; names the day only if it is not today. */
export function shortTime(time: Date, { now, language, seconds }: TimeStyle): string {
  const today = time.toDateString() === now.toDateString();
  const thisYear = time.getFullYear() === now.getFullYear();
  return time.toLocaleString(language, {
    ...(!thisYear && { year: 'numeric' }),
    ...(!today && { month: 'short', day: 'numeric' }),
    hour: 'numeric',
    minute: '2-digit',
    ...(seconds && { second: '2-digit' }),
  });
}

export function shortTimes(times: readonly Date[], style: Omit<TimeStyle, 'seconds'>): string[] {
  const short = times.map((time) => shortTime(time, { ...style, seconds: false }));
  const alike = (text: string): boolean => short.indexOf(text) !== short.lastIndexOf(text);
  return times.map((time, at) =>
    alike(short[at]!) ? shortTime(time, { ...style, seconds: true }) : short[at]!,
  );
}
