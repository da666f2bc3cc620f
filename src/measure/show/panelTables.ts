import { errorClasses, sortErrorCounts, type ErrorCounts } from '../../base/errorClass';
import { fill } from '../../base/text';
import { latencyMetrics, latencyShare, summaryKeys } from '../../base/objectives/percentile';
import { formatCount, formatShare } from '../../base/units';
import type { SearchKind } from '../../base/searchSummary';
import { shownPercentileUs, type LatencySummary } from '../latencySummary';
import type { Snapshot } from '../snapshot';
import type { GeneratorHealth } from '../summary';
import { latencyOrDash, percentWords, timeLabel, valueWords } from './chartWords';
import type { PanelStrings } from './panelStrings';
import {
  visibleColumns,
  columnTextName,
  tooFewMark,
  type RowKind,
  type StepColumn,
  type StepRow,
} from './stepColumns';
import {
  readChartColumns as pointsOf,
  type SeriesSpec,
  type SeriesText,
  type TimeChartSpec,
} from './timeSeries';

type Texts<Name extends string> = Readonly<Record<Name, string>>;

/** Texts; those of `textColumns` are set from the left, the others from the right. */
export interface TextTable {
  readonly heads: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly textColumns: readonly number[];
}

export function rowTable(
  kind: RowKind,
  rows: readonly StepRow[],
  texts: PanelStrings,
  most: number,
): TextTable {
  const columns = visibleColumns('panel', kind, rows);
  return {
    heads: columns.map(({ id, head }) => texts[columnTextName(id)] ?? head),
    rows: rows.slice(-most).map((row) => columns.map((column) => cellOf(column, row, texts))),
    textColumns: columns.flatMap(({ unit }, at) =>
      unit === 'verdict' || unit === 'word' ? [at] : [],
    ),
  };
}

const longestName = 60;

function cellOf({ unit, value: valueOf }: StepColumn, row: StepRow, texts: PanelStrings): string {
  const value = valueOf(row);
  if (value === undefined || value === tooFewMark) return texts.noValue;
  if (value === null) return texts.isLost;
  if (typeof value === 'string')
    return unit === 'verdict' ? verdictWord(value, texts) : value.slice(0, longestName);
  return valueWords(unit === 'latency' || unit === 'perSecond' ? unit : 'count', value);
}

function verdictWord(status: string, texts: PanelStrings): string {
  const words = {
    pass: texts.verdictPass,
    fail: texts.verdictFail,
    invalid: texts.verdictInvalid,
    incomplete: texts.verdictIncomplete,
    running: texts.verdictRunning,
  };
  return known(words, status) ?? status;
}

/** Names of a result may be those that every object has. */
const known = (texts: Readonly<Record<string, string>>, name: string): string | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined;

const longestExample = 300;

export function errorTable(
  errors: ErrorCounts,
  texts: PanelStrings,
  most: number,
  exampleOf: (name: string) => string | undefined,
): TextTable {
  const { errorClass, count: counted, meaning, example, otherError } = texts;
  const counts = sortErrorCounts(errors).slice(0, most);
  return {
    heads: [errorClass, counted, meaning, example],
    rows: counts.map(([name, count]) => {
      const said = (exampleOf(name) ?? '').slice(0, longestExample);
      return [name, formatCount(count), known(errorClasses, name) ?? otherError, said];
    }),
    textColumns: [0, 2, 3],
  };
}

export function generatorTable(
  health: GeneratorHealth | undefined,
  texts: PanelStrings,
): TextTable {
  const dash = texts.noValue;
  const share = (value: number | undefined): string =>
    value === undefined ? dash : formatShare(value);
  const rows = [
    [texts.cpuShare, share(health?.cpuShare)],
    [texts.cpuPerMessage, latencyOrDash(health?.cpuUsPerMessage || undefined, dash)],
    // Nothing measured: a worker that sends all the time sets no timer that could be late.
    [texts.loopDelay, latencyOrDash(health?.loopDelayP99Us || undefined, dash)],
    [texts.slip, latencyOrDash(health?.slipP99Us, dash)],
    [texts.slipMax, latencyOrDash(health?.slipMaxUs, dash)],
    [texts.readGapMax, latencyOrDash(health?.readGapMaxUs, dash)],
    [texts.gcShare, share(health?.gcShare)],
    [texts.keptSchedule, health ? (health.valid ? texts.yes : texts.no) : dash],
  ];
  return { heads: [], rows, textColumns: [0] };
}

export function spectrumTable(
  due: LatencySummary,
  sent: LatencySummary | undefined,
  texts: Texts<'share' | 'fromIntended' | 'fromSend' | 'noValue'>,
): TextTable {
  const summaries = sent === undefined ? [due] : [due, sent];
  return {
    heads: [texts.share, texts.fromIntended, texts.fromSend].slice(0, 1 + summaries.length),
    rows: latencyMetrics.map((metric) => [
      metric === 'max' ? 'max' : percentWords(latencyShare[metric]),
      ...summaries.map((of) =>
        latencyOrDash(shownPercentileUs(of, summaryKeys[metric]), texts.noValue),
      ),
    ]),
    textColumns: [0],
  };
}

export const seriesLabel = ({ label }: SeriesSpec, texts: Texts<SeriesText>): string =>
  typeof label === 'string' ? label : texts[label.key];

const mostPoints = 120;

/** The points of a chart over time; `summed` says so where a row stands for several seconds. */
export function chartTable(
  spec: TimeChartSpec,
  snapshots: readonly Snapshot[],
  texts: Texts<SeriesText | 'time' | 'noValue' | 'everySeconds'>,
): TextTable & { readonly summed: string | undefined } {
  const { seconds, lines, perPoint } = pointsOf(spec, snapshots, mostPoints);
  const words = (value: number | null): string =>
    value === null ? texts.noValue : valueWords(spec.unit, value);
  const rows = seconds
    .map((second, at) => ({ second, values: lines.map((line) => line[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null))
    .map(({ second, values }) => [timeLabel(second), ...values.map(words)]);
  // Of a long run not each second has a snapshot, so these are not counted.
  const gapS = (seconds.at(-1)! - seconds[0]!) / Math.max(1, seconds.length - 1);
  return {
    heads: [texts.time, ...spec.series.map((series) => seriesLabel(series, texts))],
    rows,
    textColumns: [],
    summed: perPoint > 1 ? fill(texts.everySeconds, formatCount(gapS)) : undefined,
  };
}

export const searchKindTexts = {
  senders: 'searchSenders',
  rate: 'searchRate',
  connections: 'searchConnections',
  messageSize: 'searchBytes',
} as const satisfies Readonly<Record<SearchKind, string>>;
