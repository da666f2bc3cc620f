/** What the generator and a number of deliveries can show at all; the same for checks before and after a run. */

/** Values that must lie beyond a percentile, so that one of them more or less does not move it far. */
export const leastBeyond = 10;

/** Whether so many values show what lies at that share of them (0…1): at least ten lie beyond it. */
export function showsShare(count: number, share: number): boolean {
  // The allowance makes up for 1 − 0.9999 = 0.0000999999….
  return count * (1 - share) >= leastBeyond - 1e-6;
}

/** Values from which on they show a share. */
export const countFor = (share: number): number => Math.ceil(leastBeyond / (1 - share) - 1e-6);

/** The generator naps this long at a time before a message is due, milliseconds. */
export const napMs = 0.05;

/** A worker with much to send wakes at most once in this time, microseconds: docs/measuring.md, *How the generator keeps time*. */
export const gatherUs = 200;

/** What we close takes part no more a second before; whoever is slower than that second misses its objective anyway. */
export const leavingUs = 1_000_000;
