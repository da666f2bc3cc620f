/** Messages between the editor and the page that lists results, and its texts in English. */

/** A result as the list shows it, its words in the language of the editor. No secrets. */
export interface OverviewRow {
  /** What the page calls it by; it means nothing to the page. */
  readonly id: string;
  readonly scenario: string;
  readonly startedMs: number;
  /** When it ran, or the name that somebody gave it. */
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
  /** The texts below in the user's language. */
  readonly strings: Readonly<Record<string, string>>;
}

/** Orders and facts from the page. */
export type FromOverviewPanel =
  | { readonly type: 'ready' }
  | { readonly type: 'open'; readonly id: string };

export const overviewStrings = {
  results: 'Results',
  scenario: 'Scenario',
  allScenarios: 'all scenarios',
  words: 'Filter',
  when: 'When',
  unit: 'Unit',
  outcome: 'Outcome',
  noUnit: 'none',
  noValue: '–',
  trend: 'p99 and Units over the runs of {0}',
  trendOne: 'Choose one scenario to see p99 and Units over its runs.',
  chartSummary: '{0}: {1}',
  chartRole: 'chart',
  chartHint: 'Arrow keys go from point to point.',
  counted: '{0} of {1} results',
};

export type OverviewStrings = Readonly<Record<keyof typeof overviewStrings, string>>;
