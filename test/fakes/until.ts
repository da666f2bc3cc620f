import { setTimeout as sleep } from 'node:timers/promises';

/** For what hangs; no slowness of a machine comes near it. */
const limitMs = 30_000;

/** Waits until the condition holds; fails after a while, naming what was waited for. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`${what} did not happen within ${limitMs} ms`);
    await sleep(5);
  }
}
