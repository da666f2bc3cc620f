import { mostSnapshots, thinSnapshots } from '../measure/show/thinSnapshots';
import type { Snapshot, StepProgress } from '../measure/show/snapshot';
import type { PanelResult, PanelRun, PanelSpectrum, ToPanel } from '../protocol/panel';
import { panelStrings, type PanelStrings } from '../protocol/panelStrings';

/** A run as far as the panel has heard of it. */
export interface ShownRun {
  readonly kind: 'run';
  readonly strings: PanelStrings;
  readonly run: PanelRun;
  /** What is sent, and how where that is unusual, in words. */
  readonly load: string;
  /** Oldest first, less than twice {@link mostSnapshots}. */
  readonly snapshots: readonly Snapshot[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
}

/** Everything the panel shows follows from this. */
export type PanelState =
  | { readonly kind: 'waiting'; readonly strings: PanelStrings }
  | { readonly kind: 'unreadable'; readonly strings: PanelStrings; readonly message: string }
  | ShownRun;

export const initialState: PanelState = { kind: 'waiting', strings: panelStrings };

/** The state after a message; messages of a kind this panel does not know change nothing. */
export function reduce(state: PanelState, message: ToPanel): PanelState {
  switch (message.type) {
    case 'hydrate': {
      const { strings, run, load, snapshots, result, spectra, interrupted } = message;
      return {
        kind: 'run',
        strings: { ...panelStrings, ...strings },
        run,
        load,
        snapshots,
        result,
        spectra,
        interrupted,
      };
    }
    case 'snapshot':
      return state.kind === 'run' ? withSnapshot(state, message.snapshot) : state;
    case 'finished':
      return state.kind === 'run'
        ? { ...state, result: message.result, spectra: message.spectra }
        : state;
    case 'unreadable': {
      const strings = { ...panelStrings, ...message.strings };
      return { kind: 'unreadable', strings, message: message.message };
    }
    default:
      return state;
  }
}

function withSnapshot(state: ShownRun, snapshot: Snapshot): ShownRun {
  const last = state.snapshots.at(-1);
  // What was on its way when the panel was filled may come a second time.
  if (last && snapshot.atMs < last.atMs) return state;
  const all = [...state.snapshots, snapshot];
  const snapshots = all.length >= 2 * mostSnapshots ? thinSnapshots(all) : all;
  return { ...state, snapshots };
}

/** The latest sentence of a server that was started for the run; empty without. */
export const problemOf = ({ snapshots }: ShownRun): string => snapshots.at(-1)?.problem ?? '';

/** Whether the run ended without a connection: there is nothing to draw, only what went wrong. */
export const isUnreachable = ({ result }: ShownRun): boolean =>
  result !== undefined && result.steps.length === 0 && result.connections.connected === 0;

/** The newest progress of a step, if need be of a certain kind. */
export function latestStep(
  snapshots: readonly Snapshot[],
  accept: (step: StepProgress) => boolean = () => true,
): StepProgress | undefined {
  for (let at = snapshots.length - 1; at >= 0; at--) {
    const step = snapshots[at]?.step;
    if (step && accept(step)) return step;
  }
  return undefined;
}

/**
 * Deliveries lost in the steps that are over. What is outstanding in the one going on may still be on its
 * way.
 */
export function endedLosses(snapshots: readonly Snapshot[]): number {
  const outstanding = new Map<number, number>();
  for (const { step } of snapshots) if (step) outstanding.set(step.index, step.outstanding);
  const latest = snapshots.at(-1);
  const over = latest?.phase === 'closing' || latest?.phase === 'done';
  if (!over && latest?.step) outstanding.delete(latest.step.index);
  return [...outstanding.values()].reduce((sum, count) => sum + count, 0);
}
