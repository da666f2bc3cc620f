import { formatCount, formatLatencyUs } from '../../base/units';
import type { StepProgress } from '../../measure/show/snapshot';
import { entryRows, rowOfProgress, rowOfStep, type StepRow } from '../../measure/show/stepRows';
import type { StepSummary, VerdictStatus } from '../../measure/show/summary';
import { verdictSentence } from '../../measure/judge/verdictSentence';
import type { InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { connectionLines, lifeLines, membershipLines, targetLines } from './connectionLines';
import { errorLines } from './errorWords';
import { plannedLines } from './estimateText';
import { fixedBlank, wrap, type Line, type Tone } from './line';
import { connectingText } from './runView';
import { loadWords, marksOf, plural } from '../../session/runWords';
import { spectrumLines } from './spectrum';
import {
  entryTable,
  lostLines,
  stepTable,
  tailLines,
  warmupLines,
  type StepTable,
} from './stepTable';
import { trafficLines } from './trafficTable';

const tones: Readonly<Record<VerdictStatus, Tone>> = {
  pass: 'good',
  fail: 'bad',
  invalid: 'warn',
  incomplete: 'warn',
};

/** Steps shown of a long run; the file has them all. */
const mostRows = 40;

/**
 * The last screen of a run, also shown from a stored one: steps, spectrum, verdict with its reasons,
 * errors, recommendation with its reasons.
 *
 * @param width columns to write for
 * @param folder where the result is; absent when it could not be written
 */
export function finalScreen(result: Result, width: number, folder?: string): Line[] {
  const columns = Math.max(40, Math.min(width, 100));
  return [
    ...titleOf(result, columns),
    blank,
    ...stepsOf(result.steps.map(rowOfStep), width),
    ...entriesOf(result.steps, width),
    ...spaced(trafficLines(result.steps.slice(-mostRows))),
    ...spectrumOf(result, columns),
    ...verdictLines(result, columns),
    blank,
    ...spaced(errorLines(result.errors, result.errorExamples, columns)),
    ...recommendationLines(result, columns),
    ...(folder === undefined ? [] : [{ text: `result    ${folder}` }]),
  ];
}

const blank: Line = { text: '' };

const spaced = (lines: readonly Line[]): Line[] => (lines.length === 0 ? [] : [...lines, blank]);

function titleOf(result: Result, width: number): Line[] {
  const { requested, connected, failed, dropped, reconnected, connectUs } = result.connections;
  const counts = [
    `${formatCount(connected)} of ${formatCount(requested)}`,
    ...(connected > 0
      ? [`p50 ${formatLatencyUs(connectUs.p50)}`, `p99 ${formatLatencyUs(connectUs.p99)}`]
      : []),
    ...(failed > 0 ? [`${formatCount(failed)} failed`] : []),
    ...(dropped > 0 ? [`${formatCount(dropped)} dropped`] : []),
    ...(reconnected > 0 ? [`${formatCount(reconnected)} reconnected`] : []),
  ];
  return [
    // The name of the hub stays in one piece.
    ...wrap(
      `${result.id} → ${result.target.url.replace('(hub ', `(hub${fixedBlank}`)}`,
      width,
      '  ',
    ).map((text) => ({
      text,
      tone: 'bold' as const,
    })),
    ...[loadWords(result.scenario), marksOf(result.scenario, result.target)]
      .filter((words) => words !== '')
      .flatMap((words) => wrap(words, width).map((text) => ({ text }))),
    { text: `connected ${counts.join('   ')}` },
    ...connectionLines(result.connections, width),
    ...targetLines(result.connections, width),
    ...lifeLines(result.connections, result.steps, width),
    ...membershipLines(result.steps, width),
  ];
}

/** The last steps with what explains them; empty without any. */
function stepsOf(all: readonly StepRow[], width: number): Line[] {
  const rows = all.slice(-mostRows);
  return rows.length === 0
    ? []
    : [
        ...tableLines(stepTable(width), all),
        ...tailLines(rows),
        ...lostLines(rows),
        ...warmupLines(rows),
        blank,
      ];
}

/** The use cases of a mix, step by step. */
function entriesOf(steps: readonly (StepSummary | StepProgress)[], width: number): Line[] {
  const rows = steps.flatMap(entryRows);
  return rows.length === 0 ? [] : [...tableLines(entryTable(width), rows), blank];
}

function tableLines({ head, line }: StepTable, rows: readonly StepRow[]): Line[] {
  const hidden = rows.length - mostRows;
  const earlier: Line = { text: `      … ${formatCount(hidden)} earlier`, tone: 'dim' };
  return [head, ...(hidden > 0 ? [earlier] : []), ...rows.slice(-mostRows).map(line)];
}

function spectrumOf({ steps, scenario }: Result, width: number): Line[] {
  const step = steps.filter(({ latencyUs }) => latencyUs.count > 0).at(-1);
  return step ? spaced(spectrumLines(step, scenario.slo, width)) : [];
}

function verdictLines(result: Result, width: number): Line[] {
  const { status, reasons } = result.verdict;
  const tone = tones[status];
  const sentence = wrap(verdictSentence(result), width, '  ').map((text) => ({ text, tone }));
  // The sentence holds the first reason already.
  const others = reasons
    .slice(1, 11)
    .flatMap(({ message }) => wrap(`  - ${message}`, width, '    '));
  const unsaid = reasons.length - 11;
  return [
    ...sentence,
    ...others.map((text) => ({ text })),
    ...(unsaid > 0 ? [{ text: `  - and ${formatCount(unsaid)} more in the result` }] : []),
    ...countLines(result, width),
  ];
}

/** Counts that should be zero, said only when they are not. */
function countLines({ steps, connections }: Result, width: number): Line[] {
  const sum = (key: 'duplicated' | 'outOfOrder' | 'late' | 'extra'): number =>
    steps.reduce((total, step) => total + step[key], 0);
  const words = [
    [sum('duplicated'), 'duplicated'],
    [sum('outOfOrder'), 'out of order'],
    [sum('late'), 'after the drain'],
    [
      sum('extra'),
      connections.life === undefined && steps.every(({ membership }) => membership === undefined)
        ? 'to connections that were not meant'
        : 'to connections that were joining or leaving',
    ],
  ] as const;
  const said = words.filter(([count]) => count > 0);
  if (said.length === 0) return [];
  const text = `  deliveries: ${said.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ')}`;
  return wrap(text, width, '  ').map((line) => ({ text: line, tone: 'warn' }));
}

function recommendationLines(result: Result, width: number): Line[] {
  const indent = ' '.repeat(10);
  const { recommendation, recommendationProblem } = result;
  if (!recommendation) {
    const why = recommendationProblem ?? 'Nothing valid was measured.';
    const [first = '', ...others] = wrap(`${indent}no number: ${lowerFirst(why)}`, width, indent);
    return ['Units'.padEnd(indent.length) + first.trimStart(), ...others].map((text) => ({ text }));
  }
  const { headline, reasons, notes } = recommendation;
  const more = [...reasons, ...notes.filter((note) => !reasons.includes(note))];
  return [
    ...wrap(headline, width, indent).map((text) => ({ text, tone: 'bold' as const })),
    ...plannedLines(recommendation, width, { first: indent, others: indent }),
    ...more.flatMap((reason) => wrap(indent + reason, width, indent).map((text) => ({ text }))),
  ];
}

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

/** What is left of a run without a result. */
export function interruptedScreen(run: InterruptedRun, width: number): Line[] {
  const columns = Math.max(40, Math.min(width, 100));
  const { steps, lastSample } = run;
  const errors = lastSample ? errorLines(lastSample.errors, [], columns) : [];
  const seen = lastSample
    ? `the last sample was taken ${formatCount(lastSample.atMs / 1000, 1)} s after the start`
    : 'no sample was written';
  const sentence = `■ interrupted; the run did not come to its end: ${seen}, ${formatCount(steps.length)} ${plural('step', steps.length)} begun. It is not judged and gives no Units.`;
  return [
    ...(lastSample ? [{ text: connectingText(lastSample) }, blank] : []),
    ...stepsOf(steps.map(rowOfProgress), width),
    ...entriesOf(steps, width),
    ...spaced(errors),
    ...wrap(sentence, columns, '  ').map((text) => ({ text, tone: 'warn' as const })),
    { text: `result    ${run.path}` },
  ];
}
