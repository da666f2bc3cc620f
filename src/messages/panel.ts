import type { VerdictSentences } from '../measure/show/verdictSentence';
import type { Estimate } from '../capacity/model';
import type { Recommendation } from '../capacity/judge/recommend';
import type { ComparisonSentences } from '../measure/compare/comparisonWords';
import type { RepeatedStep } from '../measure/compare/repeats';
import type { Observed } from '../measure/observed';
import type { Snapshot, SnapshotColumns } from '../measure/snapshot';
import type { RunSummary, Verdict } from '../measure/summary';
import type { Dialect, Scenario } from '../scenario/scenario';

/** The pages that the editor shows, all of one script. */
export type PageName = 'run' | 'comparison' | 'overview';

/** A run as the panel introduces it: what is known before anything is measured. No secrets. */
export interface PanelRun {
  readonly id: string;
  readonly title: string;
  readonly targetUrl: string;
  readonly startedAt: string;
  readonly scenario: Scenario;
  /** The dialect agreed with the hub. */
  readonly dialect?: Dialect;
  /** It is the embedded hub, or an emulator of a service. */
  readonly emulated?: true;
  /** The published estimate; null with `estimateProblem` when the scenario has none. */
  readonly estimate: Estimate | null;
  readonly estimateProblem?: string;
}

/** A finished run, the same numbers as in `result.json`, its sentences in the language of the editor. */
export interface PanelResult extends RunSummary {
  readonly id: string;
  readonly verdict: Verdict;
  /** What a person reads first. */
  readonly sentences: VerdictSentences;
  /** Of the verdict, as far as those do not say them. */
  readonly otherReasons: readonly string[];
  readonly estimate: Estimate | null;
  readonly estimateProblem?: string;
  readonly observed?: Observed;
  /** How the run stands to an earlier one, where it was compared; in the language of the editor. */
  readonly baseline?: PanelBaseline;
  /** How far the rounds of a run with repeats lie apart. */
  readonly repeats?: readonly RepeatedStep[];
  readonly recommendation: Recommendation | null;
  readonly recommendationProblem?: string;
}

export interface PanelBaseline extends ComparisonSentences {
  /** The earlier run. */
  readonly id: string;
}

/** Percentile curve of a finished step, derived on the host side from its histogram. */
export interface PanelSpectrum {
  readonly step: number;
  /** Points of rising share (0…1) with their latency in microseconds, from the intended time. */
  readonly points: readonly { readonly share: number; readonly latencyUs: number }[];
}

/** Facts to the panel. */
export type ToPanel =
  /** Everything, whenever the panel says it is ready: a fresh one, one shown again, one restored. */
  | {
      readonly type: 'hydrate';
      readonly run: PanelRun;
      /** What is sent, and how where that is unusual, in words. */
      readonly load: string;
      readonly seconds: SnapshotColumns;
      readonly result?: PanelResult;
      readonly spectra: readonly PanelSpectrum[];
      /** The texts of `panelStrings.ts` in the user's language. */
      readonly strings: Readonly<Record<string, string>>;
      /** A run that was broken off without a result. */
      readonly interrupted: boolean;
    }
  | { readonly type: 'snapshot'; readonly snapshot: Snapshot }
  | {
      readonly type: 'finished';
      readonly result: PanelResult;
      readonly spectra: readonly PanelSpectrum[];
    }
  /** There is nothing to show, and why. */
  | {
      readonly type: 'unreadable';
      readonly message: string;
      readonly strings: Readonly<Record<string, string>>;
    };

/** Orders and facts from the panel; `testConnection` is for a run that reached nothing. */
export interface FromPanel {
  readonly type: 'ready' | 'stop' | 'testConnection' | 'runAgain' | 'openScenario' | 'copySummary';
}
