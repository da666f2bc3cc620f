import { formatCount, formatLatencyUs, formatShare } from '../../base/units';
import {
  brokenNumbers,
  triedValues,
  widthOf,
  type TriedValue,
} from '../../measure/show/searchSentence';
import type { SearchKind, SearchStep, SearchSummary } from '../../search/searchSummary';
import { textWidth, type Line, type Tone } from './line';

const heads: Readonly<Record<SearchKind, string>> = {
  senders: 'senders',
  rate: 'msg/s',
  connections: 'connections',
  messageSize: 'bytes',
};

const mostRows = 40;
const barWidth = 14;
/** Bars begin here: what is faster than that makes no difference to anybody. */
const shortestUs = 100;

/** Every value that was tried, rising, with a bar for its p50 and p99; 80 columns. */
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

/** Of very many those next to the limit. */
function around(all: readonly TriedValue[], { low }: SearchSummary): readonly TriedValue[] {
  const at = Math.max(
    0,
    all.findIndex(({ value }) => value === low),
  );
  const from = Math.max(0, Math.min(at - mostRows / 2, all.length - mostRows));
  return all.slice(from, from + mostRows);
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

/** `held, twice`; `p99 1.1 s > 1 s, twice`. */
function wordsOf({ judged, held, shown, standing }: TriedValue): string {
  if (held > 0 && held < judged) return `held ${held} of ${judged} times`;
  if (standing === 'invalid') return 'not offered in time';
  const often = judged === 2 ? ', twice' : `, ${judged} times`;
  const times = judged === 1 ? '' : often;
  if (held > 0) return `held${times}`;
  return shortWords(shown, times);
}

/** What is left of 80 columns. */
const mostWords = 25;

/** What was missed, as far as there is room for it. */
function shortWords({ broken }: SearchStep, times: string): string {
  if (broken === undefined) return `missed${times}`;
  const { metric, name, limit, value } = broken;
  const called = name ?? metric;
  const numbers = brokenNumbers(broken);
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

/** `p99 1.1 s > 1 s`; what was lost is beyond any limit. */
function comparedWords(
  which: string,
  { measured, limit, side }: NonNullable<ReturnType<typeof brokenNumbers>>,
): string {
  return `${which} ${measured ?? 'lost'} ${side === 'most' ? '>' : '<'} ${limit}`;
}

/** Where the interval is wider than was asked. */
function widthLines(search: SearchSummary): Line[] {
  const width = widthOf(search);
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
