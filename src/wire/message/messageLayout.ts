import type { HoleKind, MessageArgument, TextPart, WireProtocol } from '../../base/message';
import { hubMessageType } from './hubMessage';
import {
  lengthPrefix,
  arrayHead,
  binaryHead,
  encodeText,
  encodeValue,
  mapHead,
  textHead,
} from './messagePack';
import { stampKey, stampLength } from './stamp';

export interface MessageShape {
  readonly method: string;
  readonly arguments: readonly MessageArgument[];
  /** The receiver is a group, to which clients of Web PubSub publish without a method. */
  readonly toGroup?: boolean;
  /** The sender wants a completion: the stamp is the invocation id. Web PubSub wants a number. */
  readonly answered?: boolean;
  readonly opens?: { readonly down: boolean; readonly up: boolean };
}

export interface HoleLengths {
  readonly receiver: number;
  readonly sender: number;
  readonly senderIndex: number;
}
const noLengths: HoleLengths = { receiver: 0, sender: 0, senderIndex: 0 };

/** How a hole's value is written: digits in text, digits as a JSON number, big-endian integer, varint. */
type HoleForm = 'text' | 'number' | 'integer' | 'varint';

export interface Hole {
  readonly kind: HoleKind;
  readonly form: HoleForm;
  readonly at: number;
  readonly length: number;
}

export interface MessageLayout {
  readonly body: Buffer;
  readonly holes: readonly Hole[];
}

export interface ContractMessage {
  readonly method: string;
  readonly receiverKey?: string;
  readonly toGroup?: boolean;
  readonly blob: string;
  /** Sent as bytes instead of text; only MessagePack distinguishes them. */
  readonly binary?: boolean;
}

const textOf = (...parts: readonly TextPart[]): MessageArgument => ({ kind: 'text', parts });

/** One dictionary, which the hub passes to `RecordLatency`; the stamp has its own key. */
export function recordLatencyShape(message: ContractMessage): MessageShape {
  const { method, receiverKey, toGroup = false, blob, binary } = message;
  const members: (readonly [string, MessageArgument])[] = [
    [stampKey, textOf({ hole: 'stamp' })],
    ...(receiverKey === undefined ? [] : [[receiverKey, textOf({ hole: 'receiver' })] as const]),
    ['payload.Timestamp', { kind: 'number', hole: 'unixMs' }],
    ['payload.MessageBlob', { kind: 'text', parts: [blob], ...(binary && { binary }) }],
  ];
  return { method, arguments: [{ kind: 'map', members }], ...(toGroup && { toGroup }) };
}

/**
 * Receiver, if any, ticks and payload; the hub passes the last two to `Measure`. The payload begins with the stamp,
 * so it is as long as a stamp at least.
 */
export function measureShape(message: ContractMessage): MessageShape {
  const { method, receiverKey, blob } = message;
  const rest = Buffer.from(blob, 'utf8').subarray(stampLength);
  // Blanks replace the rest of a character that the stamp cuts: bytes 10xxxxxx continue one.
  for (let at = 0; at < rest.length && (rest[at]! & 0xc0) === 0x80; at++) rest[at] = 0x20;
  return {
    method,
    arguments: [
      ...(receiverKey === undefined ? [] : [textOf({ hole: 'receiver' })]),
      { kind: 'number', hole: 'ticks' },
      textOf({ hole: 'stamp' }, rest.toString('utf8')),
    ],
  };
}

/**
 * Ack ids of messages in Web PubSub begin here, far above those of joins and leaves. From here on a number keeps its
 * length: 11 digits up to 99,999,999,999, and 6 bytes as a varint.
 */
export const firstMessageAckId = 2 ** 35;
export const messageAckId = { digits: 11, varintBytes: 6 } as const;

/**
 * Enough for a Unix time in milliseconds until 2286, ticks until 3168, any sequence number, and the million items of
 * a stream.
 */
export const holeDigits = {
  unixMs: 13,
  ticks: 18,
  sequence: 10,
  ackId: messageAckId.digits,
  itemCount: 7,
} as const;
/** A letter and eight hexadecimal digits. */
export const streamIdLength = 9;

const integerBytes = { unixMs: 8, ticks: 8, sequence: 4, senderIndex: 4, itemCount: 4 } as const;

function textLength(kind: HoleKind, lengths: HoleLengths): number {
  switch (kind) {
    case 'stamp':
      return stampLength;
    case 'receiver':
    case 'sender':
    case 'senderIndex':
      return lengths[kind];
    case 'callId':
    case 'streamId':
      return streamIdLength;
    default:
      return holeDigits[kind];
  }
}

const nothing = (): Buffer => Buffer.alloc(0);

export class LayoutBuilder {
  private readonly pieces: Buffer[] = [];
  private readonly holes: Hole[] = [];
  private length = 0;

  constructor(private readonly lengths: HoleLengths) {}

  add(...pieces: readonly Buffer[]): void {
    for (const piece of pieces) {
      this.pieces.push(piece);
      this.length += piece.length;
    }
  }

  hole(kind: HoleKind, form: HoleForm, length = textLength(kind, this.lengths)): void {
    this.holes.push({ kind, form, at: this.length, length });
    this.add(Buffer.alloc(length));
  }

  nested({ body, holes }: MessageLayout): void {
    for (const hole of holes) this.holes.push({ ...hole, at: this.length + hole.at });
    this.add(body);
  }

  layout(prefix: (length: number) => Buffer = nothing): MessageLayout {
    const before = prefix(this.length);
    return {
      body: Buffer.concat([before, ...this.pieces]),
      holes: this.holes.map((hole) => ({ ...hole, at: hole.at + before.length })),
    };
  }
}

const jsonText = (text: string): Buffer => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8');

export class JsonLayoutBuilder extends LayoutBuilder {
  raw(text: string): void {
    this.add(Buffer.from(text, 'utf8'));
  }

  list(items: readonly MessageArgument[]): void {
    items.forEach((item, index) => {
      if (index > 0) this.raw(',');
      this.write(item);
    });
  }

  write(argument: MessageArgument): void {
    switch (argument.kind) {
      case 'value':
        this.raw(JSON.stringify(argument.value));
        return;
      case 'number':
        this.hole(argument.hole, 'number');
        return;
      case 'text':
        this.raw('"');
        for (const part of argument.parts) {
          if (typeof part === 'string') this.add(jsonText(part));
          else this.hole(part.hole, 'text');
        }
        this.raw('"');
        return;
      case 'list':
        this.raw('[');
        this.list(argument.items);
        this.raw(']');
        return;
      case 'map':
        this.raw('{');
        argument.members.forEach(([key, member], index) => {
          this.raw(`${index > 0 ? ',' : ''}${JSON.stringify(key)}:`);
          this.write(member);
        });
        this.raw('}');
    }
  }
}

function idHole({ answered, opens }: MessageShape): 'stamp' | 'callId' | undefined {
  if (answered === true) return 'stamp';
  return opens && 'callId';
}

const callType = ({ opens }: MessageShape): number =>
  opens?.down === true ? hubMessageType.streamInvocation : hubMessageType.invocation;

function jsonHead(type: number, id: HoleKind | undefined, lengths = noLengths): JsonLayoutBuilder {
  const pieces = new JsonLayoutBuilder(lengths);
  pieces.raw(`{"type":${type}`);
  if (id === undefined) return pieces;
  pieces.raw(',"invocationId":"');
  pieces.hole(id, 'text');
  pieces.raw('"');
  return pieces;
}

export function jsonLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const { opens, method } = shape;
  const pieces = jsonHead(callType(shape), idHole(shape), lengths);
  pieces.raw(`,"target":${JSON.stringify(method)},"arguments":[`);
  pieces.list(shape.arguments);
  if (opens?.up === true) {
    pieces.raw('],"streamIds":["');
    pieces.hole('streamId', 'text');
    pieces.raw('"');
  }
  pieces.raw(']}\x1e');
  return pieces.layout();
}

const integerHead = { 4: Buffer.from([0xce]), 8: Buffer.from([0xcf]) } as const;

/** Variable numbers have a fixed width, so that all messages are equally long. */
class MessagePackPieces extends LayoutBuilder {
  constructor(private readonly holeLengths: HoleLengths) {
    super(holeLengths);
  }

  write(argument: MessageArgument): void {
    switch (argument.kind) {
      case 'value':
        this.add(encodeValue(argument.value));
        return;
      case 'number': {
        const bytes = integerBytes[argument.hole];
        this.add(integerHead[bytes]);
        this.hole(argument.hole, 'integer', bytes);
        return;
      }
      case 'text': {
        const length = argument.parts.reduce((sum, part) => sum + this.partLength(part), 0);
        this.add(argument.binary === true ? binaryHead(length) : textHead(length));
        for (const part of argument.parts) {
          if (typeof part === 'string') this.add(Buffer.from(part, 'utf8'));
          else this.hole(part.hole, 'text');
        }
        return;
      }
      case 'list':
        this.list(argument.items);
        return;
      case 'map':
        this.add(mapHead(argument.members.length));
        for (const [key, member] of argument.members) {
          this.add(encodeText(key));
          this.write(member);
        }
    }
  }

  list(items: readonly MessageArgument[]): void {
    this.add(arrayHead(items.length));
    for (const item of items) this.write(item);
  }

  id(kind: HoleKind): void {
    this.add(textHead(textLength(kind, this.holeLengths)));
    this.hole(kind, 'text');
  }

  private partLength(part: TextPart): number {
    if (typeof part === 'string') return Buffer.byteLength(part, 'utf8');
    return textLength(part.hole, this.holeLengths);
  }
}

function messagePackHead(
  elements: number,
  type: number,
  id: HoleKind | undefined,
  lengths = noLengths,
): MessagePackPieces {
  const pieces = new MessagePackPieces(lengths);
  pieces.add(arrayHead(elements), Buffer.from([type, 0x80]));
  if (id === undefined) pieces.add(Buffer.from([0xc0]));
  else pieces.id(id);
  return pieces;
}

/** `[type, {}, id or nil, method, [arguments], [ids of streams]]` */
export function messagePackLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const { opens, method } = shape;
  const pieces = messagePackHead(6, callType(shape), idHole(shape), lengths);
  pieces.add(encodeText(method));
  pieces.list(shape.arguments);
  pieces.add(arrayHead(opens?.up === true ? 1 : 0));
  if (opens?.up === true) pieces.id('streamId');
  return pieces.layout(lengthPrefix);
}

interface StreamLayout {
  readonly item: (item: MessageArgument, lengths: HoleLengths) => MessageLayout;
  readonly end: MessageLayout;
  readonly cancel: MessageLayout;
  /** How an item that comes down usually begins, up to its content; `endBytes` follow the content. */
  readonly begins: MessageLayout;
  readonly endBytes: number;
  /** How a dictionary that comes back begins, up to its stamp. */
  readonly echoed: MessageLayout;
  /** The same for one that the hub has made: its number of {@link itemDigits} digits is the second hole. */
  readonly numbered: MessageLayout;
}

/** Dictionary key for the numbers of the items that a hub makes: from 0, hexadecimal. */
export const itemKey = 'bench.Item';
export const itemDigits = 8;

const { streamItem, completion, cancelInvocation } = hubMessageType;

function jsonItem(id: HoleKind, lengths?: HoleLengths): JsonLayoutBuilder {
  const pieces = jsonHead(streamItem, id, lengths);
  pieces.raw(',"item":');
  return pieces;
}

function jsonEnd(type: number, id: HoleKind): MessageLayout {
  const pieces = jsonHead(type, id);
  pieces.raw('}\x1e');
  return pieces.layout();
}

function jsonItemStart(isNumbered: boolean): MessageLayout {
  const pieces = jsonItem('callId');
  pieces.raw('{');
  if (isNumbered) {
    pieces.raw(`"${itemKey}":"`);
    pieces.hole('sequence', 'text', itemDigits);
    pieces.raw('",');
  }
  pieces.raw(`"${stampKey}":"`);
  return pieces.layout();
}

const jsonStreams: StreamLayout = {
  item: (item, lengths) => {
    const pieces = jsonItem('streamId', lengths);
    pieces.write(item);
    pieces.raw('}\x1e');
    return pieces.layout();
  },
  end: jsonEnd(completion, 'streamId'),
  cancel: jsonEnd(cancelInvocation, 'callId'),
  begins: jsonItem('callId').layout(),
  endBytes: 1,
  echoed: jsonItemStart(false),
  numbered: jsonItemStart(true),
};

const messagePackItem = (id: HoleKind, lengths?: HoleLengths): MessagePackPieces =>
  messagePackHead(4, streamItem, id, lengths);

/** The hub's number is added to the three members that are sent. */
function messagePackItemStart(isNumbered: boolean): MessageLayout {
  const pieces = messagePackItem('callId');
  pieces.add(mapHead(isNumbered ? 4 : 3));
  if (isNumbered) {
    pieces.add(encodeText(itemKey), textHead(itemDigits));
    pieces.hole('sequence', 'text', itemDigits);
  }
  pieces.add(encodeText(stampKey), textHead(stampLength));
  return pieces.layout();
}

function messagePackEnd(): MessageLayout {
  const pieces = messagePackHead(4, completion, 'streamId');
  pieces.add(Buffer.from([2]));
  return pieces.layout(lengthPrefix);
}

const messagePackStreams: StreamLayout = {
  item: (item, lengths) => {
    const pieces = messagePackItem('streamId', lengths);
    pieces.write(item);
    return pieces.layout(lengthPrefix);
  },
  end: messagePackEnd(),
  cancel: messagePackHead(3, cancelInvocation, 'callId').layout(lengthPrefix),
  begins: messagePackItem('callId').layout(),
  endBytes: 0,
  echoed: messagePackItemStart(false),
  numbered: messagePackItemStart(true),
};

export const streamLayoutFor = (protocol: WireProtocol): StreamLayout =>
  protocol === 'json' ? jsonStreams : messagePackStreams;
