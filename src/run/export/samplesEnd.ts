import path from 'node:path';
import type { Snapshot } from '../../measure/snapshot';
import { folderOf, readSamples, type StoredRun } from '../../results/readResult';
import type { Result } from '../../results/result';
import { samplesFile } from '../../results/resultFolder';
import { clock } from '../runWords';

/** Samples come once a second, and the last one as connections begin to close. */
const usualGapMs = 2000;

/** Has a hundred lines of most runs; where it has no whole one, the file is read from its begin. */
const tailBytes = 128 * 1024;

/** That samples end before the run did, in a sentence; undefined when they do not. `last` is the last of them. */
export function samplesEndWords(
  { startedAt, endedAt }: Pick<Result, 'startedAt' | 'endedAt'>,
  { atMs, phase }: Pick<Snapshot, 'atMs' | 'phase'>,
): string | undefined {
  const endMs = Date.parse(endedAt) - Date.parse(startedAt);
  const closed = phase === 'closing' || phase === 'done';
  if (closed || endMs - atMs <= usualGapMs) return undefined;
  return `The samples end at ${clock(Math.max(0, atMs / 1000))} of ${clock(endMs / 1000)}: the rest of the file is missing or damaged.`;
}

/** The same for a stored run; none for one that was interrupted, of which nobody knows the end, or has no samples at all. */
export async function samplesProblem(run: StoredRun): Promise<string | undefined> {
  if (run.kind === 'interrupted') return undefined;
  const file = path.join(folderOf(run), samplesFile);
  const last = (await lastOf(file, tailBytes)) ?? (await lastOf(file));
  return last && samplesEndWords(run.result, last);
}

async function lastOf(file: string, mostBytes?: number): Promise<Snapshot | undefined> {
  let last: Snapshot | undefined;
  for await (const sample of readSamples(file, mostBytes)) last = sample;
  return last;
}
