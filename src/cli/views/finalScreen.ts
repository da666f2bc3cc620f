import { formatCount, formatLatencyUs } from '../../base/units';
import type { StepProgress } from '../../measure/show/snapshot';
import type { StepSummary, VerdictStatus } from '../../measure/show/summary';
import { verdictSentence } from '../../measure/judge/verdictSentence';
import type { InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { connectionLines, lifeLines, membershipLines, targetLines } from './connectionLines';
import { errorLines } from './errorWords';
import { plannedLines } from './estimateText';
import { fixedBlank, wrap, type Line, type Tone } from './line';
import { connectingText } from './runTexts';
import { loadWords, marksOf, plural } from '../../session/runWords';
import { spectrumLines } from './spectrum';
import {
  entryHead,
  entryLine,
  lostLines,
  rowOfProgress,
  rowOfStep,
  stepHead,
  stepLine,
  tailLines,
  warmupLines,
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
    ...stepsOf(result),
    ...entriesOf(result.steps),
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

function stepsOf({ steps }: Result): Line[] {
  if (steps.length === 0) return [];
  const shown = steps.slice(-mostRows);
  const hidden = steps.length - shown.length;
  const rows = shown.map(rowOfStep);
  return [
    stepHead,
    ...(hidden > 0
      ? [{ text: `      … ${formatCount(hidden)} earlier`, tone: 'dim' as const }]
      : []),
    ...rows.map(stepLine),
    ...tailLines(rows),
    ...lostLines(rows),
    ...warmupLines(rows),
    blank,
  ];
}

/** The use cases of a mix, step by step. */
export function entriesOf(steps: readonly (StepSummary | StepProgress)[]): Line[] {
  const rows = steps.flatMap(({ index, entries = [] }) =>
    entries.map((entry) => entryLine(index, entry)),
  );
  if (rows.length === 0) return [];
  const shown = rows.slice(-mostRows);
  const hidden = rows.length - shown.length;
  const more = { text: `      … ${formatCount(hidden)} earlier`, tone: 'dim' as const };
  return [entryHead, ...(hidden > 0 ? [more] : []), ...shown, blank];
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
  const rows = steps.slice(-mostRows).map(rowOfProgress);
  const errors = lastSample ? errorLines(lastSample.errors, [], columns) : [];
  const seen = lastSample
    ? `the last sample was taken ${formatCount(lastSample.atMs / 1000, 1)} s after the start`
    : 'no sample was written';
  const sentence = `■ interrupted; the run did not come to its end: ${seen}, ${formatCount(steps.length)} ${plural('step', steps.length)} begun. It is not judged and gives no Units.`;
  return [
    ...(lastSample ? [{ text: connectingText(lastSample) }, blank] : []),
    ...(rows.length > 0
      ? [stepHead, ...rows.map(stepLine), ...tailLines(rows), ...lostLines(rows), blank]
      : []),
    ...entriesOf(steps),
    ...spaced(errors),
    ...wrap(sentence, columns, '  ').map((text) => ({ text, tone: 'warn' as const })),
    { text: `result    ${run.path}` },
  ];
}
