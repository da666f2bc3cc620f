import assert from 'node:assert/strict';

/** Fails with the figures when the value lies outside. Microseconds, limits in milliseconds. */
export function assertBetween(what: string, us: number, fromMs: number, toMs: number): void {
  const ms = us / 1000;
  assert.ok(ms >= fromMs && ms <= toMs, `${what} is ${ms} ms, not ${fromMs} to ${toMs}`);
}
