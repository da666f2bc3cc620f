import type { Metric } from './slo';

export const searchKinds = ['senders', 'rate', 'connections', 'messageSize'] as const;
export type SearchKind = (typeof searchKinds)[number];

/**
 * `found`: the interval is as narrow as asked. `allHeld`, `noneHeld`: even the highest value passed, even the lowest
 * failed. `budget`: the time was over.
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
  readonly name?: string;
  /** Microseconds for a latency, 0…1 for a share, a count, or a number per second. */
  readonly limit: number;
  readonly value: number | null;
}

export interface SearchStep {
  readonly index: number;
  readonly value: number;
  readonly status: 'pass' | 'fail' | 'invalid' | 'incomplete';
  /** Microseconds, over the expected deliveries; null where the rank was lost, or nothing was expected. */
  readonly p50: number | null;
  readonly p99: number | null;
  readonly lost: number;
  readonly broken?: BrokenObjective;
  /** It was too short to say whether deliveries fall behind. */
  readonly tooShort?: true;
}

export const isJudged = ({ status }: SearchStep): boolean => status === 'pass' || status === 'fail';

/** The step whose numbers are shown for a value: the newest one that was judged, else the newest. */
export const representativeStep = (tries: readonly SearchStep[]): SearchStep =>
  tries.filter(isJudged).at(-1) ?? tries.at(-1)!;

/** All steps of each value, in the order they were run; values rise. */
export function triesByValue(steps: readonly SearchStep[]): SearchStep[][] {
  const tries = new Map<number, SearchStep[]>();
  for (const step of steps) {
    const own = tries.get(step.value);
    if (own) own.push(step);
    else tries.set(step.value, [step]);
  }
  return [...tries.values()].sort(([a], [b]) => a!.value - b!.value);
}

export interface SearchSummary {
  readonly of: SearchKind;
  /** The range that was searched, until the interval is narrower than `precision` (0…1). */
  readonly from: number;
  readonly to: number;
  readonly precision: number;
  readonly budgetMs: number;
  /** Why `to` is lower than configured: the pauses of its sessions allow no higher rate. */
  readonly ceiling?: 'pauses';
  readonly low: number | null;
  readonly high: number | null;
  /** Units that `low` needs; null where no number can be given. */
  readonly unit: number | null;
  readonly ended: SearchEnd;
  readonly broken: BrokenObjective | null;
  readonly steps: readonly SearchStep[];
  readonly elapsedMs: number;
}
