/** Messages between the editor and the page that shows comparisons. */
import type { Comparison } from '../measure/compare/comparison';
import type { PanelSpectrum } from './panel';

type SharePoints = PanelSpectrum['points'];

/** Seconds of the measured time, with the 99th percentile of what arrived then, in microseconds. */
export type TimePoints = readonly { readonly atS: number; readonly p99Us: number }[];

/** What is drawn of a step: of the earlier run and of the later one. */
export interface ComparedCurves {
  readonly step: number;
  readonly spectra: readonly [a: SharePoints, b: SharePoints];
  readonly times: readonly [a: TimePoints, b: TimePoints];
}

/** A comparison as the page shows it, its sentences in the language of the editor. No secrets. */
export interface ShownComparison {
  readonly comparison: Comparison;
  /** The runs as people know them: by their local times. */
  readonly names: readonly [a: string, b: string];
  readonly curves: readonly ComparedCurves[];
}

/** Facts to the page. */
export type ToComparisonPanel =
  /** Everything, whenever the page says it is ready: the later runs beside the same earlier one, oldest first. */
  | {
      readonly type: 'compared';
      readonly shown: readonly ShownComparison[];
      /** Of all results, the earlier one first: by them the editor finds them again after a reload of the window. */
      readonly folders: readonly string[];
      /** The texts of `comparisonStrings.ts` in the user's language. */
      readonly strings: Readonly<Record<string, string>>;
    };

/** Orders and facts from the page; `at` is the place of a comparison in the list. */
export type FromComparisonPanel =
  | { readonly type: 'ready' }
  | { readonly type: 'copyComment'; readonly at: number }
  | { readonly type: 'makeBaseline'; readonly at: number };

/**
 * Every text of the page that shows comparisons, in English. The host translates the values and sends them along;
 * `{0}`, `{1}` … stand for what is filled in.
 */
export const comparisonStrings = {
  waiting: 'Waiting for the first numbers …',
  copyComment: 'Copy for pull request',
  makeBaseline: 'Make {0} the baseline',
  against: '{0} (baseline) and {1}',
  comparedRun: 'Compared run',
  comparedStep: 'Step',
  worse: 'Worse.',
  better: 'Better.',
  same: 'The same.',
  unshown: 'No change could be shown.',
  unshownBeyond: 'No change beyond the tolerance could be shown.',
  unlike: 'Cannot be compared.',
  rose: 'In step {0} {1} rose from {2} to {3} ({4}, 95 % interval {5}); the tolerance is {6}.',
  fell: 'In step {0} {1} fell from {2} to {3} ({4}, 95 % interval {5}); the tolerance is {6}.',
  stayed: 'In step {0} {1} was {2} and is {3} ({4}, 95 % interval {5}); the tolerance is {6}.',
  unseen:
    'In step {0} {1} was {2} and is {3} ({4}, 95 % interval {5}); measure longer to see a change of {6}.',
  nowLost: 'In step {0} {1} was {2} and is {3}.',
  lossChanged: 'In step {0} {1} deliveries were lost ({2}), before {3}.',
  rateChanged: 'In step {0} {1} deliveries a second, before {2}.',
  nothingChanged: 'Nothing has changed.',
  spectra: 'Latency spectra, step {0}',
  overTime: 'p99 over time, step {0}',
  chartSummary: '{0}: {1}',
  asTable: 'as a table',
  chartRole: 'chart',
  chartHint: 'Arrow keys go from point to point.',
  share: 'Share',
  time: 'Time',
  baseline: 'baseline',
  stepTable: 'Step {0}, {1} senders',
  change: 'change',
  interval: '95 % interval',
  measure: 'Measure',
  differs: 'What differs',
  what: 'Fact',
  allSame: 'Scenario, target, tool and machine are the same.',
  reasons: 'Reasons',
  noValue: '–',
} as const;

export type ComparisonStrings = Readonly<Record<keyof typeof comparisonStrings, string>>;
