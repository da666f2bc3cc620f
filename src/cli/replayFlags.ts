import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { parseDurationMs } from '../base/units';
import { isRecording } from '../run/isReplay';
import { fastestReplay, slowestReplay } from '../usecases/cases/replay';
import type { ProcessIo } from './io';

export interface ReplayFlags {
  /** How often each recorded client is replayed. */
  readonly clients?: string;
  readonly speed?: string;
  /** Over which time its replays begin. */
  readonly spread?: string;
}

const mostTimes = 1_000_000;

/**
 * The scenario that replays a recording; undefined for a file that is none.
 * @throws ExpectedError `flag-without-effect`, `replay-flag`, and what the recording is refused for
 */
export async function replayedScenario(
  file: string,
  { clients, speed, spread }: ReplayFlags,
  { cwd }: Pick<ProcessIo, 'cwd'>,
): Promise<{ readonly name: string; readonly text: string } | undefined> {
  const location = path.resolve(cwd, file);
  if (file !== '-' && (await isRecording(location))) {
    const wishes = {
      ...(clients !== undefined && { times: times(clients) }),
      ...(speed !== undefined && { speed: factor(speed) }),
      ...(spread !== undefined && { spreadMs: durationMs(spread) }),
    };
    const { replayScenario } = await import('../run/replays.js');
    return { name: file, text: await replayScenario(location, wishes) };
  }
  const given = Object.entries({ clients, speed, spread }).find(([, value]) => value !== undefined);
  if (given === undefined) return undefined;
  throw new ExpectedError(
    'flag-without-effect',
    `--${given[0]} belongs to the replay of a recording, and ${file} is not one. Nothing was started.`,
  );
}

function times(text: string): number {
  const value = Number(/^[x×]?(\d{1,7})[x×]?$/i.exec(text.trim())?.[1] ?? NaN);
  if (!(value >= 1 && value <= mostTimes))
    throw wrong('--clients', `how often, from x1 to x${mostTimes}, such as x50`);
  return value;
}

function factor(text: string): number {
  const value = Number(/^[x×]?(\d{1,4}(?:\.\d{1,4})?)[x×]?$/i.exec(text.trim())?.[1] ?? NaN);
  if (!(value >= slowestReplay && value <= fastestReplay))
    throw wrong('--speed', `a number from ${slowestReplay} to ${fastestReplay}, such as 2`);
  return value;
}

function durationMs(text: string): number {
  const value = parseDurationMs(text.trim());
  if (value === undefined || value < 0 || value > 86_400_000)
    throw wrong('--spread', 'a duration from 0s to 24h, such as 10s');
  return value;
}

const wrong = (flag: string, wanted: string): ExpectedError =>
  new ExpectedError('replay-flag', `${flag} must be ${wanted}. Nothing was started.`);
