import type { OpenEvent } from '../recording';

/** How many of these clients were there at the same time, at most. */
export function mostAtOnce(
  clients: readonly { readonly open: OpenEvent; readonly closedUs?: number }[],
): number {
  let [most, there] = [0, 0];
  const changes = clients
    .flatMap(({ open, closedUs = Infinity }): [number, number][] => [
      [open.t, 1],
      [closedUs, -1],
    ])
    .sort(([a, x], [b, y]) => (a === b ? x - y : a - b));
  for (const [, change] of changes) most = Math.max(most, (there += change));
  return most;
}
