/** A clock set back by more was wrong before: what it says now is believed. */
const mostMs = 24 * 3_600_000;

/**
 * Start times of the runs of one window. A clock that is set back between two runs does not put the later
 * one before the other: results are named by these times, and lists show the newest first.
 *
 * @param now reads the wall clock
 */
export function startTimes(now: () => Date): () => Date {
  let lastMs = -Infinity;
  return () => {
    const nowMs = now().getTime();
    const isBehind = nowMs <= lastMs && lastMs - nowMs < mostMs;
    // Names of result folders count in seconds.
    lastMs = isBehind ? lastMs + 1000 : nowMs;
    return new Date(lastMs);
  };
}
