import type { Plan } from '../plan/plan';
import type { Population } from '../plan/population';
import { SequenceTracker } from '../measure/sequence';
import type { HubConnection } from '../wire/hubConnection';
import {
  HubMessageError,
  readHubMessage,
  recordSeparator,
  type HubMessage,
} from '../wire/hubMessage';
import { emptyStamp, readStamp, stampKey, stampLength, stampMarker } from '../wire/stamp';
import type { Recorder } from './recorder';

/** What the receiver cannot judge by itself. */
export interface ReceiverDependencies {
  /** Whether the connection counts as a receiver now. */
  readonly isMember: (index: number) => boolean;
  /** Any hub message that is no delivery of this run. */
  readonly other: (connection: HubConnection, message: HubMessage) => void;
}

/** What a counter of 32 bits can follow; no sender gets there. */
const highestSequence = 0x7ffffffe;

/** How .NET returns the dictionary: the usual beginning of a delivery, up to the stamp. */
const usualPrefix = Buffer.from(
  `{"type":1,"target":"RecordLatency","arguments":[{"${stampKey}":"`,
  'latin1',
);

/**
 * Turns received bytes into counts. A delivery that looks like the ones before it is recognised by its
 * first bytes and its stamp is read in place; everything else is parsed as a whole.
 */
export class Receiver {
  private prefix = usualPrefix;
  private readonly stamp = emptyStamp();
  private readonly tracker: SequenceTracker;
  /** Sources of the run; a hub that makes up others must not fill the tracker. */
  private readonly sources: number;

  constructor(
    private readonly plan: Plan,
    private readonly population: Population,
    private readonly recorder: Recorder,
    private readonly dependencies: ReceiverDependencies,
  ) {
    this.sources = plan.connections * population.sourcesPerSender;
    this.tracker = new SequenceTracker(Math.ceil(plan.connections / plan.workers.length));
  }

  /** Reads one WebSocket message that arrived at `nowUs` (run time). */
  received(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
    nowUs: number,
  ): void {
    connection.lastReceivedUs = nowUs;
    let headerBytes = frameBytes - (end - start);
    for (let at = start; at < end && !connection.stopped;) {
      const separator = buffer.indexOf(recordSeparator, at);
      if (separator < 0 || separator >= end)
        throw new HubMessageError('a hub message is cut off at the end of a WebSocket message');
      if (
        this.isUsual(buffer, at, separator) ||
        this.isUnusual(connection, buffer, at, separator)
      ) {
        this.count(connection, nowUs, separator + 1 - at + headerBytes);
      }
      headerBytes = 0;
      at = separator + 1;
    }
  }

  /** Whether the message begins as expected and carries a stamp, which is then in `this.stamp`. */
  private isUsual(buffer: Buffer, start: number, end: number): boolean {
    const { prefix } = this;
    if (end - start < prefix.length + stampLength) return false;
    for (let at = 0; at < prefix.length; at++) if (buffer[start + at] !== prefix[at]) return false;
    return readStamp(buffer, start + prefix.length, this.stamp);
  }

  /** The same for a message that looks different; what is no delivery is handed on. */
  private isUnusual(
    connection: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
  ): boolean {
    const message = readHubMessage(buffer.toString('utf8', start, end));
    if (message === undefined) return false;
    const text = stampOf(message);
    if (text === undefined || !readStamp(Buffer.from(text, 'latin1'), 0, this.stamp)) {
      this.dependencies.other(connection, message);
      return false;
    }
    const stampAt = buffer.indexOf(text, start, 'latin1');
    if (stampAt >= start && stampAt < end)
      this.prefix = Buffer.from(buffer.subarray(start, stampAt));
    return true;
  }

  /** Counts the delivery whose stamp was just read. */
  private count(connection: HubConnection, nowUs: number, wireBytes: number): void {
    const { stamp, recorder } = this;
    if (stamp.runId !== this.plan.runId) return;
    const step = recorder.steps[stamp.step];
    if (step === undefined) return;
    const meant =
      stamp.sequence <= highestSequence &&
      stamp.source < this.sources &&
      this.population.isReceiver(stamp.source, connection.index) &&
      this.dependencies.isMember(connection.index);
    const arrival = meant
      ? this.tracker.arrived(connection.index, stamp.source, stamp.sequence)
      : 'first';
    if (stamp.warmup) return;
    step.wireBytesOut += wireBytes;
    if (!meant) {
      step.extra += 1;
    } else if (arrival === 'duplicate') {
      step.duplicated += 1;
    } else {
      step.received += 1;
      if (arrival === 'outOfOrder') step.outOfOrder += 1;
      if (step.drained) step.late += 1;
      step.latency.record(nowUs - stamp.intendedUs);
      step.sendLatency.record(nowUs - stamp.sentUs);
    }
  }
}

/** The stamp's text in a delivery that was parsed as a whole; undefined when the message is none. */
function stampOf(message: HubMessage): string | undefined {
  if (message.type !== 1 || message.target.toLowerCase() !== 'recordlatency') return undefined;
  const [dictionary] = message.arguments;
  if (typeof dictionary !== 'object' || dictionary === null) return undefined;
  const text = (dictionary as Readonly<Record<string, unknown>>)[stampKey];
  return typeof text === 'string' && text.length === stampLength && text.startsWith(stampMarker)
    ? text
    : undefined;
}
