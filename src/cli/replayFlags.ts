import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { isRecording } from '../run/isReplay';
import type { ProcessIo } from './io';

export interface ReplayFlags {
  /** How often each recorded client is replayed. */
  readonly clients?: number;
  readonly speed?: number;
  /** Over which time its replays begin, milliseconds. */
  readonly spread?: number;
}

/**
 * The scenario that replays a recording; undefined for a file that is none.
 * @throws ExpectedError `flag-without-effect`, and what the recording is refused for
 */
export async function replayedScenario(
  file: string,
  { clients, speed, spread }: ReplayFlags,
  { cwd }: Pick<ProcessIo, 'cwd'>,
): Promise<{ readonly name: string; readonly text: string } | undefined> {
  const location = path.resolve(cwd, file);
  if (file !== '-' && (await isRecording(location))) {
    const { replayScenario } = await import(
      /* webpackChunkName: "record" */ '../record/replay/replayScenario.js'
    );
    const wishes = { times: clients, speed, spreadMs: spread };
    return { name: file, text: await replayScenario(location, wishes) };
  }
  const given = Object.entries({ clients, speed, spread }).find(([, value]) => value !== undefined);
  if (given === undefined) return undefined;
  throw new ExpectedError(
    'flag-without-effect',
    `--${given[0]} belongs to the replay of a recording, and ${file} is not one. Nothing was started.`,
  );
}
