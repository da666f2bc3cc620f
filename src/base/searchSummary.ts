import type { Metric } from './slo';

/** What a search varies. */
export const searchKinds = ['senders', 'rate', 'connections', 'messageSize'] as const;
export type SearchKind = (typeof searchKinds)[number];

/**
 * How a search ended: the interval is as narrow as asked (`found`), everything up to the highest value held, or
 * not even the lowest did; the generator could not offer more; the time was over; or the run was ended.
 */
export const searchEnds = [
  'found',
  'generatorLimit',
  'budget',
  'allHeld',
  'noneHeld',
  'stopped',
  'targetLost',
] as const;
export type SearchEnd = (typeof searchEnds)[number];

/** An objective that was missed, or `backlog`: deliveries fell behind by that share of the time. */
export interface BrokenObjective {
  readonly metric: Metric | 'backlog';
  /** Of the objective, as people call it; absent: it has none. */
  readonly name?: string;
  /** Microseconds for a latency, 0…1 for a share, a count, or a number per second. */
  readonly limit: number;
  /** In the unit of `limit`; null when the rank was lost. */
  readonly value: number | null;
}

export interface SearchStep {
  /** Of the step in the result. */
  readonly index: number;
  readonly value: number;
  readonly status: 'pass' | 'fail' | 'invalid' | 'incomplete';
  /** Microseconds over what was expected; null where the rank was lost, or nothing was expected. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly lost: number;
  /** What it missed first. */
  readonly broken?: BrokenObjective;
  /** It was too short to say whether deliveries fall behind. */
  readonly tooShort?: true;
}

export const isJudged = ({ status }: SearchStep): boolean => status === 'pass' || status === 'fail';

/** The step whose numbers a value is shown with: of several tries the newest that was judged, else the newest. */
export const shownStep = (tries: readonly SearchStep[]): SearchStep =>
  tries.filter(isJudged).at(-1) ?? tries.at(-1)!;

/** All tries of each value, in the order they were run; values rise. */
export function triesByValue(steps: readonly SearchStep[]): SearchStep[][] {
  const tries = new Map<number, SearchStep[]>();
  for (const step of steps) {
    const own = tries.get(step.value);
    if (own) own.push(step);
    else tries.set(step.value, [step]);
  }
  return [...tries.values()].sort(([a], [b]) => a!.value - b!.value);
}

/** A capacity search, as `result.json` has it. */
export interface SearchSummary {
  readonly of: SearchKind;
  /** What was searched: from the lowest value to the highest, until the interval is so narrow (0…1). */
  readonly from: number;
  readonly to: number;
  readonly precision: number;
  readonly budgetMs: number;
  /** Why `to` is lower than what was asked for: the pauses of its sessions allow no higher rate. */
  readonly ceiling?: 'pauses';
  /** The highest value that held; null when none did. */
  readonly low: number | null;
  /** The lowest one that did not; null when none failed. */
  readonly high: number | null;
  /** Units that `low` needs; null where no number can be given. */
  readonly unit: number | null;
  readonly ended: SearchEnd;
  /** What `high` missed. */
  readonly broken: BrokenObjective | null;
  /** In the order they were run. */
  readonly steps: readonly SearchStep[];
  readonly elapsedMs: number;
}
