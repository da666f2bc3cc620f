import { isTimeMetric } from '../base/objectives/percentile';
import { fill } from '../base/text';
import { latencyWords, formatCount, formatShare } from '../base/units';
import { shownPercentiles } from '../measure/latencySummary';
import { searchKindTexts } from '../measure/show/panelTables';
import type { PanelStrings } from '../measure/show/panelStrings';
import type { BrokenObjective, SearchKind, SearchStep, SearchSummary } from '../base/searchSummary';
import type { ShownRun } from './panelState';

/** A search as far as it is known: of the result, or while it goes on. */
export type ShownSearch = Pick<
  SearchSummary,
  'of' | 'low' | 'high' | 'precision' | 'steps' | 'broken'
> & { readonly elapsedMs: number };

/** Undefined for a run with fixed steps. */
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
    // A snapshot between two steps names the new value beside the old step.
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

/** `681 senders`. */
export const searchValue = (of: SearchKind, value: number, strings: PanelStrings): string =>
  `${formatCount(value)} ${kindWord(of, strings)}`;

/** `p99 1.06 s, limit 1 s`. */
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

/** What came of a step: `held`, `p99 1.06 s, limit 1 s`. */
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
