import type { Snapshot, StepProgress } from '../measure/snapshot';
import {
  columnsToSnapshots,
  mostSnapshots,
  thinSnapshots,
  dropDetails,
} from '../measure/snapshotHistory';
import { stepBands, addLateSeries } from '../measure/show/timeSeries';
import type { AgentProgress } from '../measure/summary';
import type { PanelResult, PanelRun, PanelSpectrum, ToPanel } from '../messages/panel';
import type { PanelStrings } from '../measure/show/panelStrings';
import { isTimeMetric } from '../base/objectives/percentile';
import { fill } from '../base/text';
import { latencyWords, formatCount, formatShare } from '../base/units';
import { shownPercentiles } from '../measure/latencySummary';
import { searchKindTexts } from '../measure/show/panelTables';
import type { BrokenObjective, SearchKind, SearchStep, SearchSummary } from '../base/searchSummary';

export interface ShownRun {
  readonly kind: 'run';
  readonly strings: PanelStrings;
  readonly run: PanelRun;
  readonly load: string;
  /** Oldest first, fewer than twice {@link mostSnapshots}. */
  readonly snapshots: readonly Snapshot[];
  /** Current agents; a result has its own. */
  readonly agents: readonly AgentProgress[];
  readonly result: PanelResult | undefined;
  readonly spectra: readonly PanelSpectrum[];
  readonly interrupted: boolean;
}

export type PanelState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'unreadable'; readonly strings: PanelStrings; readonly message: string }
  | ShownRun;

export const initialState: PanelState = { kind: 'waiting' };

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
  // A snapshot sent before the panel was filled may arrive twice.
  if (last && snapshot.atMs < last.atMs) return state;
  const { agents = state.agents, ...added } = snapshot;
  const all = [...state.snapshots, added];
  // Only the newest snapshots of a step need details; charts continue from the last.
  const [passed, newer] = state.snapshots.slice(-2);
  if (passed?.step && newer && passed.step.index === newer.step?.index)
    all[all.length - 3] = dropDetails(passed);
  const snapshots = all.length >= 2 * mostSnapshots ? thinSnapshots(all) : all;
  return { ...state, agents, snapshots };
}

/** The last problem beside the load; empty if the final sentence says it. */
export function latestProblem({ snapshots, result }: ShownRun): string {
  const problem = snapshots.at(-1)?.problem ?? '';
  return result?.endingMessage?.includes(problem) === true ? '' : problem;
}

export const isOver = ({ result, interrupted }: ShownRun): boolean =>
  result !== undefined || interrupted;

export const isUnreachable = ({ result }: ShownRun): boolean =>
  result !== undefined && result.steps.length === 0 && result.connections.connected === 0;

export function latestSteps({ snapshots }: ShownRun): StepProgress[] {
  const steps = new Map<number, StepProgress>();
  for (const { step } of snapshots) if (step) steps.set(step.index, step);
  return [...steps.values()];
}

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

export function lossesOfEndedSteps(snapshots: readonly Snapshot[]): number {
  const outstanding = new Map<number, number>();
  for (const { step } of snapshots) if (step) outstanding.set(step.index, step.outstanding);
  const latest = snapshots.at(-1);
  const over = latest?.phase === 'closing' || latest?.phase === 'done';
  if (!over && latest?.step) outstanding.delete(latest.step.index);
  return [...outstanding.values()].reduce((sum, count) => sum + count, 0);
}

export function axisEndS(state: ShownRun): number {
  const { run, snapshots } = state;
  return isOver(state) ? (snapshots.at(-1)?.atMs ?? 0) / 1000 : plannedEndS(run, snapshots);
}

/** Planned end, seconds: ramp, warm-ups and measured time. Draining is unknown in advance. */
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

/** A search so far, or of the result. */
export type ShownSearch = Pick<
  SearchSummary,
  'of' | 'low' | 'high' | 'precision' | 'steps' | 'broken'
> & { readonly elapsedMs: number };

export function searchOf({ result, snapshots, run }: ShownRun): ShownSearch | undefined {
  if (result?.search !== undefined) return result.search;
  const latest = snapshots.at(-1);
  const now = latest?.search;
  const spec = run.scenario.search;
  if (result !== undefined || latest === undefined || now === undefined || spec === undefined)
    return undefined;
  const steps = new Map<number, SearchStep>();
  for (const { search, step } of snapshots) {
    if (search === undefined || step === undefined) continue;
    const { index, outstanding, verdict, over } = step;
    // Between two steps, a snapshot pairs the new value with the old step.
    const value = steps.get(index)?.value ?? search.value;
    const latency = shownPercentiles(step);
    steps.set(index, {
      ...{ index, value, status: verdict ?? 'incomplete', lost: over ? outstanding : 0 },
      ...{ p50: latency?.p50 ?? null, p99: latency?.p99 ?? null },
    });
  }
  return {
    ...now,
    precision: spec.precision,
    steps: [...steps.values()],
    broken: null,
    elapsedMs: latest.atMs,
  };
}

export const kindWord = (of: SearchKind, strings: PanelStrings): string =>
  strings[searchKindTexts[of]];

export const searchValueText = (of: SearchKind, value: number, strings: PanelStrings): string =>
  `${formatCount(value)} ${kindWord(of, strings)}`;

export function brokenText(
  { metric, name: called, limit, value }: BrokenObjective,
  strings: PanelStrings,
): string {
  const isCounted = /^(?:rate|errors)/.test(metric);
  const words = isTimeMetric(metric) ? latencyWords : isCounted ? formatCount : formatShare;
  const shown = value === null ? strings.isLost : words(value);
  const name =
    metric === 'backlog'
      ? strings.backlog
      : called === undefined
        ? metric
        : `${called} (${metric})`;
  return fill(strings.brokenLimit, name, shown, words(limit));
}

export function outcomeText(
  { status, broken, tooShort }: SearchStep,
  strings: PanelStrings,
): string {
  if (status === 'pass') return strings.stepHeld;
  if (status === 'invalid') return strings.stepNotOffered;
  if (tooShort) return strings.stepTooShort;
  if (status === 'incomplete') return strings.verdictRunning;
  return broken === undefined ? strings.stepMissed : brokenText(broken, strings);
}
