/** One proposal at the cursor. */
export interface Completion {
  readonly kind: 'key' | 'value' | 'reference' | 'scenario';
  readonly label: string;
  /** What is written; in the notation of snippets when `snippet` is set. */
  readonly insert: string;
  readonly snippet: boolean;
  /** Range of the text that it replaces. */
  readonly offset: number;
  readonly length: number;
  readonly detail?: string;
  /** Markdown. */
  readonly documentation?: string;
  /** Whether the values are proposed next. */
  readonly goesOn?: boolean;
}

/** Names that references may name, whose values are never asked for, and hubs without secrets in them. */
export interface ReferenceNames {
  readonly environment: readonly string[];
  readonly secrets: readonly string[];
  /** URLs of hubs that were used, the last one first. */
  readonly hubs: readonly string[];
}
