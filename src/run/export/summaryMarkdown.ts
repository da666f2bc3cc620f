import { say } from '../../base/sentence';
import path from 'node:path';
import { formatCount } from '../../base/units';
import {
  isEmpty,
  reports,
  type ReportedRun,
  type ReportTable,
} from '../../measure/report/reportModel';
import { latencyOrLost } from '../../measure/show/chartWords';
import { panelStrings } from '../../measure/show/panelStrings';
import { brokenWords, triedValues, valueWords } from '../../measure/show/searchSentence';
import type { SearchSummary } from '../../base/searchSummary';
import { otherReasons, verdictSentence } from '../../measure/show/verdictSentence';
import { reportedPart, type InterruptedRun, type StoredRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { comparisonMarkdown } from './comparisonMarkdown';
import { loadWords, marksOf } from '../runWords';
import { markdownText as plain } from './plainText';

const mostRows = 100;

/** English in every language: it leaves the editor. Texts are escaped: a hostile one cannot put links or images there. */
export function summaryMarkdown(result: Result, page?: string, notCompared?: string): string {
  const { connections, recommendation } = result;
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
  const others = otherReasons(result).slice(0, mostReasons);
  return others.length === 0 ? [] : [...others.map((text) => `- ${plain(text)}`), ''];
}

const names = Object.keys(reports) as (keyof typeof reports)[];

function reportLines(run: ReportedRun): string[] {
  const tables = names.map((name) => reports[name](run, panelStrings, mostRows));
  return tables.filter((each) => !isEmpty(each)).flatMap(tableLines);
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

/** A stored run as Markdown; without a result, what is left of it. */
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
    ...reportLines(reportedPart(run)),
  ];
  return `${lines.join('\n')}\n`;
}

type Cells = readonly string[];

/** The values of a search, rising, with what came of them. */
function searchTable(search: SearchSummary): string[] {
  const rows = triedValues(search)
    .slice(-mostRows)
    .map(({ value, judged, held, invalid, shown }) => {
      const { p50, p99, lost, broken } = shown;
      const broke = broken ? `: ${say(brokenWords(broken))}` : '';
      const disturbed = invalid > 0 ? `; ${formatCount(invalid)} not offered in time` : '';
      const short = shown.tooShort ? '; too short to say' : '';
      return [
        plain(say(valueWords(search, value))),
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
