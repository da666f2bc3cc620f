import type { Event } from '../../base/event';
import type { Snapshot } from '../../measure/show/snapshot';
import type { PanelResult, PanelRun, PanelSpectrum } from '../../protocol/panel';

/** What a panel shows: a run that is going on, or a stored one. */
export interface PanelSource {
  readonly run: PanelRun;
  /** All snapshots so far, oldest first. */
  readonly snapshots: readonly Snapshot[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
  readonly onSnapshot: Event<Snapshot>;
  readonly onFinished: Event<PanelResult>;
  /** Ends the run in order; nothing happens when it is over. */
  stop(): void;
  runAgain(): void;
  openScenario(): void;
  /** Markdown for an issue or chat, onto the clipboard. */
  copySummary(): void;
}

/** Type of the editor of `result.json`, as in the manifest. */
export const resultEditorType = 'signalrBenchmark.result';
/** Scheme of the copies of scenarios; documents of it have no way back to the disk: the editor shows them read-only. */
export const runCopyScheme = 'signalr-benchmark-run';
/** Type of the panel of a run; the manifest waits for it to bring panels back. */
export const runPanelViewType = 'signalrBenchmark.run';
