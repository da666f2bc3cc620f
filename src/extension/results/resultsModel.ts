import path from 'node:path';
import { latencyWords } from '../../base/objectives/limitWords';
import type { Translate } from '../../base/text';
import { formatCount } from '../../base/units';
import type { SearchKind } from '../../search/searchSummary';
import type { EntryStatus, ResultEntry } from './resultEntry';

export interface ResultGroup {
  readonly key: string;
  readonly scenario: string;
  readonly origin?: string;
  readonly entries: readonly ResultEntry[];
}

/** Groups by scenario, newest first. Scenarios of one name differ by their files, and by where their results lie. */
export function groupsOf(entries: readonly ResultEntry[]): ResultGroup[] {
  const groups = new Map<string, ResultEntry[]>();
  for (const entry of [...entries].sort(newestFirst)) {
    const key = JSON.stringify([entry.scenario, originIn(entries, entry) ?? placeOf(entry)]);
    const group = groups.get(key);
    if (group) group.push(entry);
    else groups.set(key, [entry]);
  }
  return [...groups].map(([key, inside]) => {
    const [{ scenario }] = inside as [ResultEntry];
    const origin = originIn(entries, inside[0]!);
    return { key, scenario, ...(origin !== undefined && { origin }), entries: inside };
  });
}

/** A result of the command line belongs to the only file of that name that ran beside it. */
function originIn(entries: readonly ResultEntry[], entry: ResultEntry): string | undefined {
  if (entry.origin !== undefined) return entry.origin;
  const origins = entries
    .filter((each) => each.scenario === entry.scenario && placeOf(each) === placeOf(entry))
    .flatMap(({ origin }) => origin ?? []);
  return new Set(origins).size === 1 ? origins[0] : undefined;
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

/** `p99 41 ms · Unit 10 · passed · emulator`: numbers first, the icon says the verdict already. */
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
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

/** For the line above a scenario: `p99 41 ms, passed, 2 h ago`. */
export function lastRunText(entry: ResultEntry, now: Date, t: Translate): string {
  const p99 = entry.p99Us === undefined ? [] : [`p99 ${latencyWords(entry.p99Us)}`];
  const held = [heldText(entry, t)].filter((text) => text !== '');
  return [...held, ...p99, statusWord(entry.status, t), ago(entry.startedMs, now, t)].join(', ');
}

/** `up to 681 senders`: what a search has found to hold. */
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

/** Of these, how a run went is not known, or not yet. */
const unknown: readonly EntryStatus[] = ['running', 'damaged', 'newer'];

/** The newest result of a scenario file whose outcome is known; where the file is not, its name and place count. */
export function newestOf(
  entries: readonly ResultEntry[],
  {
    scenario,
    origin,
    places,
  }: Readonly<Record<'scenario' | 'origin', string>> & {
    readonly places: readonly string[];
  },
): ResultEntry | undefined {
  return entries
    .filter((entry) => entry.scenario === scenario && !unknown.includes(entry.status))
    .filter((entry) =>
      entry.origin === undefined ? places.includes(placeOf(entry)) : entry.origin === origin,
    )
    .sort(newestFirst)[0];
}

/** Whether a folder has the name that its run made, with a number where that was taken. */
export function hasOwnName({ name, scenario }: Pick<ResultEntry, 'name' | 'scenario'>): boolean {
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.*)$/.exec(name) ?? [];
  return rest?.startsWith(scenario) === true && /^(-\d+)?$/.test(rest.slice(scenario.length));
}

export interface TimeStyle {
  readonly now: Date;
  readonly language: string;
  readonly seconds: boolean;
}

/** Local time of a run: side bar and tabs are narrow, so a day is named only when it is another one. */
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

/** Times of runs beside each other, with seconds only where two would look alike. */
export function shortTimes(times: readonly Date[], style: Omit<TimeStyle, 'seconds'>): string[] {
  const short = times.map((time) => shortTime(time, { ...style, seconds: false }));
  const alike = (text: string): boolean => short.indexOf(text) !== short.lastIndexOf(text);
  return times.map((time, at) =>
    alike(short[at]!) ? shortTime(time, { ...style, seconds: true }) : short[at]!,
  );
}
