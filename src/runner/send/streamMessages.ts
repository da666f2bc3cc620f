import { digitsOf } from '../../base/digits';
import { payloadPicker, type PayloadPicker } from '../../plan/payloadPicker';
import type { Plan, PlanEntry } from '../../plan/plan';
import { bytesBeyondEstimate } from '../lead/payloadFiles';
import { ownMessage, payloadBytes, textOfLength } from './messageShape';
import type { OpenStream } from './openStream';
import { argumentBytes, ownArguments, type OwnArgument } from '../../usecases/ownArguments';
import type { StreamShape } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { codecOf } from '../../wire/hub/codecs';
import type { HubCodec } from '../../wire/hub/hubCodec';
import { HoleFrame } from '../../wire/message/holeFrame';
import type { HoleLengths, MessageLayout } from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type MessageSource,
} from '../../wire/message/messageTemplate';
import { type Stamp, stampLength, writeStamp, emptyStamp } from '../../wire/message/stamp';
import { streamLayoutOf } from '../../wire/message/streamLayout';

/**
 * The messages of one entry's streams, each encoded once. All methods that send do so on the stream's
 * connection and return the bytes on the wire.
 */
export interface StreamMessages {
  /** Calls the method that takes the stream. */
  open(stream: OpenStream): number;
  /** Calls the method that makes a stream of `items` items. */
  request(stream: OpenStream, stamp: Stamp): number;
  item(stream: OpenStream, stamp: Stamp): number;
  /** Payload of the request or item with this stamp, which is the stream's next one. */
  payloadBytes(stream: OpenStream, stamp: Stamp): number;
}

/** The messages that end streams, whatever goes through them. */
export class StreamEnds {
  private readonly ending: HoleFrame;
  private readonly cancelling: HoleFrame;

  constructor({ protocol }: Pick<Plan, 'protocol'>, framed: boolean) {
    const [layout, codec] = [streamLayoutOf(protocol), codecOf(protocol)];
    this.ending = HoleFrame.of(layout.end(), codec, framed);
    this.cancelling = HoleFrame.of(layout.cancel(), codec, framed);
  }

  /** No further items; returns the bytes on the wire. */
  end({ connection, streamId }: OpenStream): number {
    this.ending.put(0, streamId);
    return sendHoles(connection!, this.ending);
  }

  cancel({ callId }: OpenStream, connection: HubConnection): void {
    this.cancelling.put(0, callId);
    sendHoles(connection, this.cancelling);
  }
}

/** Returns the bytes on the wire. */
function sendHoles(connection: HubConnection, holes: HoleFrame): number {
  const { frame } = holes;
  if (!connection.send(frame)) holes.detach();
  return frame.length;
}

/** Holes of a call that makes a stream. */
const downHole = { id: 0, stamp: 1, time: 2, count: 3 } as const;
/** Holes of an item. */
const itemHole = { id: 0, stamp: 1, time: 2 } as const;

/** Streams of the bench contract: their items are dictionaries with a stamp and a payload. */
export class StreamFrames implements StreamMessages {
  private readonly opening: HoleFrame | undefined;
  /** By size of the payload: calls that make a stream, else items. */
  private readonly carrying: (HoleFrame | undefined)[] = [];
  private readonly layout;
  private readonly codec;
  private readonly letters: Buffer;
  private readonly stampBytes = Buffer.alloc(stampLength);
  private unixMs = -1;
  private time: Buffer;
  private readonly payload: PayloadPicker;

  constructor(
    plan: Plan,
    private readonly entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly framed: boolean,
  ) {
    const { direction, delayMs, method } = shape;
    this.codec = codecOf(plan.protocol);
    this.layout = streamLayoutOf(plan.protocol);
    this.payload = payloadPicker(entry, plan.seed);
    this.letters = payloadBytes(entry.payload, plan.seed, Math.max(0, ...this.payload.sizes));
    this.time = this.layout.timestamp(0);
    const { layout, codec } = this;
    if (direction === 'download') return;
    const both = direction === 'both';
    const pieces = layout.openUp(method, both ? [delayMs] : [], both);
    this.opening = HoleFrame.of(pieces, codec, framed);
  }

  open({ connection, callId, streamId }: OpenStream): number {
    const frame = this.opening!;
    frame.put(0, callId);
    frame.put(1, streamId);
    return sendHoles(connection!, frame);
  }

  request({ connection, callId, items }: OpenStream, stamp: Stamp): number {
    const frame = this.filled(stamp);
    frame.put(downHole.id, callId);
    frame.put(downHole.count, this.layout.count(items));
    return sendHoles(connection!, frame);
  }

  item({ connection, streamId }: OpenStream, stamp: Stamp): number {
    const frame = this.filled(stamp);
    frame.put(itemHole.id, streamId);
    return sendHoles(connection!, frame);
  }

  payloadBytes(_stream: OpenStream, stamp: Stamp): number {
    return this.payload.sizes[this.sizeOf(stamp)]!;
  }

  private sizeOf({ source, sequence }: Stamp): number {
    return this.payload.pick(source, 0, sequence);
  }

  private filled(stamp: Stamp): HoleFrame {
    const size = this.sizeOf(stamp);
    const frame = (this.carrying[size] ??= this.made(size));
    writeStamp(this.stampBytes, 0, stamp);
    frame.put(itemHole.stamp, this.stampBytes);
    const unixMs = Date.now();
    if (unixMs !== this.unixMs) {
      this.unixMs = unixMs;
      this.time = this.layout.timestamp(unixMs);
    }
    frame.put(itemHole.time, this.time);
    return frame;
  }

  private made(size: number): HoleFrame {
    const { layout, codec, framed } = this;
    const { direction, delayMs, method } = this.shape;
    const payload = {
      blob: textOfLength(this.letters, this.payload.sizes[size]!),
      binary: this.entry.payload.content === 'binary',
    };
    const download = direction === 'download';
    const pieces = download ? layout.openDown(method, payload, delayMs) : layout.item(payload);
    return HoleFrame.of(pieces, codec, framed);
  }
}

/** What messages of the user's own need to know about the run. */
interface OwnStreamDependencies {
  /** Whether messages leave as WebSocket frames, not as bare hub messages in HTTP bodies. */
  readonly framed: boolean;
  /** Connection id of any connection of the run, as it stands in a message. */
  readonly idOf: (index: number) => Buffer | undefined;
}

/** Streams to and from the user's own method, with the user's own arguments and items. */
export class OwnStreamFrames implements StreamMessages {
  private readonly call: OwnFrame;
  /** What goes up, in turn. */
  private readonly items: readonly OwnFrame[];
  /** Calls and items so far, by sender. */
  private readonly calls: Uint32Array;
  private readonly sentItems: Uint32Array;
  private readonly stamp = emptyStamp();
  private readonly source: Mutable<MessageSource> = { index: 0 };

  constructor(
    plan: Plan,
    entry: PlanEntry,
    { method, direction, own }: StreamShape,
    private readonly dependencies: OwnStreamDependencies,
  ) {
    const codec = codecOf(plan.protocol);
    const layout = streamLayoutOf(plan.protocol);
    const { framed } = dependencies;
    const opens = { down: direction !== 'upload', up: direction !== 'download' };
    const args = ownArguments(own!.arguments);
    const shape = { method, opens, arguments: ownMessage(args, entry, plan.seed) };
    const bytes = bytesOf(args, entry);
    this.call = new OwnFrame((lengths) => codec.layout(shape, lengths), codec, framed, bytes);
    this.items = ownArguments(own!.items).map((item) => {
      const [content] = ownMessage([item], entry, plan.seed);
      const itemLayout = (lengths: HoleLengths) => layout.ownItem(content!, lengths);
      return new OwnFrame(itemLayout, codec, framed, bytesOf([item], entry));
    });
    this.calls = new Uint32Array(plan.connections);
    this.sentItems = new Uint32Array(plan.connections);
    this.stamp.runId = plan.runId;
  }

  open(stream: OpenStream): number {
    return this.send(stream, this.call, this.calls);
  }

  request(stream: OpenStream): number {
    return this.open(stream);
  }

  item(stream: OpenStream): number {
    return this.send(stream, this.itemOf(stream), this.sentItems);
  }

  /** The arguments of the call count with the first item that goes up. */
  payloadBytes(stream: OpenStream): number {
    const call = stream.position === 0 ? this.call.payloadBytes : 0;
    return this.items.length === 0 ? call : call + this.itemOf(stream).payloadBytes;
  }

  private itemOf({ position }: OpenStream): OwnFrame {
    return this.items[position % this.items.length]!;
  }

  private send(stream: OpenStream, frame: OwnFrame, sent: Uint32Array): number {
    const { stamp, source } = this;
    const { sender, callId, streamId } = stream;
    stamp.sequence = sent[sender]!++;
    source.index = sender;
    source.id = this.dependencies.idOf(sender);
    source.callId = callId;
    source.streamId = streamId;
    const template = frame.templateFor(source);
    const bytes = template.fill(stamp, undefined, Date.now(), source);
    if (!stream.connection!.send(bytes)) template.detach();
    return bytes.length;
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** One message, encoded once for each length of what names its sender. */
class OwnFrame {
  private readonly templates = new Map<number, MessageTemplate>();

  constructor(
    private readonly layout: (lengths: HoleLengths) => MessageLayout,
    private readonly codec: HubCodec,
    private readonly framed: boolean,
    readonly payloadBytes: number,
  ) {}

  templateFor(source: MessageSource): MessageTemplate {
    // Indexes are shorter than 16 digits.
    const key = (source.id?.length ?? 0) * 16 + digitsOf(source.index);
    let template = this.templates.get(key);
    if (template === undefined) {
      const layout = this.layout(holeLengths(undefined, source));
      template = new MessageTemplate(layout, this.codec, this.framed);
      this.templates.set(key, template);
    }
    return template;
  }
}

/** As JSON text, with what the files hold. */
export const bytesOf = (items: readonly OwnArgument[], { files = {} }: PlanEntry): number =>
  argumentBytes(items) + bytesBeyondEstimate(items, files);
