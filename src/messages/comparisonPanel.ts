/** Messages between the editor and the page that shows comparisons. */
import type { Comparison } from '../measure/compare/comparison';
import type { ComparisonSentences } from '../measure/compare/comparisonWords';
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
  /** What a person reads first. */
  readonly sentences: ComparisonSentences;
  /** The runs as people know them: by their local times. */
  readonly names: readonly [a: string, b: string];
  readonly curves: readonly ComparedCurves[];
}

/** Everything, whenever the page says it is ready: the later runs beside the same earlier one, oldest first. */
export interface ToComparisonPanel {
  readonly type: 'compared';
  readonly shown: readonly ShownComparison[];
  /** Of all results, the earlier one first: by them the editor finds them again after a reload of the window. */
  readonly folders: readonly string[];
  /** The texts of `panelStrings.ts` in the user's language. */
  readonly strings: Readonly<Record<string, string>>;
}

/** Orders and facts from the page; `at` is the place of a comparison in the list. */
export type FromComparisonPanel =
  | { readonly type: 'ready' }
  | { readonly type: 'copyComment' | 'makeBaseline'; readonly at: number };
