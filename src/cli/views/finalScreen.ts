import { errorClasses, type ErrorCounts } from '../../base/errorClass';
import type { Slo } from '../../base/slo';
import { formatCount, formatLatencyUs } from '../../base/units';
import type { Estimate } from '../../capacity/model';
import { adviceOn } from '../../measure/judge/hubComplaint';
import { verdictSentence } from '../../measure/show/verdictSentence';
import { latencyAt, type LatencySummary } from '../../measure/latencySummary';
import type { StepProgress } from '../../measure/snapshot';
import { entryRows, rowOfProgress, rowOfStep, type StepRow } from '../../measure/show/stepColumns';
import type { ErrorExample, StepSummary, VerdictStatus } from '../../measure/summary';
import type { InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { loadWords, marksOf, plural } from '../../session/runWords';
import { connectionLines } from './connectionLines';
import { fixedBlank, wrap, wrapped, type Line, type Tone } from './line';
import { connectingText, sortedCounts } from './runView';
import { entryTable, noteLines, stepTable, trafficLines, type StepTable } from './stepTable';

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
const indent = ' '.repeat(10);

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
    ...wrapped(
      `${result.id} → ${result.target.url.replace('(hub ', `(hub${fixedBlank}`)}`,
      ...([width, '  ', 'bold'] as const),
    ),
    ...[loadWords(result.scenario), marksOf(result.scenario, result.target)]
      .filter((words) => words !== '')
      .flatMap((words) => wrapped(words, width)),
    { text: `connected ${counts.join('   ')}` },
    ...connectionLines(result, width),
  ];
}

/** The last steps with what explains them; empty without any. */
function stepsOf(all: readonly StepRow[], width: number): Line[] {
  const rows = all.slice(-mostRows);
  return rows.length === 0 ? [] : [...tableLines(stepTable(width), all), ...noteLines(rows), blank];
}

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
  const unsaid = reasons.length - 11;
  return [
    ...wrapped(verdictSentence(result), width, '  ', tones[status]),
    // The sentence holds the first reason already.
    ...reasons.slice(1, 11).flatMap(({ message }) => wrapped(`  - ${message}`, width, '    ')),
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
  const counts = said.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ');
  return wrapped(`  deliveries: ${counts}`, width, '  ', 'warn');
}

function recommendationLines(result: Result, width: number): Line[] {
  const { recommendation, recommendationProblem } = result;
  if (!recommendation) {
    const why = recommendationProblem ?? 'Nothing valid was measured.';
    const [first = '', ...others] = wrap(`${indent}no number: ${lowerFirst(why)}`, width, indent);
    return ['Units'.padEnd(indent.length) + first.trimStart(), ...others].map((text) => ({ text }));
  }
  const { headline, reasons, notes } = recommendation;
  const more = [...reasons, ...notes.filter((note) => !reasons.includes(note))];
  return [
    ...wrapped(headline, width, indent, 'bold'),
    ...plannedLines(recommendation, width, { first: indent, others: indent }),
    ...more.flatMap((reason) => wrapped(indent + reason, width, indent)),
  ];
}

const lowerFirst = (text: string): string =>
  /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;

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
    ...wrapped(sentence, columns, '  ', 'warn'),
    { text: `result    ${run.path}` },
  ];
}

/** Each class with its count, what it means, and the texts that were kept. */
function errorLines(errors: ErrorCounts, examples: readonly ErrorExample[], width: number): Line[] {
  const counts = sortedCounts(errors);
  if (counts.length === 0) return [];
  return [
    { text: 'errors', tone: 'bold' },
    ...counts.flatMap(([name, count]) => {
      const meaning =
        (errorClasses as Readonly<Record<string, string>>)[name] ?? 'unknown to this version';
      const head = `${formatCount(count).padStart(9)} ${name}: ${meaning}`;
      const kept = examples.filter(({ errorClass }) => errorClass === name);
      const texts = [...new Set(kept.map(({ text }) => text.slice(0, 300)))].slice(0, 3);
      return [
        ...wrapped(head, width, indent),
        ...wrapped(indent + adviceOn(name, texts), width, indent).filter(
          ({ text }) => text.trim() !== '',
        ),
        ...texts.flatMap((text) => wrapped(`${indent}e.g. ${text}`, width, ' '.repeat(15), 'dim')),
      ];
    }),
  ];
}

/** How it compares with the size that the file names, for people who plan with that. */
export function plannedLines(
  { planned }: Pick<Estimate, 'planned'>,
  width: number,
  indent: { readonly first: string; readonly others: string },
): Line[] {
  if (planned === undefined) return [];
  const isFine = planned.offered && !planned.exceeded;
  const tone = isFine ? undefined : 'warn';
  return wrapped(indent.first + planned.sentence, width, indent.others, tone);
}

/** Rows of the chart. Each is one nine further, so the axis is logarithmic, as tails are. */
const spectrumRows = [
  ['50 %', 'p50', 'p50'],
  ['90 %', 'p90', 'p90'],
  ['99 %', 'p99', 'p99'],
  ['99.9 %', 'p999', 'p99.9'],
  ['99.99 %', 'p9999', 'p99.99'],
  ['100 %', 'max', 'max'],
] as const satisfies readonly (readonly [
  string,
  Exclude<keyof LatencySummary, 'count'>,
  keyof Slo['latencyUs'],
])[];

const labelWidth = 34;
const limitWidth = 9;

/**
 * Latency by percentile as bars of equal scale: solid is the time from the real send, light what a
 * message had waited until it was sent. Empty when nothing was received.
 *
 * @param width columns of the whole chart, at least 60
 */
function spectrumLines(step: StepSummary, slo: Slo, width: number): Line[] {
  const { latencyUs: due, sendLatencyUs: sent } = step;
  if (due.count === 0) return [];
  const barWidth = Math.max(10, Math.min(width, 100) - labelWidth - limitWidth);
  // Of a stored file the percentiles may be in any order.
  const cells = (us: number): number =>
    due.max > 0 ? Math.min(1, Math.max(0, us / due.max)) * barWidth : 0;
  const bars = spectrumRows.map(([label, key, metric]) => {
    const [us, sentUs] = [latencyAt(due, key), latencyAt(sent, key)];
    const solid = Math.round(cells(Math.min(sentUs ?? 0, us ?? 0)));
    const light = Math.round(cells(us ?? 0)) - solid;
    return { label, us, sentUs, solid, light, limit: slo.latencyUs[metric] };
  });
  return [
    {
      text: `latency of step ${step.index}${step.judgedUs ? ', of what arrived' : ''}`,
      tone: 'bold',
    },
    { text: `   within   from due   from send`, tone: 'dim' },
    ...bars.map(barLine),
    ...(bars.some(({ light }) => light > 0)
      ? [{ text: '           █ since it was sent, ░ since it was due', tone: 'dim' as const }]
      : []),
  ];
}

interface Bar {
  readonly label: string;
  /** From the intended time and from the real send, microseconds; undefined where there are too few. */
  readonly us: number | undefined;
  readonly sentUs: number | undefined;
  readonly solid: number;
  readonly light: number;
  readonly limit: number | undefined;
}

function barLine({ label, us, sentUs, solid, light, limit }: Bar): Line {
  const bar = '█'.repeat(solid) + '░'.repeat(light) || (us ? '▏' : '');
  const words = (value: number | undefined): string =>
    value === undefined ? '–' : formatLatencyUs(value);
  const numbers = `${label.padStart(9)}${words(us).padStart(11)}${words(sentUs).padStart(12)}`;
  if (us === undefined) return { text: `${numbers}  too few deliveries`, tone: 'dim' };
  if (limit === undefined) return { text: `${numbers}  ${bar}` };
  const text = `${numbers}  ${bar} ≤ ${formatLatencyUs(limit)}`;
  return us > limit ? { text, tone: 'bad' } : { text };
}
