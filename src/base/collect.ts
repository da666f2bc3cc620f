export function addCount<Key>(counts: Map<Key, number>, key: Key, times = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + times);
}

export function getOrCreate<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => NoInfer<Value>,
): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

export function groupBy<Key, Value>(
  values: Iterable<Value>,
  keyOf: (value: Value) => Key,
): Map<Key, Value[]> {
  const groups = new Map<Key, Value[]>();
  for (const value of values) getOrCreate(groups, keyOf(value), () => []).push(value);
  return groups;
}

/** The most frequent first. */
export function mostFrequent<T>(values: readonly T[]): T[] {
  const counts = new Map<T, number>();
  for (const value of values) addCount(counts, value);
  return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}
