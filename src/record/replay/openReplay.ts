import path from 'node:path';
import { formatCount } from '../../base/units';
import type { ReplayTracks } from '../../plan/plan';
import { openNamedRecording } from '../recordingFile';
import { readReplay, type ReplayProtocol } from './readReplay';

/** What a run needs of a recording: into the parameters of the use case, and into the plan. */
export interface OpenedReplay {
  /** One replay, milliseconds. */
  readonly lengthMs: number;
  /** What is counted, as JSON text of a session's steps. */
  readonly steps: string;
  readonly tracks: ReplayTracks;
  /** What is not replayed, as sentences. */
  readonly notes: readonly string[];
}

/** @throws ExpectedError `recording-invalid`, `nothing-to-replay` */
export async function openReplay(
  folder: string,
  file: string,
  asked: { readonly protocol: ReplayProtocol; readonly speed: number; readonly spreadMs: number },
): Promise<OpenedReplay> {
  const recording = await openNamedRecording(folder, file);
  const name = path.basename(file);
  const { lengthUs, steps, tracks, leftOut } = await readReplay(recording, name, asked.protocol);
  const { dueUs } = tracks;
  for (let at = 0; at < dueUs.length; at++) dueUs[at]! /= asked.speed;
  return {
    lengthMs: Math.floor(lengthUs / asked.speed / 1000) + 1,
    steps: JSON.stringify(steps),
    tracks: { ...tracks, spreadUs: asked.spreadMs * 1000 },
    notes: [...recording.notes(), ...leftOutNotes(name, leftOut)],
  };
}

/** Kinds that are named; the most frequent first. */
const mostKinds = 10;

/** One sentence: the editor shows a message for each. */
function leftOutNotes(name: string, leftOut: ReadonlyMap<string, number>): string[] {
  const all = [...leftOut].sort(([, a], [, b]) => b - a);
  const others = all.slice(mostKinds).reduce((sum, [, count]) => sum + count, 0);
  const named = all.slice(0, mostKinds);
  if (others > 0) named.push(['something else', others]);
  const words = named.map(([what, count]) => `${formatCount(count)} × ${what}`).join('; ');
  return words === '' ? [] : [`Not replayed of ${name}: ${words}.`];
}
