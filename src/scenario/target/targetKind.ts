/** What stands behind a target, which decides what a run has to ask and may take for granted. */
export type Behind =
  /** A server that is started for the run: nobody is asked, and nothing leaves this machine. */
  | 'ownServer'
  /** Somebody's app server: it has its own dialect and its own way to a service, and may be shared. */
  | 'userHub'
  /** A service of Azure or its emulator, for which a run brings tokens and, in default mode, app servers. */
  | 'service';

/** What one kind of target is, as far as a file tells. The Node half opens it: `src/targets/openTarget.ts`. */
export interface TargetKind<Spec extends { readonly kind: string }> {
  readonly kind: Spec['kind'];
  readonly behind: Behind;
  /** Reads `target` where it is one text; undefined when that is of another kind. */
  matches?(text: string, wishes: TargetWishes): Spec | undefined;
  /** Regular expression of such texts, for the schema. */
  readonly pattern?: string;
  /** What completion offers for `target`, with some words of English. */
  readonly offers?: readonly (readonly [text: string, words: string])[];
  /** URLs of hubs that it names. */
  urls?(spec: Spec): readonly string[];
  /** The connection string that it names. */
  connectionString?(spec: Spec): string;
  /** The same with other texts, such as those without secrets. */
  withTexts?(spec: Spec, change: (text: string) => string): Spec;
}

export interface TargetWishes {
  /** A text that is nothing but a reference stands for a connection string. */
  readonly preferConnectionString: boolean;
}
