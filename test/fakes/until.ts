import { setTimeout as sleep } from 'node:timers/promises';

const limitMs = 5000;

/** Waits until the condition holds; fails after a while, naming what was waited for. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`${what} did not happen within ${limitMs} ms`);
    await sleep(5);
  }
}
