import { open, type FileHandle } from 'node:fs/promises';
import { ExpectedError } from '../../base/expectedError';
import { formatLatencyUs } from '../../base/units';
import type { LatencySummary } from '../../measure/latencySummary';
import { describeFileError } from '../resultFolder';
import { latencyCounterNames, type CounterLine, type Counters } from './counterFile';

interface CounterEpoch extends Readonly<
  Record<'epoch' | 'connections' | 'senders' | 'sent' | 'received', number>
> {
  readonly seconds: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Deliveries below 100, 200, … 1,000 ms, each class apart, and those slower. */
  readonly latencyClasses: readonly number[];
  /** Of streams that came back incomplete: their number, or that of the items (see resultCounters). */
  readonly streamItemMissing: number;
  readonly reconnected: number;
  /** Largest 99th percentile of the epoch, milliseconds; 0 when it was not counted. */
  readonly connectP99Ms: number;
  readonly reconnectP99Ms: number;
}

interface LoadCounterSummary {
  readonly established?: { readonly connections: number; readonly seconds: number };
  readonly epochs: readonly CounterEpoch[];
}

const shares = [
  [0.5, 'p50'],
  [0.9, 'p90'],
  [0.95, 'p95'],
  [0.99, 'p99'],
] as const;

export class CounterSummarizer {
  private first: CounterLine | undefined;
  private lastBefore: CounterLine | undefined;
  private begin: CounterLine | undefined;
  private end: CounterLine | undefined;
  private worst = { connect: 0, reconnect: 0 };
  private readonly epochs: CounterEpoch[] = [];

  add(line: CounterLine): void {
    const epoch = epochOf(line.counters);
    if (epoch === 0) {
      this.first ??= line;
      if (this.begin === undefined) this.lastBefore = line;
      return;
    }
    if (this.begin === undefined || epoch !== epochOf(this.begin.counters)) {
      this.finish();
      this.begin = line;
      this.worst = { connect: 0, reconnect: 0 };
    }
    this.end = line;
    const { counters } = line;
    this.worst = {
      connect: Math.max(this.worst.connect, counters['connection:connect:cost:0.99'] ?? 0),
      reconnect: Math.max(this.worst.reconnect, counters['connection:reconnect:cost:0.99'] ?? 0),
    };
  }

  summary(): LoadCounterSummary {
    this.finish();
    this.begin = undefined;
    const { first, lastBefore, epochs } = this;
    if (first === undefined || lastBefore === undefined) return { epochs };
    const established = {
      connections: connected(lastBefore.counters),
      seconds: secondsBetween(first, lastBefore),
    };
    return { established, epochs };
  }

  private finish(): void {
    const { begin, end, worst } = this;
    if (begin === undefined || end === undefined) return;
    const { counters } = end;
    const latencyClasses = latencyCounterNames.map((name) => counters[name] ?? 0);
    this.epochs.push({
      epoch: epochOf(counters),
      connections: connected(counters),
      senders: counters['sendingStep'] ?? 0,
      seconds: secondsBetween(begin, end),
      sent: counters['message:sent'] ?? 0,
      received: counters['message:received'] ?? sum(latencyClasses),
      sentBytes: counters['message:sentSize'] ?? counters['message:sendSize'] ?? 0,
      receivedBytes: counters['message:recvSize'] ?? 0,
      latencyClasses,
      streamItemMissing: counters['message:streamItemMissing'] ?? 0,
      reconnected:
        counters['connection:connect:reconnect'] ?? counters['connection:reconnect'] ?? 0,
      connectP99Ms: worst.connect,
      reconnectP99Ms: worst.reconnect,
    });
  }
}

/** Files from before there were epochs sum up over the whole run: one epoch, from the first message on. */
const epochOf = (counters: Counters): number =>
  counters['epoch'] ?? ((counters['message:sent'] ?? 0) > 0 ? 1 : 0);

const connected = (counters: Counters): number =>
  counters['connection:connect:success'] ?? counters['connection:success'] ?? 0;

const secondsBetween = (from: CounterLine, to: CounterLine): number =>
  Math.max(0, Math.floor(to.atMs / 1000) - Math.floor(from.atMs / 1000));

const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);

/** In the order and the wording of the Azure SignalR benchmark; `measured` latencies of an epoch stand behind the classes. */
export function formatLoadCounters(
  { established, epochs }: LoadCounterSummary,
  measured: (epoch: number) => LatencySummary | undefined = () => undefined,
): string[] {
  return [
    ...(established === undefined
      ? []
      : [
          '-----------',
          `  ${established.connections} connections established in ${established.seconds}s`,
        ]),
    ...epochs.flatMap((epoch) => epochLines(epoch, measured(epoch.epoch))),
  ];
}

function epochLines(epoch: CounterEpoch, measured: LatencySummary | undefined): string[] {
  const { connections, senders, seconds, sent, received, sentBytes, receivedBytes } = epoch;
  // An epoch of a single line has no time that a rate could be taken over.
  const rate = (count: number): number => (seconds > 0 ? count / seconds : 0);
  return [
    '-----------',
    ` Connections/sendingStep: ${connections}/${senders} in ${seconds}s`,
    ` Messages: requests: ${bytesText(sentBytes)}, responses: ${bytesText(receivedBytes)}`,
    `   Requests/sec: ${rate(sent).toFixed(2)}`,
    `   Responses/sec: ${rate(received).toFixed(2)}`,
    `   Write throughput: ${bytesText(rate(sentBytes))}`,
    `   Read throughput: ${bytesText(rate(receivedBytes))}`,
    ' Latency:',
    ...latencyLines(epoch, measured),
    ...(epoch.streamItemMissing > 0 ? [` Missing in streams: ${epoch.streamItemMissing}`] : []),
    ...(epoch.reconnected > 0 ? [` Reconnect: ${epoch.reconnected}`] : []),
    ...(epoch.connectP99Ms > 0 ? [` 99% time to connect (ms): ${epoch.connectP99Ms}`] : []),
    ...(epoch.reconnectP99Ms > 0 ? [` 99% time to reconnect (ms): ${epoch.reconnectP99Ms}`] : []),
  ];
}

/** Upper borders of the percentiles; from the first above one second on only the share below it. */
function latencyLines(
  { latencyClasses, received }: CounterEpoch,
  measured: LatencySummary | undefined,
): string[] {
  if (received === 0) return ['  nothing received'];
  const lines: string[] = [];
  for (const [share, name] of shares) {
    let below = 0;
    const at = latencyClasses.findIndex((count) => (below += count) >= received * share);
    if (at === -1 || at >= latencyClasses.length - 1) {
      const fast = sum(latencyClasses.slice(0, -1)) / received;
      return [...lines, `  ${(fast * 100).toFixed(2)}%: < 1000 ms`];
    }
    const exact = measured === undefined ? '' : ` (${formatLatencyUs(measured[name])})`;
    lines.push(`  ${(share * 100).toFixed(2)}%: < ${(at + 1) * 100} ms${exact}`);
  }
  return lines;
}

function bytesText(bytes: number): string {
  if (bytes > 1e9) return `${(bytes / 1e9).toFixed(2)}GB`;
  if (bytes > 1e6) return `${(bytes / 1e6).toFixed(2)}MB`;
  if (bytes > 1000) return `${(bytes / 1000).toFixed(2)}KB`;
  return `${bytes.toFixed(2)}B`;
}

/** A day of lines has about 60 MB. */
const mostBytes = 256 * 1024 * 1024;
/** A line of the Azure SignalR benchmark has about 1,000 characters. */
const mostCharacters = 64 * 1024;
const mostCounters = 1000;
const chunkBytes = 64 * 1024;

interface ReadCounters extends LoadCounterSummary {
  readonly lines: number;
  /** The last line is cut, as a run that was killed leaves it; it was passed over. */
  readonly cut: boolean;
}

/** Of any version of the tool. @throws ExpectedError `counters-file` when it cannot be read, `counters-damaged` with the line */
export async function readCounterSummary(
  file: string,
  opening = () => open(file, 'r'),
): Promise<ReadCounters> {
  const summarizer = new CounterSummarizer();
  const times = risingTimes();
  let [number, lines, cut] = [0, 0, false];
  for await (const { text, ended } of linesOf(file, opening)) {
    number += 1;
    const trimmed = text.replace(/^\uFEFF/, '').trim();
    if (trimmed === '') continue;
    const problem = 'it is not a line of counters: {"Time":"…","Counters":{…}}';
    const line = lineOf(trimmed, times);
    if (typeof line !== 'string') {
      summarizer.add(line);
      lines += 1;
    } else if (!ended && lines > 0) cut = true;
    else if (line === '' && lines === 0)
      throw new ExpectedError('counters-damaged', `${file} ${noneOfAll} (line ${number}).`);
    else throw damaged(file, number, line === '' ? problem : line);
  }
  if (lines === 0) throw damaged(file, 1, 'the file holds no counters');
  const summary = summarizer.summary();
  return { ...summary, lines, cut };
}

const noneOfAll =
  'is no recording, no HAR file, no log of the JavaScript client, and no file of counters, whose lines are {"Time":"…","Counters":{…}}';

const damaged = (file: string, line: number, why: string): ExpectedError =>
  new ExpectedError('counters-damaged', `${file}:${line}: ${why}.`);

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
 * Times of a file rise. The Azure SignalR benchmark wrote hours from 1 to 12 without the half of the day: a time that
 * goes back by half a day has passed one o'clock.
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

async function* linesOf(
  file: string,
  opening: () => Promise<FileHandle>,
): AsyncGenerator<{ text: string; ended: boolean }> {
  const handle = await opening().catch((error: unknown) => {
    throw unreadable(file, error);
  });
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
    throw unreadable(file, error);
  } finally {
    await handle.close();
  }
}

function unreadable(file: string, error: unknown): ExpectedError {
  if (error instanceof ExpectedError) return error;
  const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
  const message = missing
    ? `There is no file ${file}.`
    : `${file} cannot be read: ${describeFileError(error)}.`;
  return new ExpectedError('counters-file', message, { cause: error });
}
