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
