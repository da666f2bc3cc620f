/**
 * How whoever asks would change what a sentence advises them to change: a command line by its flags, an editor by its
 * questions and settings. Each goes on a sentence, and may be empty.
 */
export interface ClusterWords {
  /** After `name another namespace`. */
  readonly namespace: string;
  /** After `name one`, of contexts. */
  readonly context: string;
  /** After `Use at most 2 agents`. */
  readonly agents: (most: number) => string;
  /** After `mirrors of both`, of images. */
  readonly images: string;
  /** After `There is no run ID in this namespace`. */
  readonly runs: string;
}
