/** Which results the page lists, and in which order. */
import type { OverviewRow } from '../messages/panel';

export type SortKey = 'when' | 'scenario' | 'p99' | 'unit' | 'outcome';

export interface Wanted {
  /** Undefined: all scenarios. */
  readonly scenario: string | undefined;
  /** All of them, in any case. */
  readonly words: string;
  readonly key: SortKey;
  readonly falling: boolean;
}

/** By these two rows are compared; undefined stands last in both directions. */
const valueOf: Readonly<Record<SortKey, (row: OverviewRow) => number | string | undefined>> = {
  when: ({ startedMs }) => startedMs,
  scenario: ({ scenario }) => scenario,
  p99: ({ p99Us }) => p99Us,
  unit: ({ unit }) => unit ?? undefined,
  outcome: ({ status }) => status,
};

export function rowsShown(
  rows: readonly OverviewRow[],
  { scenario, words, key, falling }: Wanted,
): OverviewRow[] {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  const value = valueOf[key];
  const sign = falling ? -1 : 1;
  return rows
    .filter((row) => scenario === undefined || row.scenario === scenario)
    .filter((row) => {
      const text = `${row.scenario} ${row.when} ${row.status}`.toLowerCase();
      return all.every((word) => text.includes(word));
    })
    .sort((a, b) => {
      const [left, right] = [value(a), value(b)];
      if (left === right) return b.startedMs - a.startedMs;
      if (left === undefined) return 1;
      if (right === undefined) return -1;
      return left < right ? -sign : sign;
    });
}

export interface Trend {
  readonly scenario: string;
  /** Oldest first; those without a p99 say nothing of it. */
  readonly runs: readonly (OverviewRow & { readonly p99Us: number })[];
}

/** Of the only scenario among the rows; undefined where there are several, or fewer than two runs. */
export function trendOf(rows: readonly OverviewRow[]): Trend | undefined {
  const [first] = rows;
  if (first === undefined || rows.some(({ scenario }) => scenario !== first.scenario))
    return undefined;
  const runs = rows
    .flatMap((row) => (row.p99Us === undefined ? [] : [{ ...row, p99Us: row.p99Us }]))
    .sort((a, b) => a.startedMs - b.startedMs);
  return runs.length < 2 ? undefined : { scenario: first.scenario, runs };
}
