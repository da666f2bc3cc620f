/** Deliveries: recognised without parsing where they look as usual, matched to their stamp, counted. */
import { payloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan } from '../../plan/plan';
import { entryOfSource, type Population } from '../../plan/population';
import { SequenceTracker } from '../../measure/sequence';
import type { HubConnection } from '../../wire/hub/clientConnection';
import type { HubCodec, Span } from '../../wire/message/hubCodec';
import { codecOf } from '../../wire/hub/codecs';
import type { StreamShape } from '../../usecases/streams';
import type { HubMessage } from '../../wire/message/hubMessage';
import { emptyStamp, readStamp } from '../../wire/message/stamp';
import {
  deliveryPatternsOf,
  deliveryKindsOf,
  StreamItemPattern,
  OwnItems,
  type DeliveryPattern,
} from './deliveryPattern';
import type { EntryRecorder, Recorder } from '../recorder';
import type { Membership } from '../prepare/sharedMembers';
import type { TakeItem } from '../send/entrySender';

/** Whom the receiver asks and whom it hands on to. */
export interface ReceiverContext {
  readonly members: Pick<Membership, 'wasMember'>;
  /** Any hub message that is no delivery of this run. */
  readonly other: (connection: HubConnection, message: HubMessage) => void;
  /** Follows the streams that are open; absent where there are none. */
  readonly streams?: StreamFollower;
}

/** Who has opened streams and waits for what comes back in them. */
export interface StreamFollower {
  /** A delivery of an entry has come, from a source counted within the entry. */
  arrived(entry: number, index: number, source: number, sequence: number): void;
  /** Takes an item of the user's own streams; see {@link TakeItem}. */
  readonly itemCame: TakeItem;
}

/** What a counter of 32 bits can follow; no sender gets there. */
const highestSequence = 0x7ffffffe;

/**
 * Turns received bytes into counts. A delivery that looks like the ones before it is recognised by its
 * first bytes and its stamp is read in place; everything else is parsed as a whole.
 */
export class Receiver {
  private readonly codec: HubCodec;
  /** Of each entry; the same object where they look the same. */
  private readonly patternOf: readonly DeliveryPattern[];
  private readonly patterns: readonly DeliveryPattern[];
  private readonly kinds: readonly string[];
  /** Form of the delivery at hand. */
  private pattern: DeliveryPattern | undefined;
  /** The message at hand. */
  private readonly span: Span = { start: 0, end: 0, next: 0 };
  private readonly stamp = emptyStamp();
  private readonly tracker: SequenceTracker;
  /** Of each entry. */
  private readonly payloads: readonly PayloadPicker[];
  /** Of each entry; undefined where it sends no streams. */
  private readonly streams: readonly (StreamShape | undefined)[];
  /** Absent where no entry has streams of the user's own. */
  private readonly ownItems: OwnItems | undefined;

  constructor(
    private readonly plan: Plan,
    private readonly populations: readonly Population[],
    private readonly recorder: Recorder,
    private readonly context: ReceiverContext,
  ) {
    this.codec = codecOf(plan.protocol);
    this.patternOf = deliveryPatternsOf(plan, this.codec);
    this.patterns = [...new Set(this.patternOf)];
    this.kinds = deliveryKindsOf(plan);
    this.payloads = plan.entries.map((entry) => payloadPicker(entry, plan.seed));
    this.streams = plan.entries.map((entry) => entry.run.streams);
    const follower = context.streams;
    if (follower !== undefined && this.streams.some((streams) => streams?.own !== undefined))
      this.ownItems = new OwnItems(plan.protocol, follower);
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
    const { codec, span, ownItems } = this;
    for (let at = start; at < end && !connection.stopped; at = span.next) {
      codec.find(buffer, at, end, span);
      const wireBytes = span.next - at + headerBytes;
      if (ownItems?.takeUsual(connection, buffer, span.start, span.end, wireBytes, nowUs)) {
        // It is counted there.
      } else if (
        this.isUsual(buffer, span.start, span.end) ||
        this.isUnusual(connection, buffer, wireBytes, nowUs)
      ) {
        this.count(connection, nowUs, wireBytes);
      }
      headerBytes = 0;
    }
  }

  /** Takes one message that an official client has read. */
  message(
    connection: HubConnection,
    message: HubMessage,
    bodyBytes: number,
    wireBytes: number,
    nowUs: number,
  ): void {
    connection.lastReceivedUs = nowUs;
    if (this.stampOf(connection, message, bodyBytes, wireBytes, nowUs) !== undefined)
      this.count(connection, nowUs, wireBytes);
  }

  /** Counts as errors, once each, what hubs called in place of a callback that has never come. */
  reportWrongNames(): void {
    for (const pattern of this.patterns)
      for (const text of pattern.wrongNames?.() ?? []) this.recorder.error('other', text);
  }

  /** Whether the message looks as expected and carries a stamp, which is then in `this.stamp`. */
  private isUsual(buffer: Buffer, start: number, end: number): boolean {
    for (const pattern of this.patterns) {
      const at = pattern.usualStamp(buffer, start, end);
      if (at < 0 || !readStamp(buffer, at, this.stamp)) continue;
      this.pattern = pattern;
      return true;
    }
    return false;
  }

  /** The same for a message that looks different; what is no delivery is handed on. */
  private isUnusual(
    connection: HubConnection,
    buffer: Buffer,
    wireBytes: number,
    nowUs: number,
  ): boolean {
    const { start, end } = this.span;
    const message = this.codec.read(buffer, start, end);
    if (message === undefined) return false;
    const text = this.stampOf(connection, message, end - start, wireBytes, nowUs);
    if (text === undefined) return false;
    const stampAt = buffer.indexOf(text, start, 'latin1');
    if (stampAt >= start && stampAt < end) this.pattern?.learn?.(buffer, start, stampAt);
    return true;
  }

  /** Text of the stamp in a delivery, which is then in `this.stamp`; what is no delivery is handed on. */
  private stampOf(
    connection: HubConnection,
    message: HubMessage,
    bodyBytes: number,
    wireBytes: number,
    nowUs: number,
  ): string | undefined {
    if (this.ownItems?.take(connection, message, bodyBytes, wireBytes, nowUs)) return undefined;
    for (const pattern of this.patterns) {
      const text = pattern.stampIn(message);
      if (text === undefined || !readStamp(Buffer.from(text, 'latin1'), 0, this.stamp)) continue;
      this.pattern = pattern;
      return text;
    }
    for (const pattern of this.patterns) {
      const problem = pattern.problemOf?.(message);
      if (problem !== undefined) this.recorder.error('other', problem);
      pattern.keepName?.(message);
    }
    this.context.other(connection, message);
    return undefined;
  }

  /** Moves the stamp from the request to the item that the hub has made; false when nobody asked for it. */
  private moveToItem({ wanted, delayMs }: StreamShape, counted: EntryRecorder): boolean {
    const { stamp, pattern } = this;
    const itemNumber = pattern instanceof StreamItemPattern ? pattern.itemNumber : -1;
    if (itemNumber < 0) return false;
    const laterUs = itemNumber * delayMs * 1000;
    stamp.sequence += itemNumber;
    stamp.intendedUs += laterUs;
    stamp.sentUs += laterUs;
    stamp.warmup = stamp.intendedUs < counted.measureUs;
    return itemNumber < wanted && stamp.intendedUs <= counted.untilUs;
  }

  /** Payload of the delivery whose stamp was just read, as its sender has chosen it. */
  private payloadOf(entry: number, receiver: number): number {
    const { stamp } = this;
    const { audience, fixedTargets } = this.populations[entry]!;
    const payload = this.payloads[entry]!;
    const stream = audience === 'client' && fixedTargets === undefined ? receiver : 0;
    return payload.sizes[payload.pick(stamp.source, stream, stamp.sequence)]!;
  }

  /** Whether the pattern that has taken the message reads what brings this entry's deliveries. */
  private isBroughtByPattern(entry: number): boolean {
    const { pattern, patternOf, kinds } = this;
    if (patternOf[entry] === pattern) return true;
    const other = patternOf.findIndex((each) => each === pattern);
    return kinds[other] === kinds[entry];
  }

  /** Counts the delivery whose stamp was just read. */
  private count(connection: HubConnection, nowUs: number, wireBytes: number): void {
    const { stamp, recorder } = this;
    if (stamp.runId !== this.plan.runId) return;
    const step = recorder.steps[stamp.step];
    if (step === undefined) return;
    // A source that a hub has made up must not fill the tracker.
    const entry = entryOfSource(this.populations, stamp.source);
    const population = this.populations[entry];
    const shape = this.streams[entry];
    const counted = step.entries[entry] ?? step;
    const { index } = connection;
    // A completion that only reports an error is no delivery.
    if (population !== undefined && !this.isBroughtByPattern(entry)) return;
    const meant =
      population !== undefined &&
      population.isReceiver(stamp.source - population.firstSource, index) &&
      this.context.members.wasMember(index, stamp.sentUs, population.othersMove) &&
      (shape?.direction !== 'download' || this.moveToItem(shape, counted)) &&
      stamp.sequence <= highestSequence;
    const arrival = meant ? this.tracker.arrived(index, stamp.source, stamp.sequence) : 'first';
    if (meant && shape !== undefined && shape.wanted < shape.items) {
      const source = stamp.source - population.firstSource;
      this.context.streams?.arrived(entry, index, source, stamp.sequence);
    }
    if (stamp.warmup) return;
    counted.wireBytesOut += wireBytes;
    if (!meant) {
      counted.extra += 1;
    } else if (arrival === 'duplicate') {
      counted.duplicated += 1;
    } else {
      counted.payloadBytesOut += this.payloadOf(entry, index);
      if (arrival === 'outOfOrder') counted.outOfOrder += 1;
      recorder.delivered(stamp.step, counted, index, stamp.intendedUs, stamp.sentUs, nowUs);
    }
  }
}
