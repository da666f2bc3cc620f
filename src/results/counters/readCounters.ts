import { open, type FileHandle } from 'node:fs/promises';
import { ExpectedError } from '../../base/expectedError';
import type { CounterLine } from './counterLines';
import { CounterSummarizer, type CounterSummary } from './counterSummary';
import { fileProblem } from '../resultFolder';

/** A day of lines has about 60 MB. */
const mostBytes = 256 * 1024 * 1024;
/** A line of the Azure SignalR benchmark has about 1,000 characters. */
const mostCharacters = 64 * 1024;
const mostCounters = 1000;
const chunkBytes = 64 * 1024;

/** A counter file as read. */
export interface ReadCounters extends CounterSummary {
  readonly lines: number;
  /** The last line is cut, as a run that was killed leaves it; it was passed over. */
  readonly cut: boolean;
}

/**
 * Reads a counter file of the Azure SignalR benchmark, of any of its versions, within bounds of time and memory.
 *
 * @throws ExpectedError `counters-file` when it cannot be read, `counters-damaged` with the line
 */
export async function readCounters(file: string): Promise<ReadCounters> {
  const summarizer = new CounterSummarizer();
  const times = risingTimes();
  let [number, lines, cut] = [0, 0, false];
  for await (const { text, ended } of linesOf(file)) {
    number += 1;
    const trimmed = text.replace(/^\uFEFF/, '').trim();
    if (trimmed === '') continue;
    const problem = 'it is not a line of counters: {"Time":"…","Counters":{…}}';
    const line = lineOf(trimmed, times);
    if (typeof line !== 'string') {
      summarizer.add(line);
      lines += 1;
    } else if (!ended && lines > 0) cut = true;
    else throw damaged(file, number, line === '' ? problem : line);
  }
  if (lines === 0) throw damaged(file, 1, 'the file holds no counters');
  const summary = summarizer.summary();
  return { ...summary, lines, cut };
}

const damaged = (file: string, line: number, why: string): ExpectedError =>
  new ExpectedError('counters-damaged', `${file}:${line}: ${why}.`);

/** The line, or what is wrong with it; empty for a text that is none at all. */
function lineOf(text: string, times: (time: string) => number | undefined): CounterLine | string {
  // The first version wrote a comma after each line.
  const value = parsed(text.replace(/,$/, '')) as { Time?: unknown; Counters?: unknown } | null;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  const { Time: time, Counters: counters } = value;
  if (typeof counters !== 'object' || counters === null || Array.isArray(counters)) return '';
  const entries = Object.entries(counters);
  if (entries.length > mostCounters) return `it has more than ${mostCounters} counters`;
  for (const [name, count] of entries) {
    if (typeof count !== 'number' || !Number.isFinite(count) || count < 0)
      return `the counter ${JSON.stringify(name.slice(0, 60))} must be a number of 0 or more`;
  }
  const atMs = typeof time === 'string' ? times(time) : undefined;
  if (atMs === undefined) return '"Time" must be a time such as 2019-11-14T11:54:30Z';
  return { atMs, counters: Object.fromEntries(entries) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const hourMs = 3_600_000;
const halfDayMs = 12 * hourMs;

/**
 * Milliseconds of the times of a file, which rise. The Azure SignalR benchmark wrote hours from 1 to 12 without saying
 * which half of the day: a time that goes back by half a day has passed one o'clock.
 */
function risingTimes(): (time: string) => number | undefined {
  let [last, shiftMs] = [-Infinity, 0];
  return (time) => {
    const read = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) ? Date.parse(time) : NaN;
    if (Number.isNaN(read)) return undefined;
    const back = last - (read + shiftMs);
    if (Math.abs(back - halfDayMs) < hourMs) shiftMs += halfDayMs;
    // At midnight the date is the next one, and the hour is written 12.
    else if (Math.abs(back + 2 * halfDayMs) < hourMs) shiftMs -= 2 * halfDayMs;
    // Lines of slow agents may be out of order by seconds.
    last = Math.max(last, read + shiftMs);
    return last;
  };
}

/** Lines of a file, each with whether it was ended; a line that is too long stops the reading. */
async function* linesOf(file: string): AsyncGenerator<{ text: string; ended: boolean }> {
  const handle = await opened(file);
  try {
    const decoder = new TextDecoder();
    const chunk = Buffer.alloc(chunkBytes);
    let [rest, number, bytes] = ['', 0, 0];
    for (;;) {
      const { bytesRead } = await handle.read(chunk, 0, chunkBytes);
      bytes += bytesRead;
      if (bytes > mostBytes) throw damaged(file, number + 1, 'the file is larger than 256 MB');
      const pieces = (rest + decoder.decode(chunk.subarray(0, bytesRead), { stream: true })).split(
        '\n',
      );
      rest = pieces.pop()!;
      for (const text of pieces) {
        number += 1;
        yield { text, ended: true };
      }
      if (rest.length > mostCharacters)
        throw damaged(file, number + 1, `the line is longer than ${mostCharacters} characters`);
      if (bytesRead === 0) break;
    }
    if (rest !== '') yield { text: rest, ended: false };
  } catch (error) {
    if (error instanceof ExpectedError) throw error;
    throw unreadable(file, error);
  } finally {
    await handle.close();
  }
}

async function opened(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'r');
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): ExpectedError {
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  const message = missing
    ? `There is no file ${file}.`
    : `${file} cannot be read: ${fileProblem(error)}.`;
  return new ExpectedError('counters-file', message, { cause: error });
}
