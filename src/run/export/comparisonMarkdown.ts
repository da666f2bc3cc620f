/** The comment on a pull request: how a run stands to its baseline. English in every language, as all reports are. */
import path from 'node:path';
import { say } from '../../base/sentence';
import { formatCount, formatShare, formatUtcTime } from '../../base/units';
import type {
  ComparedNumber,
  ComparedRun,
  ComparedStep,
  Comparison,
} from '../../measure/compare/comparison';
import {
  comparedRows,
  type ComparedRow,
  changeWords,
  comparedLatency,
  decidingStep,
  decisiveOf,
  intervalWords,
  isSureOfLess,
  longerWords,
  otherReasons,
  percentileName,
  stateOf,
  unshownOf,
  type ComparisonState,
} from '../../measure/compare/comparisonWords';
import { markdownText } from './plainText';

interface CommentOptions {
  /** File of the report that stands beside the comment. */
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
const mostReasons = 10;

/** One sentence as heading, its interval, and a table; other steps and what differs can be opened below. */
export function comparisonMarkdown(comparison: Comparison, options: CommentOptions = {}): string {
  const { a, b, steps } = comparison;
  const decided = decidingStep(comparison);
  const others = steps.filter((step) => step !== decided).slice(-mostSteps);
  const left = otherReasons(comparison);
  const lines = [
    `### ${marks[stateOf(comparison)]} ${headline(comparison)}`,
    '',
    ...(decided ? [factsOf(decided, comparison), '', ...tableOf(decided), ''] : []),
    ...left.slice(0, mostReasons).map((reason) => `- ${plain(reason)}`),
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
  const name = plain(b.name);
  if (verdict === 'unlike')
    return `${name} cannot be compared: ${plain(reasons[0] ?? 'nothing was measured')}`;
  const unshown = unshownOf(comparison);
  if (unshown) {
    const { key, percentile } = unshown;
    const { a: before, b: now, interval } = percentile;
    const beyond = isSureOfLess(percentile) ? ' beyond the tolerance' : '';
    return `no change of ${name}${beyond} could be shown: ${percentileName(key)} ${comparedLatency(now)}, was ${comparedLatency(before)} (${intervalWords(interval!)}); ${say(longerWords(comparison.tolerance))}`;
  }
  const loss = steps.filter(({ lostShare }) => lostShare.change === verdict).at(-1);
  if (verdict !== 'same' && loss) {
    const { lost, lostShare } = loss;
    const now = `${formatCount(lost.b)} deliveries (${formatShare(lostShare.b)})`;
    return `${name} loses ${verdict === 'worse' ? 'more' : 'less'}: ${now}, was ${formatCount(lost.a)}`;
  }
  const decisive = decisiveOf(steps, verdict);
  const word = { worse: 'slower', better: 'faster', same: 'as fast as before' }[verdict];
  if (decisive === undefined) return `${name} is ${word}`;
  const { key, percentile } = decisive;
  const { a: before, b: now, ratio } = percentile;
  const change = ratio === null ? '' : ` (${changeWords(ratio)})`;
  return `${name} is ${word}: ${percentileName(key)} ${comparedLatency(now)}, was ${comparedLatency(before)}${change}`;
}

/** `Step 3, 1,900 senders: p99 +28 … +52 % with 95 % confidence; tolerance 10 %. Nothing lost in either run.` */
function factsOf(step: ComparedStep, comparison: Comparison): string {
  const { verdict, confidence, reasons, tolerance } = comparison;
  const { index, lost, senders, latency } = step;
  const decisive =
    unshownOf(comparison) ?? (verdict === 'unlike' ? undefined : decisiveOf([step], verdict));
  const key = decisive?.key ?? 'p99';
  const interval = latency[key]?.interval;
  const chance = interval
    ? `${percentileName(key)} ${intervalWords(interval)} with ${formatShare(confidence)} confidence; `
    : '';
  // Other steps may have lost something, and those of one run alone are not looked at.
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
    ...comparedRows(step).map((each) => row(cellsOf(each))),
  ];
}

function cellsOf({ name, a, b, change, interval, verdict }: ComparedRow): string[] {
  const isChanged = (verdict === 'worse' || verdict === 'better') && change !== '';
  return [plain(name), a, b, isChanged ? `**${change}**` : change, interval];
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
      .map(({ what, a, b }) => `- ${plain(what)}: ${plain(a, 80)} → ${plain(b, 80)}`),
    ...(more > 0 ? [`- and ${formatCount(more)} more`] : []),
  ];
}

/** `` Report: `chat-room.html` · baseline 2026-11-21T14-02-11-chat-room of 2026-11-21 14:02 UTC, tool 0.2.0 ``. */
function footOf(a: ComparedRun, b: ComparedRun, { report }: CommentOptions): string {
  const file =
    report === undefined ? '' : `Report: \`${path.basename(report).replace(/[`\r\n]/g, '')}\` · `;
  const tools = a.tool === b.tool ? a.tool : `${a.tool}, now ${b.tool}`;
  return `${file}baseline ${plain(a.id)} of ${plain(formatUtcTime(a.startedAt))}, tool ${plain(tools)}`;
}

/** One line without Markdown or HTML of its own. */
const plain = (text: string, most = 300): string => markdownText(text, most);
