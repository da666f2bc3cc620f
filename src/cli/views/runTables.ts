/** Tables of calls, pushed messages and searches. */
import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import type { StepSummary } from '../../measure/summary';
import { panelStrings } from '../../measure/show/panelStrings';
import { fixedBlank, type Line, textWidth, type Tone, wrapped, cut } from './line';
import { callRows, sessionParts, lastStepWithCalls } from '../../measure/show/callTable';
import { pushedRows } from '../../measure/show/stepColumns';
import type { StepProgress } from '../../measure/snapshot';
import { createRowTable } from './stepTable';
import {
  missedObjectiveNumbers,
  triedValues,
  intervalWidth,
  type TriedValue,
} from '../../measure/show/searchSentence';
import type { SearchKind, SearchStep, SearchSummary } from '../../base/searchSummary';
import { isEmptyTable, reports, type ReportedRun } from '../../measure/report/reportModel';

interface Shown {
  readonly most?: number;
  readonly errors?: boolean;
}

/** At most `most` calls of the last step that has some, with what became of its sessions; a mix by use case. */
export function callLines(
  steps: readonly (StepSummary | StepProgress)[],
  width: number,
  { most = 40, errors = true }: Shown = {},
): Line[] {
  const step = lastStepWithCalls(steps);
  if (step === undefined) return [];
  const { head, line } = createRowTable('calls', width, callRows(step));
  const columns = Math.max(40, Math.min(width, 100));
  const wrappedAt = (text: string): Line[] => wrapped(text, columns, '    ');
  const all = sessionParts(step, panelStrings);
  let room = most;
  const lines = all.flatMap(({ entry, calls, parts, errors: had }, at): Line[] => {
    const shown = calls.slice(0, Math.ceil(room / (all.length - at)));
    const hidden = calls.length - shown.length;
    room -= shown.length;
    return [
      ...(entry === undefined ? [] : [{ text: ` ${entry}`, tone: 'bold' as const }]),
      ...shown.map(line),
      ...(hidden > 0 ? [{ text: `  … ${formatCount(hidden)} more`, tone: 'dim' as const }] : []),
      ...wrappedAt(`  sessions${fixedBlank} ${parts}`),
      ...(errors ? had : [])
        .slice(0, most)
        .flatMap(([call, words]) => wrappedAt(`  errors of ${call}: ${words}`)),
    ];
  });
  return [
    ...(steps.length > 1 ? [{ text: `calls of step ${step.index}`, tone: 'bold' as const }] : []),
    ...[head, ...lines],
  ];
}

/** Messages pushed in the last step that had some. */
export function pushedLines(
  steps: readonly (StepSummary | StepProgress)[],
  width: number,
  most = 20,
): Line[] {
  const step = steps.filter(({ pushed = [] }) => pushed.length > 0).at(-1);
  if (step === undefined) return [];
  const rows = pushedRows([step]);
  const { head, line } = createRowTable('pushed', width, rows);
  const hidden = step.pushed!.length - Math.min(rows.length, most);
  return [
    ...[head, ...rows.slice(0, most).map(line)],
    ...(hidden > 0 ? [{ text: `  … ${formatCount(hidden)} more`, tone: 'dim' as const }] : []),
  ];
}

const heads: Readonly<Record<SearchKind, string>> = {
  senders: 'senders',
  rate: 'msg/s',
  connections: 'connections',
  messageSize: 'bytes',
};

const mostTried = 40;
const barWidth = 14;
const shortestUs = 100;

/** Every value tried, rising, with bars of p50 and p99; 80 columns. */
export function searchLines(search: SearchSummary): Line[] {
  const all = triedValues(search);
  if (all.length === 0) return [];
  const rows = around(all, search);
  const slowest = Math.max(shortestUs * 10, ...rows.map(({ shown }) => shown.p99 ?? 0));
  const scale = (us: number): number =>
    Math.max(0, Math.log(us / shortestUs) / Math.log(slowest / shortestUs));
  const hidden = all.length - rows.length;
  return [
    {
      text: ` ${heads[search.of].padStart(12)}     p50     p99    lost  latency, log scale`,
      tone: 'dim',
    },
    ...rows.map((row) => lineOf(row, search, scale)),
    ...(hidden > 0 ? [{ text: `   … ${formatCount(hidden)} more`, tone: 'dim' as const }] : []),
    { text: `${' '.repeat(38)}█ up to p50, ░ up to p99`, tone: 'dim' },
    ...widthLines(search),
  ];
}

function around(all: readonly TriedValue[], { low }: SearchSummary): readonly TriedValue[] {
  const at = Math.max(
    0,
    all.findIndex(({ value }) => value === low),
  );
  const from = Math.max(0, Math.min(at - mostTried / 2, all.length - mostTried));
  return all.slice(from, from + mostTried);
}

function lineOf(row: TriedValue, search: SearchSummary, scale: (us: number) => number): Line {
  const { value, shown, standing } = row;
  const { p50, p99, lost } = shown;
  const mark = value === search.low ? '▸' : ' ';
  const cells = [
    formatCount(value).padStart(12),
    latencyCell(p50).padStart(8),
    latencyCell(p99).padStart(8),
    formatCount(lost).padStart(8),
  ];
  const bar = barOf(p50, p99, scale).padEnd(barWidth);
  const tone = toneOf(standing, value === search.low);
  const text = `${mark}${cells.join('')}  ${bar}  ${wordsOf(row)}`;
  return { text: text.trimEnd(), ...(tone && { tone }) };
}

const latencyCell = (us: number | null): string => (us === null ? 'lost' : formatLatencyUs(us));

function barOf(p50: number | null, p99: number | null, scale: (us: number) => number): string {
  const cells = (us: number | null): number =>
    us === null ? barWidth : Math.min(barWidth, Math.round(scale(us) * barWidth));
  const solid = cells(p50);
  return '█'.repeat(solid) + '░'.repeat(Math.max(0, cells(p99) - solid));
}

function toneOf(standing: TriedValue['standing'], isLow: boolean): Tone | undefined {
  if (isLow) return 'bold';
  if (standing === 'missed') return 'bad';
  return standing === 'held' ? undefined : 'warn';
}

/** `passed, twice`; `p99 1.1 s > 1 s, twice`. */
function wordsOf({ judged, held, shown, standing }: TriedValue): string {
  if (held > 0 && held < judged) return `passed ${held} of ${judged} times`;
  if (standing === 'invalid') return 'not offered in time';
  if (standing === 'open') return shown.tooShort ? 'too short to say' : 'left open';
  const often = judged === 2 ? ', twice' : `, ${judged} times`;
  const times = judged === 1 ? '' : often;
  if (held > 0) return `passed${times}`;
  return shortWords(shown, times);
}

const mostWords = 25;

function shortWords({ broken }: SearchStep, times: string): string {
  if (broken === undefined) return `missed${times}`;
  const { metric, name, limit, value } = broken;
  const called = name ?? metric;
  const numbers = missedObjectiveNumbers(broken);
  const said =
    metric === 'backlog'
      ? ['fell ', ''].map((verb) => `${verb}${formatShare(value ?? limit)} behind`)
      : [
          ...(numbers ? [called, metric].map((which) => comparedWords(which, numbers)) : []),
          ...[called, metric].map((which) => `${which} missed`),
        ];
  const fitting = said.find((words) => textWidth(words + times) <= mostWords);
  return (fitting ?? 'missed') + times;
}

/** `p99 1.1 s > 1 s`; lost is beyond any limit. */
function comparedWords(
  which: string,
  { measured, limit, side }: NonNullable<ReturnType<typeof missedObjectiveNumbers>>,
): string {
  return `${which} ${measured ?? 'lost'} ${side === 'most' ? '>' : '<'} ${limit}`;
}

/** Where the interval is wider than asked for. */
function widthLines(search: SearchSummary): Line[] {
  const width = intervalWidth(search);
  if (
    width === undefined ||
    width <= search.precision ||
    (search.high ?? 0) - (search.low ?? 0) <= 1
  )
    return [];
  const why =
    search.ended === 'found' ? 'what lies between goes both ways' : 'more time narrows it';
  const text = ` interval ${formatShare(width)} wide, asked for ${formatShare(search.precision)}: ${why}`;
  return [{ text, tone: 'dim' }];
}

const mostRows = 40;
const leastText = 20;

/** A table with its notes; columns that do not fit are left out. */
export function reportLines(name: keyof typeof reports, run: ReportedRun, width: number): Line[] {
  const report = reports[name](run, panelStrings, mostRows);
  if (isEmptyTable(report)) return [];
  const { title, heads, rows, textColumns, notes, sentences } = report;
  const all = [heads, ...rows];
  const widest = heads.map((_, at) => Math.max(...all.map((row) => textWidth(row[at] ?? ''))));
  const tooWide = widest.reduce((sum, each) => sum + each + 2, 0) - width;
  const longest = Math.max(...textColumns.map((at) => widest[at]!));
  const widths = widest.map((each, at) =>
    textColumns.includes(at) && each === longest && tooWide > 0
      ? Math.max(Math.min(leastText, each), each - tooWide)
      : each,
  );
  let used = 0;
  const count = widths.filter((each) => (used += each + 2) <= width).length;
  const lineOf = (row: readonly string[]): string =>
    row
      .slice(0, count)
      .map((cell, at) => aligned(cell, widths[at]!, textColumns.includes(at)))
      .join('');
  const below = [...notes, ...sentences];
  return [
    { text: title, tone: 'bold' },
    ...(rows.length === 0 ? [] : [{ text: lineOf(heads), tone: 'dim' as const }]),
    ...rows.map((row) => ({ text: lineOf(row) })),
    ...below.flatMap((text) => wrapped(`  ${text}`, width, '    ')),
  ];
}

/** Texts are left-aligned and lose their middle: machine names differ at the end. */
function aligned(cell: string, width: number, isText: boolean): string {
  const wide = textWidth(cell);
  const half = Math.floor(width / 2);
  const fitting = wide <= width ? cell : `${cut(cell, half)}…${cell.slice(half + 1 - width)}`;
  const blanks = ' '.repeat(Math.max(0, width - textWidth(fitting)));
  return `  ${isText ? fitting + blanks : blanks + fitting}`;
}
