import { open } from 'node:fs/promises';
import { ExpectedError } from '../base/expectedError';
import { fileProblem } from '../results/resultFolder';
import type { Override } from '../scenario/read/overrides';
import type { Problem } from '../scenario/problem';
import type { Scenario } from '../scenario/scenario';
import { isRecording } from './isReplay';
import type { RunRequest } from './shell';

const mostBytes = 1024 * 1024;

/** Without byte order mark. @throws ExpectedError `scenario-file` when it is missing, a folder, too large or no text */
export async function readScenarioFile(path: string, most = mostBytes): Promise<string> {
  return textOf(path, await readBounded(path, most));
}

const inputName = '<stdin>';

/** A scenario file as it is named on a command line: its name for messages, and its text. */
export async function namedScenario(
  file: string,
  input: () => AsyncIterable<Uint8Array>,
): Promise<{ readonly name: string; readonly text: string }> {
  if (file !== '-') {
    if (await isRecording(file))
      throw new ExpectedError(
        'scenario-file',
        `${file} is a recording, not a scenario: replay it with run, or make a scenario of it with import.`,
      );
    if (/\.har$/i.test(file))
      throw new ExpectedError(
        'scenario-file',
        `${file} is a HAR file, not a scenario: make a scenario of it with import.`,
      );
    return { name: file, text: await readScenarioFile(file) };
  }
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
    const line = wrongLine(bytes);
    throw notReadable(path, `it is not UTF-8 text, first in line ${line}. Save it as UTF-8`);
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

async function readBounded(path: string, most: number): Promise<Uint8Array> {
  try {
    const handle = await open(path, 'r');
    try {
      // One byte more than allowed: a file that is too large shows, even where sizes are unknown.
      let buffer = Buffer.alloc(Math.min(most, mostBytes) + 1);
      let length = 0;
      for (;;) {
        const { bytesRead } = await handle.read(buffer, length, buffer.length - length);
        length += bytesRead;
        if (length > most) throw notReadable(path, `it is larger than ${most / mostBytes} MB`);
        if (length === buffer.length)
          buffer = Buffer.concat([buffer], Math.min(most + 1, 4 * buffer.length));
        if (bytesRead === 0) return buffer.subarray(0, length);
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT')
      throw new ExpectedError('scenario-file', `There is no file ${path}.`, { cause: error });
    throw notReadable(path, fileProblem(error));
  }
}

function notReadable(path: string, why: string): ExpectedError {
  return new ExpectedError('scenario-file', `${path} cannot be read: ${why}.`);
}

/** The scenario parser, as far as shells use it. */
export type ScenarioParser = (
  text: string,
  options?: { readonly overrides?: readonly Override[] },
) => { readonly scenario?: Scenario; readonly problems: readonly Problem[] };

/**
 * The scenario of a text without errors.
 *
 * @param list shows all problems; without it the first error is part of what is thrown
 * @param alsoWrong what else a person should know when there are errors to correct
 * @throws ExpectedError `scenario-problems` when there is nothing to work with
 */
export async function readScenario(
  { title, text, overrides }: Pick<RunRequest, 'title' | 'text' | 'overrides'>,
  parse: ScenarioParser,
  list?: (problems: readonly Problem[]) => void,
  alsoWrong: (scenario: Scenario) => Promise<string | undefined> = () => Promise.resolve(undefined),
): Promise<Scenario> {
  const { scenario, problems } = parse(text, { overrides });
  list?.(problems);
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (scenario && errors.length === 0) return scenario;
  const more = scenario && (await alsoWrong(scenario));
  const sentences = [
    errors.length === 0 ? `${title} holds no scenario.` : errorCounts(title, errors),
    list === undefined ? errors[0]?.message : undefined,
    more,
  ];
  const said = sentences.filter((sentence) => sentence !== undefined);
  throw new ExpectedError('scenario-problems', said.join(' '));
}

/** `chat.yaml has 2 errors, the command line has 1 error to correct first.` */
function errorCounts(title: string, errors: readonly Problem[]): string {
  const inFlags = errors.filter(({ flag }) => flag !== undefined).length;
  const counted = (where: string, count: number): string[] =>
    count === 0 ? [] : [`${where} has ${count} error${count === 1 ? '' : 's'}`];
  const parts = [
    ...counted(title, errors.length - inFlags),
    ...counted(errors.length === inFlags ? 'The command line' : 'the command line', inFlags),
  ];
  return `${parts.join(', ')} to correct first.`;
}
