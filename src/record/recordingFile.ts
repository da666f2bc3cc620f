import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { isUtf8 } from 'node:buffer';
import { ExpectedError } from '../base/expectedError';
import { openInFolder } from '../results/safeFiles';
import { formatCount } from '../base/units';
import { PendingBytes } from '../wire/socket/frameReader';
import {
  parseEvent,
  parseHeader,
  invalidRecording,
  type OpenedRecording,
  type RecordedEvent,
  type RecordingHeader,
} from './recording';

/** Bytes that may wait for the disk; further events are dropped and counted. */
const maximumWaitingBytes = 16 * 1024 * 1024;
/** Lines of this time, or of this many bytes, are written together: each write costs. */
const gatherMs = 250;
const gatheredBytes = 256 * 1024;
/** A message of 1 MB with each byte escaped, and its event. */
const maximumLineBytes = 8 * 1024 * 1024;

/**
 * Writes events without holding up the traffic. Events that the disk is too slow for are dropped; their number is in the file.
 */
export class RecordingWriter {
  dropped = 0;
  private unnamedGap = 0;
  private timer: NodeJS.Timeout | undefined;
  private failure: Error | undefined;

  constructor(
    private readonly file: Writable,
    header: RecordingHeader,
    private readonly maximumBytes = maximumWaitingBytes,
  ) {
    file.on('error', (error: Error) => (this.failure ??= error));
    this.write(header);
  }

  add(event: RecordedEvent): boolean {
    if (this.failure !== undefined || this.file.writableLength > this.maximumBytes) {
      this.dropped += 1;
      this.unnamedGap += 1;
      return false;
    }
    const { t, client } = event;
    if (this.unnamedGap > 0) this.write({ t, client, ev: 'gap', events: this.unnamedGap });
    this.unnamedGap = 0;
    this.write(event);
    return true;
  }

  /** @throws ExpectedError `recording-not-written` */
  async close(): Promise<void> {
    this.flush();
    await closeFile(this.file).catch((error: unknown) => (this.failure ??= error as Error));
    if (this.failure === undefined) return;
    throw new ExpectedError(
      'recording-not-written',
      `The recording could not be written to its end: ${this.failure.message}.`,
      { cause: this.failure },
    );
  }

  private write(line: RecordingHeader | RecordedEvent): void {
    if (this.timer === undefined) {
      this.file.cork();
      this.timer = setTimeout(() => this.flush(), gatherMs);
    }
    this.file.write(`${JSON.stringify(line)}\n`);
    if (this.file.writableLength >= gatheredBytes) this.flush();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.file.uncork();
  }
}

export async function closeFile(file: Writable): Promise<void> {
  file.end();
  await finished(file);
}

/**
 * Readable by its owner alone: it has the arguments of messages.
 * @throws ExpectedError `recording-exists`, `recording-not-written`
 */
export async function createRecordingFile(file: string): Promise<Writable> {
  try {
    return (await open(file, 'wx', 0o600)).createWriteStream();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST')
      throw new ExpectedError(
        'recording-exists',
        `There is a file ${file} already. Name another one, or replace it with --force.`,
        { cause },
      );
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isMissing
      ? `there is no folder ${path.dirname(file)}. Make it, or name another file`
      : (cause as Error).message;
    throw new ExpectedError('recording-not-written', `${file} cannot be written: ${why}.`, {
      cause,
    });
  }
}

/**
 * Reads the header at once and the events once, as they are asked for; damaged lines are left out and noted.
 * @throws ExpectedError `recording-invalid`
 */
export async function openRecording(file: string): Promise<OpenedRecording> {
  return readRecording(createReadStream(file, { highWaterMark }), file);
}

/** For files that scenarios name. @throws as {@link openRecording} and `openInFolder` */
export function openNamedRecording(folder: string, name: string): Promise<OpenedRecording> {
  async function* chunks(): AsyncGenerator<Buffer> {
    const handle = await openInFolder(folder, name);
    yield* handle.createReadStream({ highWaterMark }) as AsyncIterable<Buffer>;
  }
  return readRecording(chunks(), path.resolve(folder, name));
}

const highWaterMark = 256 * 1024;

export async function readRecording(
  chunks: AsyncIterable<Buffer>,
  name: string,
): Promise<OpenedRecording> {
  const notes: string[] = [];
  const lines = linesOf(chunks, name);
  let first: IteratorResult<Line>;
  try {
    first = await lines.next();
  } catch (cause) {
    if (cause instanceof ExpectedError) throw cause;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT')
      throw invalidRecording(`There is no file ${name}.`, cause);
    throw invalidRecording(`${name} cannot be read: ${(cause as Error).message}.`, cause);
  }
  if (first.done === true) throw invalidRecording(`${name} is empty.`);
  const header = parseHeader(first.value.text, name);
  async function* events(): AsyncGenerator<RecordedEvent> {
    let last = 0;
    let number = 1;
    const damaged: number[] = [];
    try {
      for await (const { text, isWhole } of lines) {
        number += 1;
        if (text === '') continue;
        const event = parseEvent(text);
        if (event !== undefined && event.t >= last) {
          last = event.t;
          yield event;
        } else if (isWhole) damaged.push(number);
        else notes.push(`The last line of ${name} is not whole; it was left out.`);
      }
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      notes.push(`${error.message} What stands before line ${number + 1} was read.`);
    }
    if (damaged.length === 1)
      notes.push(`Line ${damaged[0]!} of ${name} is not an event of a recording; it was left out.`);
    else if (damaged.length > 1)
      notes.push(
        `${formatCount(damaged.length)} lines of ${name} are not events of a recording; they were left out. The first is line ${damaged[0]!}.`,
      );
  }
  return {
    header,
    events: events(),
    notes: () => notes,
  };
}

interface Line {
  readonly text: string;
  readonly isWhole: boolean;
}

async function* linesOf(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Line> {
  const rest = new PendingBytes();
  const textOf = (bytes: Buffer): string => {
    if (isUtf8(bytes)) return bytes.toString('utf8').trimEnd();
    throw invalidRecording(`${name} is not UTF-8 text.`);
  };
  for await (const chunk of chunks) {
    let at = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, at)) {
      let line = chunk.subarray(at, end);
      if (rest.length > 0) {
        rest.append(line);
        line = rest.take();
      }
      at = end + 1;
      yield { text: textOf(line), isWhole: true };
    }
    rest.append(chunk, at);
    if (rest.length > maximumLineBytes)
      throw invalidRecording(
        `${name} has a line of more than ${maximumLineBytes / 1024 / 1024} MB.`,
      );
  }
  // The file may end inside a character.
  if (rest.length > 0) yield { text: rest.take().toString('utf8'), isWhole: false };
}
