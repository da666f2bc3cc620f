import type { VerdictSentences } from '../measure/show/verdictSentence';
import type { Estimate } from '../capacity/model';
import type { Recommendation } from '../capacity/judge/recommend';
import type { Comparison } from '../measure/compare/comparison';
import type { ComparisonSentences } from '../measure/compare/comparisonWords';
import type { RepeatedStep } from '../measure/compare/repeats';
import type { Observed } from '../measure/observed';
import type { Snapshot } from '../measure/snapshot';
import type { SnapshotColumns } from '../measure/snapshotHistory';
import type { RunSummary, Verdict } from '../measure/summary';
import type { Dialect, Scenario } from '../scenario/scenario';

export type PageName = 'run' | 'comparison' | 'overview';

/** What is known of a run before anything is measured. No secrets. */
export interface PanelRun {
  readonly id: string;
  readonly title: string;
  readonly targetUrl: string;
  readonly startedAt: string;
  readonly scenario: Scenario;
  readonly dialect?: Dialect;
  /** It is the embedded hub, or an emulator of a service. */
  readonly emulated?: true;
  /** Null with `estimateProblem` when the scenario has none. */
  readonly estimate: Estimate | null;
  readonly estimateProblem?: string;
}

export interface PanelResult extends RunSummary {
  readonly id: string;
  readonly verdict: Verdict;
  readonly sentences: VerdictSentences;
  /** Reasons of the verdict that `sentences` do not say. */
  readonly otherReasons: readonly string[];
  readonly estimate: Estimate | null;
  readonly estimateProblem?: string;
  readonly observed?: Observed;
  readonly baseline?: PanelBaseline;
  readonly repeats?: readonly RepeatedStep[];
  readonly recommendation: Recommendation | null;
  readonly recommendationProblem?: string;
}

export interface PanelBaseline extends ComparisonSentences {
  readonly id: string;
}

export interface PanelSpectrum {
  readonly step: number;
  /** Rising shares (0…1) with their latency in microseconds, from the due time. */
  readonly points: readonly { readonly share: number; readonly latencyUs: number }[];
}

export type ToPanel =
  /** Everything, whenever the panel says it is ready: new, shown again, or restored. */
  | {
      readonly type: 'hydrate';
      readonly run: PanelRun;
      readonly load: string;
      readonly seconds: SnapshotColumns;
      readonly result?: PanelResult;
      readonly spectra: readonly PanelSpectrum[];
      /** The texts of `panelStrings.ts` in the user's language; the same in other messages. */
      readonly strings: Readonly<Record<string, string>>;
      readonly interrupted: boolean;
    }
  | { readonly type: 'snapshot'; readonly snapshot: Snapshot }
  | {
      readonly type: 'finished';
      readonly result: PanelResult;
      readonly spectra: readonly PanelSpectrum[];
    }
  | {
      readonly type: 'unreadable';
      readonly message: string;
      readonly strings: Readonly<Record<string, string>>;
    };

/** `testConnection` is for a run that reached nothing. */
export interface FromPanel {
  readonly type: 'ready' | 'stop' | 'testConnection' | 'runAgain' | 'openScenario' | 'copySummary';
}

type SharePoints = PanelSpectrum['points'];

/** Seconds of the measured time, with the p99 of what arrived then, in microseconds. */
export type TimePoints = readonly { readonly atS: number; readonly p99Us: number }[];

export interface ComparedCurves {
  readonly step: number;
  readonly spectra: readonly [a: SharePoints, b: SharePoints];
  readonly times: readonly [a: TimePoints, b: TimePoints];
}

/** A comparison as the page shows it. No secrets. */
export interface ShownComparison {
  readonly comparison: Comparison;
  readonly sentences: ComparisonSentences;
  readonly names: readonly [a: string, b: string];
  readonly curves: readonly ComparedCurves[];
}

/** Everything, whenever the page says it is ready: later runs beside the same earlier one, oldest first. */
export interface ToComparisonPanel {
  readonly type: 'compared';
  readonly shown: readonly ShownComparison[];
  /** Of all results, the earlier one first: the editor finds them by it after a reload of the window. */
  readonly folders: readonly string[];
  readonly strings: Readonly<Record<string, string>>;
}

/** `at` is the place of a comparison in the list. */
export type FromComparisonPanel =
  | { readonly type: 'ready' }
  | { readonly type: 'copyComment' | 'makeBaseline'; readonly at: number };

/** A result in the list, its words in the language of the editor. No secrets. */
export interface OverviewRow {
  /** Opaque to the page. */
  readonly id: string;
  readonly scenario: string;
  readonly startedMs: number;
  readonly when: string;
  readonly p99Us?: number;
  /** Null when no size fits. */
  readonly unit?: number | null;
  readonly status: string;
  readonly tone: 'good' | 'bad' | 'neutral';
}

export interface ToOverviewPanel {
  readonly type: 'results';
  readonly rows: readonly OverviewRow[];
  /** The scenario to begin with; absent: all of them. */
  readonly scenario?: string;
  readonly strings: Readonly<Record<string, string>>;
}

export type FromOverviewPanel =
  | { readonly type: 'ready' }
  | { readonly type: 'open'; readonly id: string };
