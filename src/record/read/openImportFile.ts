import { open } from 'node:fs/promises';
import { ExpectedError } from '../../base/expectedError';
import { recordingExtension, type OpenedRecording } from '../recording';
import { openRecording } from '../recordingFile';
import { readHarFile } from './harFile';
import { isLog, readLogFile } from './logFile';

const headBytes = 4096;

/** Undefined for an unknown kind of file. @throws ExpectedError `import-file`, `recording-invalid` */
export async function openImportFile(file: string): Promise<OpenedRecording | undefined> {
  const head = await headOf(file);
  if (
    file.endsWith(recordingExtension) ||
    /^\s*\{\s*"schema"\s*:\s*"signalr-bench-recording\//.test(head)
  )
    return openRecording(file);
  if (/\.har$/i.test(file) || /^\s*\{\s*"log"\s*:/.test(head)) return readHarFile(file);
  return /\.log$/i.test(file) || isLog(head) ? readLogFile(file) : undefined;
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file, 'r').catch((cause: unknown) => {
    throw notRead(file, cause);
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (cause) {
    throw notRead(file, cause);
  } finally {
    await handle.close();
  }
}

const problems: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  EACCES: 'this account may not read it',
};

function notRead(file: string, cause: unknown): ExpectedError {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  const text =
    code === 'ENOENT'
      ? `There is no file ${file}.`
      : `${file} cannot be read: ${problems[code] ?? message}.`;
  return new ExpectedError('import-file', text, { cause });
}
