import { formatLatencyUs } from '../../base/units';

import { latencyNames, type CounterLine, type Counters } from './counterLines';
import type { LatencySummary } from '../../measure/latencySummary';

/** One epoch (sending step) of a counter file. */
export interface CounterEpoch {
  readonly epoch: number;
  readonly connections: number;
  readonly senders: number;
  /** From the first to the last line of the epoch. */
  readonly seconds: number;
  readonly sent: number;
  readonly received: number;
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

/** What a counter file says about a run. */
export interface CounterSummary {
  /** Absent when the file has no line from before the first step. */
  readonly established?: { readonly connections: number; readonly seconds: number };
  readonly epochs: readonly CounterEpoch[];
}

/** The percentiles of the Azure SignalR benchmark's summary. */
const shares = [
  [0.5, 'p50'],
  [0.9, 'p90'],
  [0.95, 'p95'],
  [0.99, 'p99'],
] as const;

/** Takes lines one by one, in their order; only the first and the last of each epoch are kept. */
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

  summary(): CounterSummary {
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
    const latencyClasses = latencyNames.map((name) => counters[name] ?? 0);
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

/** Times stand in the file to the second. */
const secondsBetween = (from: CounterLine, to: CounterLine): number =>
  Math.max(0, Math.floor(to.atMs / 1000) - Math.floor(from.atMs / 1000));

const sum = (counts: readonly number[]): number => counts.reduce((total, each) => total + each, 0);

/**
 * The summary in the order and the wording of the Azure SignalR benchmark, line by line.
 *
 * @param measured latencies of an epoch, where more is known than their classes; shown behind these
 */
export function counterSummaryLines(
  { established, epochs }: CounterSummary,
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
    // The Azure SignalR benchmark counted these and left them out of its summary.
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

/** Bytes in decimal units with two decimals, as the Azure SignalR benchmark wrote them. */
function bytesText(bytes: number): string {
  if (bytes > 1e9) return `${(bytes / 1e9).toFixed(2)}GB`;
  if (bytes > 1e6) return `${(bytes / 1e6).toFixed(2)}MB`;
  if (bytes > 1000) return `${(bytes / 1000).toFixed(2)}KB`;
  return `${bytes.toFixed(2)}B`;
}
