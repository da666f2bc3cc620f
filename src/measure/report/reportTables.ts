/** Tables of a run with what is said below them; every shell draws them in its own way. */
import { fill } from '../../base/objectives/limitWords';
import { formatCount } from '../../base/units';
import { comparedLatency, percentileName } from '../compare/comparisonWords';
import { repeatRows, type OutlyingRepeat, type RepeatedStep } from '../compare/repeats';
import { cameEarly, countsLost, tailReason, type ShownLatency } from '../latencySummary';
import type { Observed } from '../observed';
import type { AgentProgress } from '../summary';
import { agentSentences, agentTable } from '../show/agentTable';
import { thisMachineNote } from '../show/latenessWords';
import { findingSentence, observedTable } from '../show/observedWords';
import type { TextTable } from '../show/panelTables';

export interface ReportTable extends TextTable {
  readonly title: string;
  /** What is not in it. */
  readonly notes: readonly string[];
  readonly sentences: readonly string[];
}

type Texts<Name extends string> = Readonly<Record<Name, string>>;

export type NotedStep = ShownLatency & { readonly index: number };

/**
 * Why a dash stands where p99.9 belongs, whether lost deliveries count in the percentiles, and what of them is this machine's.
 *
 * @param tailNote in another language
 */
export function stepNotes(
  steps: readonly NotedStep[],
  texts: Texts<'lostCounted' | 'cameEarly'> & { readonly 'lateness.ofStep'?: string },
  tailNote?: string,
): string[] {
  const reason = tailReason(steps.map(({ latencyUs }) => latencyUs));
  const ours = thisMachineNote(steps, texts['lateness.ofStep']);
  return [
    ...(reason === undefined ? [] : [tailNote ?? `${reason}.`]),
    ...(countsLost(steps) ? [texts.lostCounted] : []),
    ...(cameEarly(steps) ? [texts.cameEarly] : []),
    ...(ours === undefined ? [] : [`${ours}.`]),
  ];
}

/** Where the load came from, when that was several processes or machines. */
export const agentReport = (
  agents: readonly AgentProgress[],
  texts: Texts<'agentsTable' | 'agentsHidden'> &
    Parameters<typeof agentTable>[1] &
    Parameters<typeof agentSentences>[1],
  most: number,
): ReportTable => ({
  ...agentTable(agents, texts, most),
  title: texts.agentsTable,
  notes: agents.length > most ? [fill(texts.agentsHidden, formatCount(agents.length - most))] : [],
  sentences: agentSentences(agents, texts),
});

const mostSentences = 20;

/** What was seen of the server beside the load, and what was not. */
export const observedReport = (
  observed: Observed | undefined,
  texts: Texts<'observedTable'> & Parameters<typeof observedTable>[1],
  most: number,
): ReportTable => {
  const { findings, problems } = observed ?? { findings: [], problems: [] };
  const said = [findings.map(findingSentence), problems];
  return {
    ...observedTable(observed ?? { series: [], findings, problems }, texts, most),
    title: texts.observedTable,
    notes: [],
    sentences: said.flatMap((each) => each.slice(0, mostSentences)),
  };
};

type RepeatText =
  | 'repeatsTable'
  | 'spectrumStep'
  | 'repeatMedian'
  | 'repeatLowest'
  | 'repeatHighest'
  | 'repeatInterval'
  | 'outlier'
  | 'noValue';

/** How far the repeats of each step lie apart, where the steps were run more than once. */
export function repeatReport(
  repeats: readonly RepeatedStep[] = [],
  texts: Texts<RepeatText>,
  most: number,
): ReportTable {
  const { spectrumStep, repeatMedian, repeatLowest, repeatHighest, repeatInterval } = texts;
  const rows = repeatRows(repeats).slice(-most);
  const outliers = repeats.flatMap((each) => each.outliers ?? []);
  return {
    title: texts.repeatsTable,
    heads: [spectrumStep, '', repeatMedian, repeatLowest, repeatHighest, repeatInterval],
    rows: rows.map(({ step, name, median, lowest, highest, interval }) => [
      ...[step, name, median, lowest, highest],
      interval === '' ? texts.noValue : interval,
    ]),
    textColumns: [0, 1],
    notes: [],
    sentences: outliers.slice(0, mostSentences).map((each) => outlierSentence(each, texts)),
  };
}

export const outlierSentence = (
  { step, metric, value, median }: OutlyingRepeat,
  { outlier }: Texts<'outlier'>,
): string =>
  fill(
    outlier,
    ...[formatCount(step), percentileName(metric)],
    ...[comparedLatency(value), comparedLatency(median)],
  );
