import { say } from '../../base/sentence';
import path from 'node:path';
import { countOf, sortedCounts } from '../../base/errorClass';
import { formatCount, formatLatencyUs } from '../../base/units';
import {
  agentReport,
  observedReport,
  repeatReport,
  stepNotes,
  type ReportTable,
} from '../../measure/report/reportTables';
import { callRows, sessionSentences } from '../../measure/show/callTable';
import type { StepProgress } from '../../measure/snapshot';
import {
  columnsOf,
  smallHead,
  entryRows,
  pushedRows,
  rowOfProgress,
  rowOfStep,
  trafficRows,
  type StepColumn,
  type StepRow,
} from '../../measure/show/stepColumns';
import type { StepSummary } from '../../measure/summary';
import { brokenWords, triedValues, valueWords } from '../../measure/show/searchSentence';
import type { SearchSummary } from '../../base/searchSummary';
import { otherReasons, verdictSentence } from '../../measure/show/verdictSentence';
import { panelStrings } from '../../messages/panelStrings';
import type { InterruptedRun, StoredRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { comparisonMarkdown } from './comparisonMarkdown';
import { loadWords, marksOf, recoveryWords } from '../runWords';
import { markdownText as plain } from './plainText';

const mostSteps = 40;
const mostEntries = 100;
const mostRecoveries = 5;

/** English in every language: it leaves the editor. Texts are escaped: a hostile one cannot put links or images there. */
export function summaryMarkdown(result: Result, page?: string, notCompared?: string): string {
  const { connections, recommendation, steps } = result;
  const shown = steps.slice(-mostSteps);
  const errors = sortedCounts(result.errors).map(
    ([name, count]) => `${formatCount(count)} ${plain(name, 60)}`,
  );
  const how = marksOf(result.scenario, result.target);
  const planned = recommendation?.planned ? [recommendation.planned.sentence] : [];
  const verdict = plain(verdictSentence(result));
  // Nobody shall read that nothing has changed before that the run has failed.
  const failedFirst = result.baseline !== undefined && result.verdict.status !== 'pass';
  const lines = [
    ...(failedFirst ? [`### ${verdict}`, ''] : []),
    // Of an invalid run it would say the verdict once more.
    ...(result.baseline && result.verdict.status !== 'invalid'
      ? [comparisonMarkdown(result.baseline, page === undefined ? {} : { report: page })]
      : []),
    `### SignalR Benchmark: ${plain(result.id)}`,
    '',
    ...(failedFirst ? [] : [`**${verdict}**`, '']),
    ...reasonLines(result),
    ...(notCompared ? [`⚪ Not compared with a baseline: ${plain(notCompared)}.`, ''] : []),
    `- target: ${plain(result.target.url)}`,
    `- load: ${plain(loadWords(result.scenario))}`,
    ...(how === '' ? [] : [`- how: ${how}`]),
    `- connected: ${formatCount(connections.connected)} of ${formatCount(connections.requested)}, ${formatCount(connections.dropped)} dropped${connections.reconnected > 0 ? `, ${formatCount(connections.reconnected)} opened again` : ''}${connections.notBack ? `, ${formatCount(connections.notBack)} not back` : ''}`,
    ...shown.flatMap(({ index, recoveries = [] }) =>
      recoveries.slice(0, mostRecoveries).map((one) => `- step ${index}: ${recoveryWords(one)}`),
    ),
    ...(errors.length === 0 ? [] : [`- errors: ${errors.join(', ')}`]),
    '',
    ...(result.search ? searchTable(result.search) : []),
    ...tableOf(shown.map(rowOfStep)),
    ...entryTable(shown),
    ...callTable(shown),
    ...pushedTable(shown),
    ...footOf(shown),
    ...[
      repeatReport(result.repeats, panelStrings, mostSteps),
      observedReport(result.observed, panelStrings, mostEntries),
      agentReport(result.agents ?? [], panelStrings, mostSteps),
    ].flatMap(reportTable),
    ...trafficTable(shown),
    ...(shown.length < steps.length
      ? ['', `${formatCount(steps.length - shown.length)} earlier steps left out.`]
      : []),
    '',
    ...(recommendation
      ? [
          `**${plain(recommendation.headline)}**`,
          '',
          ...[...planned, ...recommendation.reasons.slice(0, 20)].map(
            (reason) => `- ${plain(reason)}`,
          ),
        ]
      : [`No Units: ${plain(result.recommendationProblem ?? 'nothing valid was measured.')}`]),
    '',
    `signalr-bench ${plain(result.tool.version)}, Node ${plain(result.machine.node)}, ${result.machine.cores} cores, ${plain(result.startedAt)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function footOf(steps: readonly StepSummary[]): string[] {
  const rows = steps.flatMap(({ entries = [], ...step }) => [
    step,
    ...entries.map((entry) => ({ ...entry, index: step.index })),
  ]);
  const inWarmup = steps.reduce((sum, { warmupErrors = {} }) => sum + countOf(warmupErrors), 0);
  const ofWarmup = `${formatCount(inWarmup)} of the errors came in warm-ups, which are not measured.`;
  const notes = [...stepNotes(rows, panelStrings), ...(inWarmup === 0 ? [] : [ofWarmup])];
  return notes.flatMap((note) => ['', note]);
}

const mostReasons = 20;

function reasonLines(result: Result): string[] {
  const others = otherReasons(result).slice(0, mostReasons);
  return others.length === 0 ? [] : [...others.map((text) => `- ${plain(text)}`), ''];
}

function entryTable(steps: readonly (StepSummary | StepProgress)[]): string[] {
  const rows = steps.flatMap(entryRows).slice(-mostEntries);
  const columns = columnsOf('markdown', 'entries', rows);
  const cells = rows.map((row): Cells => [
    plain(row.name ?? '', 60),
    ...columns.map((column) => cellOf(column, row)),
  ]);
  const heads = ['use case', ...columns.map(smallHead)];
  return rows.length === 0 ? [] : ['', ...tableWith(heads, cells)];
}

/** Calls of sessions, and what became of these. */
function callTable(steps: readonly (StepSummary | StepProgress)[]): string[] {
  const lines = rowTable('calls', steps.flatMap(callRows));
  if (lines.length === 0) return [];
  const sentences = sessionSentences(steps, panelStrings);
  return [...lines, '', ...sentences.map((text) => `- ${plain(text)}`)];
}

/** What hubs sent on their own. */
const pushedTable = (steps: readonly (StepSummary | StepProgress)[]): string[] =>
  rowTable('pushed', pushedRows(steps));

function rowTable(kind: 'calls' | 'pushed', all: readonly StepRow[]): string[] {
  const rows = all.slice(-mostEntries);
  if (rows.length === 0) return [];
  const columns = columnsOf('markdown', kind, rows);
  const cells = rows.map((row) => columns.map((column) => cellOf(column, row, 60)));
  return ['', ...tableWith(columns.map(smallHead), cells)];
}

function reportTable({ heads, rows, notes, sentences }: ReportTable): string[] {
  const said = [...notes, ...sentences].map((text) => `- ${plain(text)}`);
  const cells = rows.map((row) => row.map((text) => plain(text, 120)));
  return [
    ...(rows.length === 0 ? [] : ['', ...tableWith(heads, cells)]),
    ...(said.length === 0 ? [] : ['', ...said]),
  ];
}

/** Bytes of each step; `in` is client to service, `out` service to client. */
function trafficTable(steps: readonly StepSummary[]): string[] {
  const rows = trafficRows(steps);
  const way = (name: string): Cells => [`${name}: payload`, 'on wire', 'MB/s'];
  return rows.length === 0 ? [] : ['', ...tableWith(['step', ...way('in'), ...way('out')], rows)];
}

/** A stored run as Markdown; without a result, what is left of it. */
export const storedMarkdown = (
  run: StoredRun & { readonly page?: string; readonly notCompared?: string },
): string =>
  run.kind === 'result'
    ? summaryMarkdown(run.result, run.page, run.notCompared)
    : interruptedMarkdown(path.basename(path.resolve(run.path)), run);

export function interruptedMarkdown(name: string, run: InterruptedRun): string {
  const rows = run.steps.slice(-mostSteps).map(rowOfProgress);
  const lines = [
    `### SignalR Benchmark: ${plain(name)}`,
    '',
    run.problem === undefined
      ? '**■ interrupted; the run did not reach its end, so it is not judged and gives no Units.**'
      : `**■ no result: ${plain(run.problem)}**`,
    ...(rows.length === 0 ? [] : ['', ...tableOf(rows)]),
    ...entryTable(run.steps.slice(-mostSteps)),
    ...callTable(run.steps.slice(-mostSteps)),
    ...pushedTable(run.steps.slice(-mostSteps)),
  ];
  return `${lines.join('\n')}\n`;
}

type Cells = readonly string[];

/** The values of a search, rising, with what came of them. */
function searchTable(search: SearchSummary): string[] {
  const us = (value: number | null): string => (value === null ? 'lost' : formatLatencyUs(value));
  const rows = triedValues(search)
    .slice(-mostSteps)
    .map(({ value, judged, held, invalid, shown }) => {
      const { p50, p99, lost, broken } = shown;
      const broke = broken ? `: ${say(brokenWords(broken))}` : '';
      const disturbed = invalid > 0 ? `; ${formatCount(invalid)} not offered in time` : '';
      const short = shown.tooShort ? '; too short to say' : '';
      return [
        plain(say(valueWords(search, value))),
        ...[us(p50), us(p99), formatCount(lost)],
        plain(`passed ${held} of ${judged}${broke}${disturbed}${short}`),
      ];
    });
  return [...tableWith(['value', 'p50', 'p99', 'lost', 'steps that held'], rows), ''];
}

function tableOf(rows: readonly StepRow[]): string[] {
  const columns = columnsOf('markdown', 'steps', rows);
  const cells = rows.map((row) => columns.map((column) => cellOf(column, row)));
  return tableWith(columns.map(smallHead), cells);
}

function cellOf({ unit, value: valueOf }: StepColumn, row: StepRow, most?: number): string {
  const value = valueOf(row);
  if (value === undefined) return '–';
  if (value === null) return 'lost';
  if (typeof value === 'string') return plain(value, most);
  return unit === 'latency'
    ? formatLatencyUs(value)
    : formatCount(value, unit === 'perSecond' ? 1 : 0);
}

function tableWith(heads: Cells, rows: readonly Cells[]): string[] {
  const row = (cells: Cells): string => `| ${cells.join(' | ')} |`;
  return [row(heads), row(heads.map(() => '---:')), ...rows.map(row)];
}
