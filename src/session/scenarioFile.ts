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
  return textOf(path, await readBounded(path));
}

/** Name of standard input in messages. */
const inputName = '<stdin>';

/** A scenario file as it is named on a command line: its name for messages, and its text. */
export async function namedScenario(
  file: string,
  input: () => AsyncIterable<Uint8Array>,
): Promise<{ readonly name: string; readonly text: string }> {
  if (file !== '-') return { name: file, text: await readScenarioFile(file) };
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of input()) {
    parts.push(part);
    length += part.length;
    if (length > mostBytes) throw notReadable(inputName, 'it is larger than 1 MB');
  }
  return { name: inputName, text: textOf(inputName, Buffer.concat(parts)) };
}

function textOf(path: string, bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw notReadable(path, 'it is UTF-16 text. Save it as UTF-8');
  if (bytes.includes(0)) throw notReadable(path, 'it is a binary file, not YAML text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw notReadable(path, 'it is not UTF-8 text. Save it as UTF-8');
  }
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
