import type { MessageArgument, WireProtocol } from '../../base/message';
import { createPayloadPicker, type PayloadPicker } from '../../plan/draws';
import type { Plan, PlanEntry } from '../../plan/plan';
import { argumentBytes, parseArguments, type CallArgument } from '../../usecases/ownArguments';
import type { StreamShape } from '../../usecases/streams';
import type { HubConnection } from '../../wire/hub/clientConnection';
import { codecForProtocol } from '../../wire/connect/connectHub';
import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import {
  recordLatencyShape,
  streamLayoutFor,
  type HoleLengths,
  type MessageLayout,
} from '../../wire/message/messageLayout';
import {
  holeLengths,
  MessageTemplate,
  type SenderFields,
  argumentValue,
  type HoleContent,
} from '../../wire/message/messageTemplate';
import { emptyStamp, type Stamp } from '../../wire/message/stamp';
import { decimalDigits, buildArguments, generatePayload, textOfBytes } from './messageShape';
import { bytesBeyondEstimate } from '../prepare/payloadFiles';
import type { SenderDependencies } from './entrySender';
import type { OpenStream } from './openStream';

interface StreamMessage {
  readonly write: Write;
  readonly payloadBytes: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Messages of one entry's streams. Sending returns bytes on the wire; NaN when an official client hides them. */
export class StreamMessages {
  private readonly writer: StreamWriter;
  private readonly call: StreamMessage;
  /** By payload size, made on demand; the user's own in turn. */
  private readonly items: (StreamMessage | undefined)[] = [];
  private readonly payload: PayloadPicker;
  private readonly letters: Buffer;
  private readonly calls: Uint32Array;
  private readonly sentItems: Uint32Array;
  private readonly ownStamp = emptyStamp();
  private readonly source: Mutable<SenderFields> = { index: 0 };
  private readonly members: SenderDependencies['members'];

  constructor(
    plan: Plan,
    private readonly entry: PlanEntry,
    private readonly shape: StreamShape,
    {
      framed,
      takesMessages,
      members,
    }: Pick<SenderDependencies, 'framed' | 'takesMessages' | 'members'>,
  ) {
    const { own, direction, delayMs } = shape;
    const { protocol, seed, connections } = plan;
    const writer = takesMessages
      ? clientWriter(protocol, shape)
      : frameWriter(protocol, shape, framed);
    this.writer = writer;
    this.members = members;
    this.ownStamp.runId = plan.runId;
    this.payload = createPayloadPicker(entry.payload.sizes, seed);
    const largest = own === undefined ? Math.max(0, ...this.payload.sizes) : 0;
    this.letters = generatePayload(entry.payload, seed, largest);
    this.calls = new Uint32Array(own === undefined ? 0 : connections);
    this.sentItems = new Uint32Array(own === undefined ? 0 : connections);
    if (own === undefined) {
      const args = direction === 'both' ? [number(delayMs)] : [];
      this.call = { write: writer.call(args), payloadBytes: 0 };
      return;
    }
    const bytesOf = (args: readonly CallArgument[]): number =>
      argumentBytes(args) + bytesBeyondEstimate(args, entry.files ?? {});
    const args = parseArguments(own.arguments);
    this.call = {
      write: writer.call(buildArguments(args, entry, seed)),
      payloadBytes: bytesOf(args),
    };
    for (const item of parseArguments(own.items)) {
      const [content] = buildArguments([item], entry, seed);
      this.items.push({ write: writer.item(content!), payloadBytes: bytesOf([item]) });
    }
  }

  open(stream: OpenStream, stamp: Stamp): number {
    const { own, direction } = this.shape;
    if (own === undefined && direction === 'download') return this.item(stream, stamp);
    return this.send(stream, this.call.write, this.stampOf(stream, stamp, this.calls));
  }

  item(stream: OpenStream, stamp: Stamp): number {
    const { write } = this.itemOf(stream, stamp)!;
    return this.send(stream, write, this.stampOf(stream, stamp, this.sentItems));
  }

  end(stream: OpenStream): number {
    return this.send(stream, this.writer.end, this.ownStamp);
  }

  cancel(stream: OpenStream, connection: HubConnection): void {
    this.send(stream, this.writer.cancel, this.ownStamp, connection);
  }

  /** Payload of the stream's next message; the first includes the arguments of the call. */
  payloadBytes(stream: OpenStream, stamp: Stamp): number {
    const call = stream.position === 0 ? this.call.payloadBytes : 0;
    return call + (this.itemOf(stream, stamp)?.payloadBytes ?? 0);
  }

  private itemOf({ position }: OpenStream, { source, sequence }: Stamp): StreamMessage | undefined {
    const { items, payload } = this;
    if (this.shape.own !== undefined) return items[position % items.length];
    const size = payload.pick(source, 0, sequence);
    return (items[size] ??= this.contractItem(payload.sizes[size]!));
  }

  /** A dictionary with stamp and payload: an item, or the request for a download. */
  private contractItem(bytes: number): StreamMessage {
    const { direction, delayMs, method } = this.shape;
    const blob = textOfBytes(this.letters, bytes);
    const binary = this.entry.payload.content === 'binary';
    const dictionary = recordLatencyShape({ method, blob, binary }).arguments[0]!;
    const count = { kind: 'number', hole: 'itemCount' } as const;
    const write =
      direction === 'download'
        ? this.writer.call([dictionary, count, number(delayMs)])
        : this.writer.item(dictionary);
    return { write, payloadBytes: bytes };
  }

  /** The user's own messages are numbered per sender. */
  private stampOf({ sender }: OpenStream, stamp: Stamp, sent: Uint32Array): Stamp {
    if (this.shape.own === undefined) return stamp;
    this.ownStamp.sequence = sent[sender]!++;
    return this.ownStamp;
  }

  private send(
    { sender, callId, streamId, items, connection }: OpenStream,
    write: Write,
    stamp: Stamp,
    to = connection!,
  ): number {
    const { source } = this;
    source.index = sender;
    if (this.shape.own !== undefined) source.id = this.members.idOf(sender);
    source.callId = callId;
    source.streamId = streamId;
    source.itemCount = items;
    return write(to, stamp, source);
  }
}

const number = (value: number): MessageArgument => ({ kind: 'value', value });

/** Fills the holes and sends; returns bytes on the wire. */
type Write = (to: HubConnection, stamp: Stamp, source: SenderFields) => number;

interface StreamWriter {
  call(args: readonly MessageArgument[]): Write;
  item(content: MessageArgument): Write;
  readonly end: Write;
  readonly cancel: Write;
}

/** Encodes each message once, the user's own once per length of the sender's names. */
function frameWriter(
  protocol: WireProtocol,
  { method, direction, own }: StreamShape,
  framed: boolean,
): StreamWriter {
  const codec = codecForProtocol(protocol);
  const layouts = streamLayoutFor(protocol);
  const opens = { down: direction !== 'upload', up: direction !== 'download' };
  const writing = (layout: (lengths: HoleLengths) => MessageLayout): Write => {
    const templates = new Map<number, MessageTemplate>();
    return (to, stamp, source) => {
      // Indexes have fewer than 16 digits.
      const key =
        own === undefined ? 0 : (source.id?.length ?? 0) * 16 + decimalDigits(source.index);
      let template = templates.get(key);
      if (template === undefined) {
        template = new MessageTemplate(layout(holeLengths(undefined, source)), codec, framed);
        templates.set(key, template);
      }
      return template.sendTo(to, stamp, undefined, Date.now(), source);
    };
  };
  return {
    call: (args) => writing((lengths) => codec.layout({ method, arguments: args, opens }, lengths)),
    item: (content) => writing((lengths) => layouts.item(content, lengths)),
    end: writing(() => layouts.end),
    cancel: writing(() => layouts.cancel),
  };
}

function clientWriter(protocol: WireProtocol, { method, direction }: StreamShape): StreamWriter {
  const writing =
    (message: (holes: HoleContent, callId: string, streamId: string) => HubMessage): Write =>
    (to, stamp, source) => {
      const holes = { protocol, stamp, nowMs: Date.now(), source };
      return to.sendMessage(message(holes, idText(source.callId), idText(source.streamId)));
    };
  const { invocation, streamInvocation, streamItem, completion, cancelInvocation } = hubMessageType;
  return {
    call: (args) =>
      writing((holes, invocationId, streamId) => ({
        type: direction === 'upload' ? invocation : streamInvocation,
        invocationId,
        target: method,
        arguments: args.map((argument) => argumentValue(argument, holes)),
        ...(direction !== 'download' && { streamIds: [streamId] }),
      })),
    item: (content) =>
      writing((holes, _callId, invocationId) => {
        return { type: streamItem, invocationId, item: argumentValue(content, holes) };
      }),
    end: writing((_holes, _callId, invocationId) => ({ type: completion, invocationId })),
    cancel: writing((_holes, invocationId) => ({ type: cancelInvocation, invocationId })),
  };
}

const idText = (id: Uint8Array = new Uint8Array()): string => Buffer.from(id).toString('latin1');
