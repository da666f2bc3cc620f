import type { MessageArgument } from '../../base/message';
import { payloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan, PlanEntry } from '../../plan/plan';
import { argumentBytes, ownArguments, type OwnArgument } from '../../usecases/ownArguments';
import type { StreamShape } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { codecOf } from '../../wire/hub/codecs';
import type { HubCodec } from '../../wire/message/hubCodec';
import { hubMessageType } from '../../wire/message/hubMessage';
import {
  recordLatencyShape,
  streamLayoutOf,
  type HoleLengths,
  type MessageLayout,
} from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type MessageSource,
} from '../../wire/message/messageTemplate';
import { valueOf, type HoleContent } from '../../wire/message/messageValue';
import { emptyStamp, type Stamp } from '../../wire/message/stamp';
import { bytesBeyondEstimate } from '../prepare/payloadFiles';
import type { Membership } from '../prepare/sharedMembers';
import { digitsOf, ownMessage, payloadBytes, textOfLength } from './messageShape';
import type { OpenStream } from './openStream';

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
  private readonly ending: MessageTemplate;
  private readonly cancelling: MessageTemplate;

  constructor({ protocol }: Pick<Plan, 'protocol'>, framed: boolean) {
    const { end, cancel } = streamLayoutOf(protocol);
    this.ending = new MessageTemplate(end, codecOf(protocol), framed);
    this.cancelling = new MessageTemplate(cancel, codecOf(protocol), framed);
  }

  /** No further items; returns the bytes on the wire. */
  end(stream: OpenStream): number {
    return send(this.ending, stream, stream.connection!);
  }

  cancel(stream: OpenStream, connection: HubConnection): void {
    send(this.cancelling, stream, connection);
  }
}

const noStamp = emptyStamp();

/** Sends a message that is about a stream; returns its bytes on the wire. */
function send(
  template: MessageTemplate,
  { sender, callId, streamId, items }: OpenStream,
  connection: HubConnection,
  stamp = noStamp,
): number {
  const source = { index: sender, callId, streamId, itemCount: items };
  return template.sendTo(connection, stamp, undefined, Date.now(), source);
}

/** Streams of the bench contract: their items are dictionaries with a stamp and a payload. */
export class StreamFrames implements StreamMessages {
  private readonly opening: MessageTemplate;
  /** By size of the payload: calls that make a stream, else items. */
  private readonly carrying: (MessageTemplate | undefined)[] = [];
  private readonly codec;
  private readonly letters: Buffer;
  private readonly payload: PayloadPicker;

  constructor(
    plan: Plan,
    private readonly entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly framed: boolean,
  ) {
    this.codec = codecOf(plan.protocol);
    this.payload = payloadPicker(entry, plan.seed);
    this.letters = payloadBytes(entry.payload, plan.seed, Math.max(0, ...this.payload.sizes));
    const both = shape.direction === 'both';
    this.opening = this.call(both ? [value(shape.delayMs)] : [], { down: both, up: true });
  }

  open(stream: OpenStream): number {
    return send(this.opening, stream, stream.connection!);
  }

  request(stream: OpenStream, stamp: Stamp): number {
    return this.item(stream, stamp);
  }

  item(stream: OpenStream, stamp: Stamp): number {
    const size = this.sizeOf(stamp);
    const template = (this.carrying[size] ??= this.made(size));
    return send(template, stream, stream.connection!, stamp);
  }

  payloadBytes(_stream: OpenStream, stamp: Stamp): number {
    return this.payload.sizes[this.sizeOf(stamp)]!;
  }

  private sizeOf({ source, sequence }: Stamp): number {
    return this.payload.pick(source, 0, sequence);
  }

  private made(size: number): MessageTemplate {
    const { direction, delayMs, method } = this.shape;
    const blob = textOfLength(this.letters, this.payload.sizes[size]!);
    const binary = this.entry.payload.content === 'binary';
    const dictionary = recordLatencyShape({ method, blob, binary }).arguments[0]!;
    if (direction === 'download') {
      const count = { kind: 'number', hole: 'itemCount' } as const;
      return this.call([dictionary, count, value(delayMs)], { down: true, up: false });
    }
    const layout = streamLayoutOf(this.codec.protocol).item(dictionary, holeLengths(undefined));
    return new MessageTemplate(layout, this.codec, this.framed);
  }

  private call(
    args: readonly MessageArgument[],
    opens: { readonly down: boolean; readonly up: boolean },
  ): MessageTemplate {
    const shape = { method: this.shape.method, arguments: args, opens };
    return MessageTemplate.of(shape, holeLengths(undefined), this.codec, this.framed);
  }
}

const value = (number: number): MessageArgument => ({ kind: 'value', value: number });

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
    framed: boolean,
    private readonly members: Pick<Membership, 'idOf'>,
  ) {
    const codec = codecOf(plan.protocol);
    const layout = streamLayoutOf(plan.protocol);
    const opens = { down: direction !== 'upload', up: direction !== 'download' };
    const args = ownArguments(own!.arguments);
    const shape = { method, opens, arguments: ownMessage(args, entry, plan.seed) };
    const bytes = bytesOf(args, entry);
    this.call = new OwnFrame((lengths) => codec.layout(shape, lengths), codec, framed, bytes);
    this.items = ownArguments(own!.items).map((item) => {
      const [content] = ownMessage([item], entry, plan.seed);
      const itemLayout = (lengths: HoleLengths) => layout.item(content!, lengths);
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
    source.id = this.members.idOf(sender);
    source.callId = callId;
    source.streamId = streamId;
    const template = frame.templateFor(source);
    return template.sendTo(stream.connection!, stamp, undefined, Date.now(), source);
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

/** What goes up, and how long it is. */
interface Item {
  readonly argument: MessageArgument;
  readonly payloadBytes: number;
}

/** The messages of streams, of the bench contract or the user's own, for an official client. */
export class StreamValues implements StreamMessages {
  /** Of the bench contract by size of the payload, of the user's own in turn. */
  private readonly items: readonly Item[];
  /** The user's own, with their bytes. */
  private readonly ownCall:
    { readonly arguments: readonly MessageArgument[]; readonly payloadBytes: number } | undefined;
  private readonly payload: PayloadPicker;
  private readonly ownStamp = emptyStamp();
  /** Calls and items of the user's own so far, by sender. */
  private readonly calls: Uint32Array;
  private readonly sentItems: Uint32Array;

  constructor(
    private readonly plan: Plan,
    entry: PlanEntry,
    private readonly shape: StreamShape,
    private readonly members: Pick<Membership, 'idOf'>,
  ) {
    const { own } = shape;
    this.payload = payloadPicker(entry, plan.seed);
    this.calls = new Uint32Array(plan.connections);
    this.sentItems = new Uint32Array(plan.connections);
    this.ownStamp.runId = plan.runId;
    if (own === undefined) {
      const binary = entry.payload.content === 'binary';
      const letters = payloadBytes(entry.payload, plan.seed, Math.max(0, ...this.payload.sizes));
      this.items = this.payload.sizes.map((bytes) => {
        const blob = textOfLength(letters, bytes);
        const [argument] = recordLatencyShape({ method: '', blob, binary }).arguments;
        return { argument: argument!, payloadBytes: bytes };
      });
    } else {
      const args = ownArguments(own.arguments);
      const bytes = bytesOf(args, entry);
      this.ownCall = { arguments: ownMessage(args, entry, plan.seed), payloadBytes: bytes };
      this.items = ownArguments(own.items).map((item) => ({
        argument: ownMessage([item], entry, plan.seed)[0]!,
        payloadBytes: bytesOf([item], entry),
      }));
    }
  }

  open(stream: OpenStream): number {
    const { direction, delayMs } = this.shape;
    if (this.ownCall === undefined) return this.call(stream, direction === 'both' ? [delayMs] : []);
    const holes = this.ownHoles(stream, this.calls);
    return this.call(
      stream,
      this.ownCall.arguments.map((argument) => valueOf(argument, holes)),
    );
  }

  request(stream: OpenStream, stamp: Stamp): number {
    if (this.ownCall !== undefined) return this.open(stream);
    const { items, sender: index } = stream;
    const holes = { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source: { index } };
    const { argument } = this.items[this.sizeOf(stamp)]!;
    return this.call(stream, [valueOf(argument, holes), items, this.shape.delayMs]);
  }

  item(stream: OpenStream, stamp: Stamp): number {
    const { argument } = this.itemOf(stream, stamp);
    const { sender: index, streamId } = stream;
    const holes =
      this.ownCall === undefined
        ? { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source: { index } }
        : this.ownHoles(stream, this.sentItems);
    const item = valueOf(argument, holes);
    return stream.connection!.sendMessage({
      type: hubMessageType.streamItem,
      invocationId: idText(streamId),
      item,
    });
  }

  payloadBytes(stream: OpenStream, stamp: Stamp): number {
    const call = stream.position === 0 ? (this.ownCall?.payloadBytes ?? 0) : 0;
    const hasItem = this.ownCall === undefined || this.items.length > 0;
    return hasItem ? call + this.itemOf(stream, stamp).payloadBytes : call;
  }

  /** No further items; returns the bytes on the wire. */
  end({ connection, streamId }: OpenStream): number {
    return connection!.sendMessage({
      type: hubMessageType.completion,
      invocationId: idText(streamId),
    });
  }

  cancel({ callId }: OpenStream, connection: HubConnection): void {
    connection.sendMessage({ type: hubMessageType.cancelInvocation, invocationId: idText(callId) });
  }

  private call({ connection, callId, streamId }: OpenStream, args: readonly unknown[]): number {
    const { method, direction } = this.shape;
    return connection!.sendMessage({
      type: direction === 'upload' ? hubMessageType.invocation : hubMessageType.streamInvocation,
      invocationId: idText(callId),
      target: method,
      arguments: args,
      ...(direction !== 'download' && { streamIds: [idText(streamId)] }),
    });
  }

  private itemOf({ position }: OpenStream, stamp: Stamp): Item {
    const { items } = this;
    return items[this.ownCall === undefined ? this.sizeOf(stamp) : position % items.length]!;
  }

  private sizeOf({ source, sequence }: Stamp): number {
    return this.payload.pick(source, 0, sequence);
  }

  private ownHoles({ sender, callId, streamId }: OpenStream, sent: Uint32Array): HoleContent {
    const { ownStamp: stamp } = this;
    stamp.sequence = sent[sender]!++;
    const source = { index: sender, id: this.members.idOf(sender), callId, streamId };
    return { protocol: this.plan.protocol, stamp, nowMs: Date.now(), source };
  }
}

const idText = (id: Buffer): string => id.toString('latin1');
