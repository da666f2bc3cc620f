import assert from 'node:assert/strict';

/**
 * How often a test of this suite is tried: other work on the machine makes everything slower at times,
 * what is wrong with the engine is wrong each time.
 */
export const retries = 2;

/** Fails with the figures when the value lies outside. Microseconds, limits in milliseconds. */
export function assertBetween(what: string, us: number, fromMs: number, toMs: number): void {
  const ms = us / 1000;
  assert.ok(ms >= fromMs && ms <= toMs, `${what} is ${ms} ms, not ${fromMs} to ${toMs}`);
}
