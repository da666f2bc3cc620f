/** A map of a scenario file in its order, with what is said above it; keys without a value are left out. */
export class CommentedMap {
  constructor(
    readonly keys: Readonly<Record<string, unknown>>,
    readonly above: readonly string[] = [],
  ) {}
}

/** A value of a map, with what is said beside it, and above its key. */
export class CommentedValue {
  constructor(
    readonly value: unknown,
    readonly beside?: string,
    readonly above: readonly string[] = [],
  ) {}
}

/** Names of references to secrets in it. */
export function secretNamesIn(value: unknown): string[] {
  if (value instanceof CommentedValue) return secretNamesIn(value.value);
  if (value instanceof CommentedMap) return Object.values(value.keys).flatMap(secretNamesIn);
  if (typeof value !== 'string') return [];
  return [...value.matchAll(/\$\{secret:([^}]+)\}/g)].map(([, name]) => name!);
}
