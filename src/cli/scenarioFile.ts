import { open } from 'node:fs/promises';
import { ExpectedError } from '../base/expectedError';
import { fileProblem } from '../results/resultFolder';

/** Larger files are no scenarios. */
const mostBytes = 1024 * 1024;

/**
 * Text of a scenario file, without byte order mark.
 *
 * @throws ExpectedError `scenario-file` when it is missing, a folder, too large or no text
 */
export async function readScenarioFile(path: string): Promise<string> {
  const bytes = await readBounded(path);
  if (bytes.includes(0)) throw notReadable(path, 'it is a binary file, not YAML text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notReadable(path, 'it is not UTF-8 text. Save it as UTF-8');
  }
}

async function readBounded(path: string): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r');
    try {
      // One byte more than allowed tells a file that is too large, even where sizes are unknown.
      const buffer = Buffer.alloc(mostBytes + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (length > mostBytes) throw notReadable(path, 'it is larger than 1 MB');
        if (bytesRead === 0) return buffer.subarray(0, length);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new ExpectedError('scenario-file', `There is no file ${path}.`, { cause: error });
    }
    throw notReadable(path, fileProblem(error));
  }
}

function notReadable(path: string, why: string): ExpectedError {
  return new ExpectedError('scenario-file', `${path} cannot be read: ${why}.`);
}
