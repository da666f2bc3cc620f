import { errorClasses, sortErrorCounts, type ErrorCounts } from '../../base/errorClass';
import type { Slo } from '../../base/slo';
import { plural, formatCount, formatLatencyUs } from '../../base/units';
import type { Estimate } from '../../capacity/model';
import { adviceForError } from '../../measure/judge/hubComplaint';
import { shownPercentileUs, type LatencySummary } from '../../measure/latencySummary';
import { remainingComparisonReasons as otherDifferences } from '../../measure/compare/comparisonWords';
import type { reports } from '../../measure/report/reportModel';
import {
  entryRows,
  latencyInsideAgents,
  progressRow,
  stepRow,
  type StepRow,
} from '../../measure/show/stepColumns';
import { remainingReasons, verdictSentence } from '../../measure/show/verdictSentence';
import type { StepProgress } from '../../measure/snapshot';
import type { ErrorExample, StepSummary, VerdictStatus } from '../../measure/summary';
import { couldNotConnect } from '../../measure/judge/reason';
import type { InterruptedRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import type { Scenario } from '../../scenario/scenario';
import { describeLoad, describeUnusual } from '../../run/runWords';
import { reportLines, callLines, pushedLines, searchLines } from './runTables';
import { comparisonTone } from './comparisonScreen';
import { fixedBlank, wrap, wrapped, type Line, type Tone } from './line';
import { connectingText, connectionCounts } from './runView';
import { createEntryTable, noteLines, createStepTable, type StepTable } from './stepTable';

const tones: Readonly<Record<VerdictStatus, Tone>> = {
  pass: 'good',
  fail: 'bad',
  invalid: 'warn',
  incomplete: 'warn',
};

const mostRows = 40;

/** Last screen of a run; without `folder` where the result could not be written. */
export function finalScreen(result: Result, width: number, folder?: string): Line[] {
  const columns = Math.max(40, Math.min(width, 100));
  const { search, steps } = result;
  const reported = (...names: (keyof typeof reports)[]): Line[] =>
    names.flatMap((name) => spaced(reportLines(name, result, columns)));
  const measured =
    search === undefined
      ? [
          ...stepsOf(steps.map(stepRow), width),
          ...entriesOf(steps, width),
          ...spaced(callLines(steps, width)),
          ...spaced(pushedLines(steps, width)),
          ...reported('traffic'),
          ...spectrumOf(result, columns),
          ...reported('repeats'),
        ]
      : [];
  return [
    ...titleOf(result, columns),
    blank,
    ...measured,
    ...reported('connections', 'server', 'agents'),
    ...verdictLines(result, columns),
    ...(search === undefined ? baselineLines(result, columns) : []),
    blank,
    ...(search === undefined ? [] : spaced(searchLines(search))),
    ...spaced(errorLines(result.errors, result.errorExamples, columns, result.scenario)),
    ...recommendationLines(result, columns),
    ...(folder === undefined ? [] : [{ text: `result    ${folder}` }]),
  ];
}

function baselineLines({ baseline }: Result, columns: number): Line[] {
  if (baseline === undefined) return [];
  const { a, differences, verdict } = baseline;
  const names = differences.slice(0, 5).map(({ what }) => what);
  const more = differences.length > names.length ? ', …' : '';
  const differing = names.length === 0 ? [] : [`what differs: ${names.join(', ')}${more}`];
  const reasons = otherDifferences(baseline).slice(0, verdict === 'unlike' ? 4 : 5);
  const tone = comparisonTone(baseline);
  return [
    ...wrapped(`baseline${fixedBlank} ${baseline.sentence}`, columns, indent, tone),
    ...wrapped(`${indent}compared with ${a.id}`, columns, indent),
    ...[...differing, ...reasons].flatMap((text) => wrapped(indent + text, columns, indent)),
  ];
}

const blank: Line = { text: '' };
const indent = ' '.repeat(10);

const spaced = (lines: readonly Line[]): Line[] => (lines.length === 0 ? [] : [...lines, blank]);

function titleOf(result: Result, width: number): Line[] {
  const { p50, p99 } = result.connections.connectUs;
  const times = [`p50 ${formatLatencyUs(p50)}`, `p99 ${formatLatencyUs(p99)}`];
  const where = result.target.url.replace('(hub ', `(hub${fixedBlank}`);
  return [
    ...wrapped(`${result.id} → ${where}`, width, '  ', 'bold'),
    ...[describeLoad(result.scenario), describeUnusual(result.scenario, result.target)]
      .filter((words) => words !== '')
      .flatMap((words) => wrapped(words, width)),
    ...(couldNotConnect(result)
      ? []
      : [{ text: `connected ${connectionCounts(result.connections, times)}` }]),
  ];
}

function stepsOf(all: readonly StepRow[], width: number): Line[] {
  const rows = all.slice(-mostRows);
  if (rows.length === 0) return [];
  return [
    ...tableLines(createStepTable(width, rows), all),
    ...noteLines(rows),
    ...toAllLines(rows, width),
    ...clockLines(rows, width),
    blank,
  ];
}

/** `step 2, until all receivers had a message: p50 4ms, p99 19ms, max 22ms; 2 of 400 messages did not reach all`. */
function toAllLines(rows: readonly StepRow[], width: number): Line[] {
  return rows.flatMap(({ index, timeToAllUs, timeToAllMissed: missed }) => {
    if (timeToAllUs === undefined) return [];
    const { count, p50, p99, max } = timeToAllUs;
    const times = [`p50 ${formatLatencyUs(p50)}`, `p99 ${formatLatencyUs(p99)}`];
    const words = count === 0 ? '–' : [...times, `max ${formatLatencyUs(max)}`].join(', ');
    const messages = count + (missed ?? 0);
    const all = plural(messages, 'message');
    const reached =
      missed === undefined || missed === 0
        ? `${all} reached all`
        : `${formatCount(missed)} of ${all} did not reach all`;
    const text = ` step ${index}, until all receivers had a message: ${words}; ${reached}`;
    return wrapped(text, width, '  ');
  });
}

/** `step 2, between agents: clocks may differ by 0.8ms; inside single agents p50 4ms, p99 19ms; 3 deliveries ambiguous`. */
function clockLines(rows: readonly StepRow[], width: number): Line[] {
  return rows.flatMap((row) => {
    const { index, clockErrorUs = 0, clockJumps = 0, ambiguous = 0, negative = 0 } = row;
    const inside = latencyInsideAgents(row);
    const p99 = inside && shownPercentileUs(inside, 'p99');
    const words = [
      ...(inside ? [`clocks may differ by ${formatLatencyUs(clockErrorUs)}`] : []),
      ...(inside && p99 !== undefined
        ? [`inside single agents p50 ${formatLatencyUs(inside.p50)}, p99 ${formatLatencyUs(p99)}`]
        : []),
      ...(ambiguous > 0
        ? [`${formatCount(ambiguous)} ${ambiguous === 1 ? 'delivery' : 'deliveries'} ambiguous`]
        : []),
      ...(negative > 0 ? [`${formatCount(negative)} came before they were sent`] : []),
      ...(clockJumps > 0 ? [`clocks were moved (${formatCount(clockJumps)}×)`] : []),
    ];
    if (words.length === 0) return [];
    return wrapped(` step ${index}, between agents: ${words.join('; ')}`, width, '  ');
  });
}

function entriesOf(steps: readonly (StepSummary | StepProgress)[], width: number): Line[] {
  const rows = steps.flatMap(entryRows);
  return rows.length === 0 ? [] : [...tableLines(createEntryTable(width, rows), rows), blank];
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

const mostReasons = 10;

function verdictLines(result: Result, width: number): Line[] {
  const { status } = result.verdict;
  const reasons = remainingReasons(result);
  const unsaid = reasons.length - mostReasons;
  return [
    ...wrapped(
      verdictSentence(result),
      width,
      '  ',
      couldNotConnect(result) ? 'bad' : tones[status],
    ),
    ...reasons.slice(0, mostReasons).flatMap((text) => wrapped(`  - ${text}`, width, '    ')),
    ...(unsaid > 0 ? [{ text: `  - and ${formatCount(unsaid)} more in the result` }] : []),
    ...(result.search === undefined ? countLines(result, width) : []),
  ];
}

function countLines({ steps }: Result, width: number): Line[] {
  const sum = (key: 'duplicated' | 'outOfOrder' | 'late' | 'extra'): number =>
    steps.reduce((total, step) => total + step[key], 0);
  const words = [
    [sum('duplicated'), 'duplicated'],
    [sum('outOfOrder'), 'out of order'],
    [sum('late'), 'after the drain'],
    [sum('extra'), 'to connections that should not have got them'],
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
  const sentence = `■ interrupted; the run did not reach its end: ${seen}, ${plural(steps.length, 'step')} begun. It is not judged and gives no Units.`;
  return [
    ...(lastSample ? [{ text: connectingText(lastSample) }, blank] : []),
    ...stepsOf(steps.map(progressRow), width),
    ...entriesOf(steps, width),
    ...spaced(callLines(steps, width)),
    ...spaced(pushedLines(steps, width)),
    ...spaced(errors),
    ...wrapped(sentence, columns, '  ', 'warn'),
    { text: `result    ${run.path}` },
  ];
}

const namesMethods = ({ entries }: Pick<Scenario, 'entries'>): boolean =>
  entries.every(({ name }) => name === 'session');

function errorLines(
  errors: ErrorCounts,
  examples: readonly ErrorExample[],
  width: number,
  scenario?: Pick<Scenario, 'entries' | 'service'>,
): Line[] {
  const counts = sortErrorCounts(errors);
  if (counts.length === 0) return [];
  const isOwn = scenario !== undefined && namesMethods(scenario);
  return [
    { text: 'errors', tone: 'bold' },
    ...counts.flatMap(([name, count]) => {
      const meaning =
        (errorClasses as Readonly<Record<string, string>>)[name] ?? 'unknown to this version';
      const head = `${formatCount(count).padStart(9)} ${name.slice(0, 60)}: ${meaning}`;
      const kept = examples.filter(({ errorClass }) => errorClass === name);
      const texts = [...new Set(kept.map(({ text }) => text.slice(0, 300)))].slice(0, 3);
      return [
        ...wrapped(head, width, indent),
        ...wrapped(
          indent + adviceForError(name, texts, isOwn, scenario?.service),
          width,
          indent,
        ).filter(({ text }) => text.trim() !== ''),
        ...texts.flatMap((text) => wrapped(`${indent}e.g. ${text}`, width, ' '.repeat(15), 'dim')),
      ];
    }),
  ];
}

/** Compares with the size in the file. */
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

/** Each row is one nine further: a logarithmic axis, as for tails. */
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

/** Bars by percentile: solid since the real send, light since due. */
function spectrumLines(step: StepSummary, slo: Slo, width: number): Line[] {
  const { latencyUs: due, sendLatencyUs: sent } = step;
  if (due.count === 0) return [];
  const barWidth = Math.max(10, Math.min(width, 100) - labelWidth - limitWidth);
  const cells = (us: number): number =>
    due.max > 0 ? Math.min(1, Math.max(0, us / due.max)) * barWidth : 0;
  const words = (value: number | undefined): string =>
    value === undefined ? '–' : formatLatencyUs(value);
  const bars = spectrumRows.map(([label, key, metric]): Line => {
    const [us, sentUs, limit] = [
      shownPercentileUs(due, key),
      shownPercentileUs(sent, key),
      slo.latencyUs[metric],
    ];
    const numbers = `${label.padStart(9)}${words(us).padStart(11)}${words(sentUs).padStart(12)}`;
    if (us === undefined) return { text: `${numbers}  too few deliveries`, tone: 'dim' };
    const solid = Math.round(cells(Math.min(sentUs ?? 0, us)));
    const bar = '█'.repeat(solid) + '░'.repeat(Math.round(cells(us)) - solid) || (us ? '▏' : '');
    if (limit === undefined) return { text: `${numbers}  ${bar}` };
    const text = `${numbers}  ${bar} ≤ ${formatLatencyUs(limit)}`;
    return us > limit ? { text, tone: 'bad' } : { text };
  });
  const ofArrived = step.judgedUs ? ', of what arrived' : '';
  return [
    { text: `latency of step ${step.index}${ofArrived}`, tone: 'bold' },
    { text: `   within   from due   from send`, tone: 'dim' },
    ...bars,
    ...(bars.some(({ text }) => text.includes('░'))
      ? [{ text: '           █ since it was sent, ░ since it was due', tone: 'dim' as const }]
      : []),
  ];
}
