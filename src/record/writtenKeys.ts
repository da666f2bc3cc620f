/** A part of a scenario file: a map in its order, each key with what is said above it and beside it. */
export interface WrittenKey {
  readonly above?: readonly string[];
  readonly beside?: string;
  readonly value: unknown;
}

/** Keys in place of a plain value. */
export class Keys {
  constructor(readonly keys: Readonly<Record<string, WrittenKey>>) {}
}
