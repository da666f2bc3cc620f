/** Texts of files that people name: UTF-8, within bounds. */
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../base/expectedError';
import { openNamed } from '../results/safeFiles';
import { fileProblem } from '../results/resultFolder';

const mostBytes = 1024 * 1024;
export const mostScenarioBytes = 2 * mostBytes;

/** Without byte order mark. @throws ExpectedError `scenario-file` when it is missing, a folder, too large or no text */
export const readScenarioFile = (file: string): Promise<string> =>
  readText(file, mostScenarioBytes, () => open(file, 'r'));

/** The same of one that a scenario names, relative to its folder. @throws as {@link readScenarioFile} and `openNamed` */
export const readNamedFile = (folder: string, name: string, most = mostBytes): Promise<string> =>
  readText(path.resolve(folder, name), most, () => openNamed(folder, name));

/** Without byte order mark. @throws ExpectedError `scenario-file` */
export function textOf(file: string, bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw notReadable(file, 'it is UTF-16 text. Save it as UTF-8');
  if (bytes.includes(0)) throw notReadable(file, 'it is a binary file, not YAML text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const line = wrongLine(bytes);
    throw notReadable(file, `it is not UTF-8 text, first in line ${line}. Save it as UTF-8`);
  }
}

/** The first line that is not UTF-8. */
function wrongLine(bytes: Uint8Array): number {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const next = end === -1 ? bytes.length : end + 1;
    try {
      decoder.decode(bytes.subarray(start, next));
    } catch {
      return line;
    }
    start = next;
  }
  return line;
}

/** By its byte order mark, or because it begins with a letter of ASCII in two bytes, as Windows PowerShell 5 writes. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const isText = (byte: number): boolean => byte === 0x0a || byte === 0x0d || byte >= 0x20;
  const pairs = bytes.length >= 4 && bytes.length % 2 === 0;
  const little = pairs && isText(first) && second === 0 && isText(bytes[2]!) && bytes[3] === 0;
  const big = pairs && first === 0 && isText(second) && bytes[2] === 0 && isText(bytes[3]!);
  return isMarked || little || big;
}

async function readText(
  file: string,
  most: number,
  opening: () => Promise<FileHandle>,
): Promise<string> {
  try {
    const handle = await opening();
    try {
      // One byte more than allowed: a file that is too large shows, even where sizes are unknown.
      let buffer = Buffer.alloc(Math.min(most, mostBytes) + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (length > most) throw notReadable(file, `it is larger than ${most / mostBytes} MB`);
        if (length === buffer.length)
          buffer = Buffer.concat([buffer], Math.min(most + 1, 4 * buffer.length));
        if (bytesRead === 0) return textOf(file, buffer.subarray(0, length));
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new ExpectedError('scenario-file', `There is no file ${file}.`, { cause: error });
    throw notReadable(file, fileProblem(error));
  }
}

export function notReadable(file: string, why: string): ExpectedError {
  return new ExpectedError('scenario-file', `${file} cannot be read: ${why}.`);
}
