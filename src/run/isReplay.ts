/** What shells ask before they load what replays recordings. */
import { open } from 'node:fs/promises';
import { ExpectedError } from '../base/expectedError';
import type { Scenario, ScenarioEntry } from '../scenario/scenario';

export const isReplay = ({ name }: Pick<ScenarioEntry, 'name'>): boolean => name === 'replay';

/** What is sent stays on one machine; that it stays in one process, the plan sees to. @throws ExpectedError `replay-agents` */
export function refuseReplays({ entries }: Pick<Scenario, 'entries'>): void {
  if (!entries.some(isReplay)) return;
  throw new ExpectedError(
    'replay-agents',
    'A recording is replayed by one machine alone: leave --on, --agents and config.agents out, or make a scenario of it with import.',
  );
}

/** How the first line of every recording begins, and the names of those that nobody has renamed end. */
const firstBytes = '{"schema":"signalr-bench-recording/';
const ending = '.recording.jsonl';

/** By its name, or its first bytes; false for what cannot be read. */
export async function isRecording(file: string): Promise<boolean> {
  if (file.endsWith(ending)) return true;
  try {
    const handle = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(firstBytes.length));
      return buffer.toString('latin1', 0, bytesRead) === firstBytes;
    } finally {
      await handle.close();
    }
  } catch {
    return false;
  }
}
