import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { StepSummary } from '../../src/measure/summary';
import { skipAnywhere } from '../fakes/skipAloud';
import { loadRun, onlyStep, type LoadResult, type LoadTest } from '../load/loadRun';

/** Round trips in milliseconds, as another program has read them. */
export interface Reference {
  readonly minMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface MeasuredRun {
  readonly run: LoadResult;
  readonly step: StepSummary;
  readonly reference: Reference;
}

/** What the official client reads on the same hub while `act` goes on, in a process of its own. */
export async function besideReference<T>(
  url: string,
  transport: string,
  act: () => Promise<T>,
): Promise<readonly [T, Reference]> {
  const script = require.resolve('../fakes/referenceClient');
  const child = spawn(process.execPath, [script, url, transport], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const first: IteratorResult<string, undefined> = await lines.next();
    assert.equal(first.value, 'ready');
    const done = await act();
    child.stdin.end();
    const last: IteratorResult<string, undefined> = await lines.next();
    const sorted = (JSON.parse(last.value ?? '[]') as number[]).sort((a, b) => a - b);
    assert.ok(sorted.length >= 20, `${sorted.length} round trips of the reference`);
    const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1]!;
    return [done, { minMs: sorted[0]!, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) }];
  } finally {
    if (child.exitCode === null) {
      child.kill();
      await once(child, 'exit');
    }
  }
}

/** A run of one step, and what the reference reads meanwhile. */
export async function measuredRun(test: LoadTest & { target: string }): Promise<MeasuredRun> {
  const { transport = 'Websockets' } = (test.config ?? {}) as { transport?: string };
  const [run, reference] = await besideReference(test.target, transport, () => loadRun(test));
  return { run, step: onlyStep(run), reference };
}

/** What a driver may add to a message, milliseconds. */
export const ownMs = 2;
/** What the machine may add to the reference's median before nothing can be said of the engine. */
const quietMs = 5;
/** So often a machine that is busy with other things is tried again. */
const rounds = 4;

/** Repeats `judge` until it could judge all; otherwise skips the test, aloud. */
export async function inQuiet(
  test: Mocha.Context,
  judge: () => Promise<{ readonly judged: boolean; readonly reference: Reference }>,
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    const { judged, reference } = await judge();
    if (judged) return;
    process.stdout.write(`      too busy a machine: ${JSON.stringify(reference)}\n`);
  }
  skipAnywhere(test, `the machine was too busy to judge in all of ${rounds} rounds`);
}

/** What the machine adds to the median of the reference, milliseconds; undefined where that is too much. */
export function noiseOf({ p50Ms }: Reference, delayMs: number): number | undefined {
  const noiseMs = Math.max(0, p50Ms - delayMs);
  return noiseMs <= quietMs ? noiseMs : undefined;
}

/**
 * That the engine reads the delay of a hub, which is known exactly: never less, and at the median and at the least
 * no more than the reference, but for 2 ms and once more what the machine adds to the reference. That is below 1 ms
 * where nothing else runs. The median, since a machine that other work shares holds up single messages by far more
 * than an engine costs, and leaves most of them alone.
 *
 * @returns false when more than half of the reference's messages had to wait for the machine, so that only the lower
 *   bound was judged
 */
export function readsDelay(step: StepSummary, delayMs: number, reference: Reference): boolean {
  const noiseMs = noiseOf(reference, delayMs);
  const figures = `${JSON.stringify(step.latencyUs)}, reference ${JSON.stringify(reference)}`;
  for (const { min, p50 } of [step.latencyUs, step.sendLatencyUs]) {
    assert.ok(min >= delayMs * 1000, `less than the hub takes: ${figures}`);
    if (noiseMs === undefined) continue;
    const mostMs = ownMs + noiseMs;
    assert.ok(min / 1000 <= reference.minMs + mostMs, `the least is too much: ${figures}`);
    assert.ok(p50 / 1000 <= reference.p50Ms + mostMs, `p50 is too much: ${figures}`);
  }
  return noiseMs !== undefined;
}
