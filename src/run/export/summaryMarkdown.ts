import { say } from '../../base/sentence';
import path from 'node:path';
import { formatCount, formatShare, formatUtcTime } from '../../base/units';
import {
  isEmptyTable,
  reports,
  type ReportedRun,
  type ReportTable,
} from '../../measure/report/reportModel';
import { latencyOrLost } from '../../measure/show/chartWords';
import { panelStrings } from '../../measure/show/panelStrings';
import {
  missedObjectiveWords,
  triedValues,
  searchedValueWords,
} from '../../measure/show/searchSentence';
import type { SearchSummary } from '../../base/searchSummary';
import { remainingReasons, verdictSentence } from '../../measure/show/verdictSentence';
import { toReportedRun, type InterruptedRun, type StoredRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { describeLoad, describeUnusual } from '../runWords';
import { escapeMarkdown as plain, escapeMarkdown } from './plainText';
import type {
  ComparedNumber,
  ComparedRun,
  ComparedStep,
  Comparison,
} from '../../measure/compare/comparison';
import {
  changeWords,
  latencyOrLostWords,
  comparisonRows,
  type ComparisonRow,
  headlineStep,
  decisivePercentile,
  intervalWords,
  isRiseCertain,
  measureLongerWords,
  remainingComparisonReasons as otherDifferences,
  percentileName,
  comparisonState,
  possibleRegression,
  type ComparisonState,
} from '../../measure/compare/comparisonWords';

const mostRows = 100;

/** English always: it leaves the editor. Texts are escaped. */
export function summaryMarkdown(result: Result, page?: string, notCompared?: string): string {
  const { connections, recommendation } = result;
  const how = describeUnusual(result.scenario, result.target);
  const planned = recommendation?.planned ? [recommendation.planned.sentence] : [];
  const verdict = plain(verdictSentence(result));
  // "Nothing changed" must not come before "failed".
  const failedFirst = result.baseline !== undefined && result.verdict.status !== 'pass';
  const lines = [
    ...(failedFirst ? [`### ${verdict}`, ''] : []),
    // It would repeat the verdict of an invalid run.
    ...(result.baseline && result.verdict.status !== 'invalid'
      ? [comparisonMarkdown(result.baseline, page === undefined ? {} : { report: page })]
      : []),
    `### SignalR Benchmark: ${plain(result.id)}`,
    '',
    ...(failedFirst ? [] : [`**${verdict}**`, '']),
    ...reasonLines(result),
    ...(notCompared ? [`⚪ Not compared with a baseline: ${plain(notCompared)}.`, ''] : []),
    `- target: ${plain(result.target.url)}`,
    `- load: ${plain(describeLoad(result.scenario))}`,
    ...(how === '' ? [] : [`- how: ${how}`]),
    `- connected: ${formatCount(connections.connected)} of ${formatCount(connections.requested)}, ${formatCount(connections.dropped)} dropped${connections.reconnected > 0 ? `, ${formatCount(connections.reconnected)} opened again` : ''}${connections.notBack ? `, ${formatCount(connections.notBack)} not back` : ''}`,
    ...(result.search ? searchTable(result.search) : []),
    ...reportLines(result),
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

const mostReasons = 20;

function reasonLines(result: Result): string[] {
  const others = remainingReasons(result).slice(0, mostReasons);
  return others.length === 0 ? [] : [...others.map((text) => `- ${plain(text)}`), ''];
}

const names = Object.keys(reports) as (keyof typeof reports)[];

function reportLines(run: ReportedRun): string[] {
  const tables = names.map((name) => reports[name](run, panelStrings, mostRows));
  return tables.filter((each) => !isEmptyTable(each)).flatMap(tableLines);
}

function tableLines({ title, heads, rows, textColumns, notes, sentences }: ReportTable): string[] {
  const said = [...notes, ...sentences].map((text) => `- ${plain(text)}`);
  const cells = rows.map((row) => row.map((text) => plain(text, 120)));
  return [
    ...['', `**${title}**`, ''],
    ...(rows.length === 0 ? [] : tableWith(heads, cells, textColumns)),
    ...(said.length === 0 ? [] : ['', ...said]),
  ];
}

export const storedMarkdown = (
  run: StoredRun & { readonly page?: string; readonly notCompared?: string },
): string =>
  run.kind === 'result'
    ? summaryMarkdown(run.result, run.page, run.notCompared)
    : interruptedMarkdown(path.basename(path.resolve(run.path)), run);

export function interruptedMarkdown(name: string, run: InterruptedRun): string {
  const lines = [
    `### SignalR Benchmark: ${plain(name)}`,
    '',
    run.problem === undefined
      ? '**■ interrupted; the run did not reach its end, so it is not judged and gives no Units.**'
      : `**■ no result: ${plain(run.problem)}**`,
    ...reportLines(toReportedRun(run)),
  ];
  return `${lines.join('\n')}\n`;
}

type Cells = readonly string[];

function searchTable(search: SearchSummary): string[] {
  const rows = triedValues(search)
    .slice(-mostRows)
    .map(({ value, judged, held, invalid, shown }) => {
      const { p50, p99, lost, broken } = shown;
      const broke = broken ? `: ${say(missedObjectiveWords(broken))}` : '';
      const disturbed = invalid > 0 ? `; ${formatCount(invalid)} not offered in time` : '';
      const short = shown.tooShort ? '; too short to say' : '';
      return [
        plain(say(searchedValueWords(search, value))),
        ...[p50, p99].map((us) => latencyOrLost(us, panelStrings)),
        formatCount(lost),
        plain(`passed ${held} of ${judged}${broke}${disturbed}${short}`),
      ];
    });
  return ['', ...tableWith(['value', 'p50', 'p99', 'lost', 'steps that held'], rows, [0, 4])];
}

function tableWith(heads: Cells, rows: readonly Cells[], textColumns: readonly number[]): string[] {
  const row = (cells: Cells): string => `| ${cells.join(' | ')} |`;
  const sides = heads.map((_, at) => (textColumns.includes(at) ? '---' : '---:'));
  return [row(heads), row(sides), ...rows.map(row)];
}

interface CommentOptions {
  readonly report?: string;
}

const marks: Readonly<Record<ComparisonState, string>> = {
  worse: '❌',
  better: '✅',
  same: '✅',
  unshown: '⚪',
  unlike: '⚠️',
};
const mostSteps = 20;
const mostDifferences = 10;
const mostComparedReasons = 10;

/** Heading, interval and table; other steps and differences folded. */
export function comparisonMarkdown(comparison: Comparison, options: CommentOptions = {}): string {
  const { a, b, steps } = comparison;
  const decided = headlineStep(comparison);
  const others = steps.filter((step) => step !== decided).slice(-mostSteps);
  const left = otherDifferences(comparison);
  const lines = [
    `### ${marks[comparisonState(comparison)]} ${headline(comparison)}`,
    '',
    ...(decided ? [factsOf(decided, comparison), '', ...tableOf(decided), ''] : []),
    ...left.slice(0, mostComparedReasons).map((reason) => `- ${comparedText(reason)}`),
    ...(left.length > 0 ? [''] : []),
    ...folded(
      'Other steps',
      others.flatMap((step) => [...tableOf(step), '']),
    ),
    ...folded('What differs', differencesOf(comparison)),
    footOf(a, b, options),
  ];
  return `${lines.join('\n')}\n`;
}

/** `chat-room is slower: p99 57 ms, was 41 ms (+39 %)`. */
function headline(comparison: Comparison): string {
  const { b, reasons, steps, verdict } = comparison;
  const name = comparedText(b.name);
  if (verdict === 'unlike')
    return `${name} cannot be compared: ${comparedText(reasons[0] ?? 'nothing was measured')}`;
  const unshown = possibleRegression(comparison);
  if (unshown) {
    const { key, percentile } = unshown;
    const { a: before, b: now, interval } = percentile;
    const beyond = isRiseCertain(percentile) ? ' beyond the tolerance' : '';
    return `no change of ${name}${beyond} could be shown: ${percentileName(key)} ${latencyOrLostWords(now)}, was ${latencyOrLostWords(before)} (${intervalWords(interval!)}); ${say(measureLongerWords(comparison.tolerance))}`;
  }
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (verdict !== 'same' && loss) {
    const { lost, lostShare } = loss;
    const now = `${formatCount(lost.b)} deliveries (${formatShare(lostShare.b)})`;
    return `${name} loses ${verdict === 'worse' ? 'more' : 'less'}: ${now}, was ${formatCount(lost.a)}`;
  }
  const decisive = decisivePercentile(steps, verdict);
  const word = { worse: 'slower', better: 'faster', same: 'as fast as before' }[verdict];
  if (decisive === undefined) return `${name} is ${word}`;
  const { key, percentile } = decisive;
  const { a: before, b: now, ratio } = percentile;
  const change = ratio === null ? '' : ` (${changeWords(ratio)})`;
  return `${name} is ${word}: ${percentileName(key)} ${latencyOrLostWords(now)}, was ${latencyOrLostWords(before)}${change}`;
}

/** `Step 3, 1,900 senders: p99 +28 … +52 % with 95 % confidence; tolerance 10 %. Nothing lost in either run.` */
function factsOf(step: ComparedStep, comparison: Comparison): string {
  const { verdict, confidence, reasons, tolerance } = comparison;
  const { index, lost, senders, latency } = step;
  const decisive =
    possibleRegression(comparison) ??
    (verdict === 'unlike' ? undefined : decisivePercentile([step], verdict));
  const key = decisive?.key ?? 'p99';
  const interval = latency[key]?.interval;
  const chance = interval
    ? `${percentileName(key)} ${intervalWords(interval)} with ${formatShare(confidence)} confidence; `
    : '';
  // Other steps may have losses, and steps of one run alone are not compared.
  const isAll = reasons.length === 0 && comparison.steps.every((each) => isZero(each.lost));
  const loss = isZero(lost)
    ? `Nothing lost in ${isAll ? 'either run' : 'this step'}.`
    : `Lost: ${formatCount(lost.b)}, was ${formatCount(lost.a)}.`;
  const place = `Step ${formatCount(index)}, ${formatCount(senders)} ${senders === 1 ? 'sender' : 'senders'}`;
  return `${place}: ${chance}tolerance ${formatShare(tolerance)}. ${loss}`;
}

const isZero = ({ a, b }: ComparedNumber): boolean => a + b === 0;

function tableOf(step: ComparedStep): string[] {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [
    row([`step ${formatCount(step.index)}`, 'baseline', 'now', 'change', '95 % interval']),
    row(['---', '---:', '---:', '---:', '---:']),
    ...comparisonRows(step).map((each) => row(cellsOf(each))),
  ];
}

function cellsOf({ name, a, b, change, interval, verdict }: ComparisonRow): string[] {
  const isChanged = (verdict === 'worse' || verdict === 'better') && change !== '';
  return [comparedText(name), a, b, isChanged ? `**${change}**` : change, interval];
}

function folded(summary: string, lines: readonly string[]): string[] {
  if (lines.length === 0) return [];
  return [`<details><summary>${summary}</summary>`, '', ...lines, '', '</details>', ''];
}

function differencesOf({ differences }: Comparison): string[] {
  const more = differences.length - mostDifferences;
  return [
    ...differences
      .slice(0, mostDifferences)
      .map(
        ({ what, a, b }) =>
          `- ${comparedText(what)}: ${comparedText(a, 80)} → ${comparedText(b, 80)}`,
      ),
    ...(more > 0 ? [`- and ${formatCount(more)} more`] : []),
  ];
}

/** `` Report: `chat-room.html` · baseline 2026-11-21T14-02-11-chat-room of 2026-11-21 14:02 UTC, tool 0.2.0 ``. */
function footOf(a: ComparedRun, b: ComparedRun, { report }: CommentOptions): string {
  const file =
    report === undefined ? '' : `Report: \`${path.basename(report).replace(/[`\r\n]/g, '')}\` · `;
  const tools = a.tool === b.tool ? a.tool : `${a.tool}, now ${b.tool}`;
  return `${file}baseline ${comparedText(a.id)} of ${comparedText(formatUtcTime(a.startedAt))}, tool ${comparedText(tools)}`;
}

const comparedText = (text: string, most = 300): string => escapeMarkdown(text, most);
