import { ExpectedError } from '../base/expectedError';
import type { Override } from '../scenario/read/overrides';
import type { Problem } from '../scenario/problem';
import type { Scenario, ScenarioEntry } from '../scenario/scenario';
import { open, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { openInFolder } from '../results/safeFiles';
import { describeFileError } from '../results/resultFolder';

const inputName = '<stdin>';

/** A scenario named on a command line. */
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
    if (length > mostScenarioBytes) throw notReadable(inputName, 'it is larger than 2 MB');
  }
  return { name: inputName, text: textOf(inputName, Buffer.concat(parts)) };
}

export type ScenarioParser = (
  text: string,
  options?: { readonly overrides?: readonly Override[] },
) => { readonly scenario?: Scenario; readonly problems: readonly Problem[] };

interface ScenarioText {
  readonly title: string;
  readonly text: string;
  readonly overrides: readonly Override[];
}

/**
 * The scenario of a text without errors.
 * @param list gets all problems; without it the first error is thrown
 * @param alsoWrong what else to say when there are errors
 * @throws ExpectedError `scenario-problems`
 */
export async function readScenario(
  { title, text, overrides }: ScenarioText,
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

export const isReplay = ({ name }: Pick<ScenarioEntry, 'name'>): boolean => name === 'replay';

/** A replay runs in one process. @throws ExpectedError `replay-agents` */
export function refuseReplays({ entries }: Pick<Scenario, 'entries'>): void {
  if (!entries.some(isReplay)) return;
  throw new ExpectedError(
    'replay-agents',
    'A recording is replayed by one machine alone: leave --on, --agents and config.agents out, or make a scenario of it with import.',
  );
}

/** Start of every recording, and the usual end of its name. */
const firstBytes = '{"schema":"signalr-bench-recording/';
const ending = '.recording.jsonl';

/** By name or first bytes; false for what cannot be read. */
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

const mostBytes = 1024 * 1024;
const mostScenarioBytes = 2 * mostBytes;

/** Without byte order mark. @throws ExpectedError `scenario-file` */
const readScenarioFile = (file: string): Promise<string> =>
  readText(file, mostScenarioBytes, () => open(file, 'r'));

/** Of a file that a scenario names. @throws as {@link readScenarioFile} and `openNamed` */
export const readNamedFile = (folder: string, name: string, most = mostBytes): Promise<string> =>
  readText(path.resolve(folder, name), most, () => openInFolder(folder, name));

function textOf(file: string, bytes: Uint8Array): string {
  if (isUtf16(bytes)) throw notReadable(file, 'it is UTF-16 text. Save it as UTF-8');
  if (bytes.includes(0)) throw notReadable(file, 'it is a binary file, not YAML text');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const line = wrongLine(bytes);
    throw notReadable(file, `it is not UTF-8 text, first in line ${line}. Save it as UTF-8`);
  }
}

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

/** By its byte order mark, or a first ASCII letter in two bytes, as Windows PowerShell 5 writes. */
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
      // One byte more than allowed shows a file that is too large.
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
    throw notReadable(file, describeFileError(error));
  }
}

function notReadable(file: string, why: string): ExpectedError {
  return new ExpectedError('scenario-file', `${file} cannot be read: ${why}.`);
}
