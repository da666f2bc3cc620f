import {
  columnsToSnapshots,
  mostSnapshots,
  thinSnapshots,
  dropDetails,
  type Snapshot,
  type StepProgress,
} from '../measure/snapshot';
import { stepBands, addLateSeries } from '../measure/show/timeSeries';
import type { AgentProgress } from '../measure/summary';
import type { PanelResult, PanelRun, PanelSpectrum, ToPanel } from '../messages/panel';
import type { PanelStrings } from '../measure/show/panelStrings';

export interface ShownRun {
  readonly kind: 'run';
  readonly strings: PanelStrings;
  readonly run: PanelRun;
  readonly load: string;
  /** Oldest first, less than twice {@link mostSnapshots}. */
  readonly snapshots: readonly Snapshot[];
  /** Those that generate the load, as they stand; a result has its own. */
  readonly agents: readonly AgentProgress[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
}

/** Everything the panel shows follows from this. */
export type PanelState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'unreadable'; readonly strings: PanelStrings; readonly message: string }
  | ShownRun;

export const initialState: PanelState = { kind: 'waiting' };

/** The state after a message; messages of a kind this panel does not know change nothing. */
export function reduce(state: PanelState, message: ToPanel): PanelState {
  switch (message.type) {
    case 'hydrate':
      return runOf(message);
    case 'snapshot':
      return state.kind === 'run' ? withSnapshot(state, message.snapshot) : state;
    case 'finished':
      return state.kind === 'run'
        ? withResult({ ...state, result: message.result, spectra: message.spectra })
        : state;
    case 'unreadable': {
      const { strings, message: text } = message;
      return { kind: 'unreadable', strings: strings as PanelStrings, message: text };
    }
    default:
      return state;
  }
}

const runOf = ({
  type: _type,
  strings,
  seconds,
  ...shown
}: ToPanel & { type: 'hydrate' }): ShownRun =>
  withResult({
    ...{ result: undefined, ...shown, kind: 'run', strings: strings as PanelStrings },
    ...{ snapshots: columnsToSnapshots(seconds), agents: seconds.agents },
  });

const withResult = (state: ShownRun): ShownRun => ({
  ...state,
  snapshots: addLateSeries(state.snapshots, state.result?.observed),
});

function withSnapshot(state: ShownRun, snapshot: Snapshot): ShownRun {
  const last = state.snapshots.at(-1);
  // What was on its way when the panel was filled may come a second time.
  if (last && snapshot.atMs < last.atMs) return state;
  const { agents = state.agents, ...added } = snapshot;
  const all = [...state.snapshots, added];
  // Of a step that goes on only the newest are asked for more than charts draw; the last of them is what charts go on from.
  const [passed, newer] = state.snapshots.slice(-2);
  if (passed?.step && newer && passed.step.index === newer.step?.index)
    all[all.length - 3] = dropDetails(passed);
  const snapshots = all.length >= 2 * mostSnapshots ? thinSnapshots(all) : all;
  return { ...state, agents, snapshots };
}

/** What went wrong last beside the load; empty without, and where the run has ended for it, which its first sentence says. */
export function problemOf({ snapshots, result }: ShownRun): string {
  const problem = snapshots.at(-1)?.problem ?? '';
  return result?.endingMessage?.includes(problem) === true ? '' : problem;
}

export const isOver = ({ result, interrupted }: ShownRun): boolean =>
  result !== undefined || interrupted;

/** Whether the run ended without a connection: there is nothing to draw, only what went wrong. */
export const isUnreachable = ({ result }: ShownRun): boolean =>
  result !== undefined && result.steps.length === 0 && result.connections.connected === 0;

/** Each step as it was last seen. */
export function lastSeen({ snapshots }: ShownRun): StepProgress[] {
  const steps = new Map<number, StepProgress>();
  for (const { step } of snapshots) if (step) steps.set(step.index, step);
  return [...steps.values()];
}

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

export function endedLosses(snapshots: readonly Snapshot[]): number {
  const outstanding = new Map<number, number>();
  for (const { step } of snapshots) if (step) outstanding.set(step.index, step.outstanding);
  const latest = snapshots.at(-1);
  const over = latest?.phase === 'closing' || latest?.phase === 'done';
  if (!over && latest?.step) outstanding.delete(latest.step.index);
  return [...outstanding.values()].reduce((sum, count) => sum + count, 0);
}

/** End of the time axis of every chart, seconds since the run began. */
export function axisEndS(state: ShownRun): number {
  const { run, snapshots } = state;
  return isOver(state) ? (snapshots.at(-1)?.atMs ?? 0) / 1000 : plannedEndS(run, snapshots);
}

/** The planned end, seconds: ramp, warm-ups and measured times. It stands still; draining is not known before. */
export function plannedEndS({ scenario }: PanelRun, snapshots: readonly Snapshot[]): number {
  const last = snapshots.at(-1);
  const nowS = (last?.atMs ?? 0) / 1000;
  const stepS = (scenario.warmupMs + scenario.singleStepDurationMs) / 1000;
  const stepCount = last?.stepCount ?? 1;
  const current = stepBands(snapshots).at(-1);
  if (current) return Math.max(nowS, current.toS + (stepCount - current.index) * stepS);
  const rampS = scenario.connections / Math.max(1e-3, scenario.arrivingRate);
  return Math.max(nowS, rampS + stepCount * stepS);
}

export function progressOf(snapshots: readonly Snapshot[], budgetMs?: number): number {
  const last = snapshots.at(-1);
  if (!last) return 0;
  if (last.phase === 'done') return 1;
  if (last.search && budgetMs !== undefined) return Math.min(1, last.atMs / budgetMs);
  if (!last.step) return 0;
  const { index, elapsedS, totalS } = last.step;
  const within = totalS > 0 ? Math.min(1, elapsedS / totalS) : 1;
  return Math.min(1, (index - 1 + within) / Math.max(1, last.stepCount));
}
