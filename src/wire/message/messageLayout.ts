import type { HoleKind, MessageArgument, TextPart } from '../../base/messageArgument';
import { lengthPrefix } from './messagePackFraming';
import {
  arrayHead,
  binaryHead,
  encodeText,
  encodeValue,
  mapHead,
  textHead,
} from './messagePackWriter';
import { stampLength } from './stamp';
import { messageAckId } from '../webpubsub/ackCompletion';

/** What one message of a run looks like, apart from what is written into it each time. */
export interface MessageShape {
  readonly method: string;
  readonly arguments: readonly MessageArgument[];
  /** The receiver is a group, which clients of Web PubSub publish to without a method. */
  readonly toGroup?: boolean;
  /** The hub is asked for a completion: the stamp is the invocation's id. Web PubSub wants a number. */
  readonly answered?: boolean;
  /** It opens a stream, whose items come down, go up, or both. */
  readonly opens?: { readonly down: boolean; readonly up: boolean };
}

/** Bytes of what has no fixed length, as it stands in the message. */
export interface HoleLengths {
  readonly receiver: number;
  readonly sender: number;
  readonly senderIndex: number;
}

/** How a hole's value is written: digits in text, digits as a number of JSON, big-endian integer, varint. */
export type HoleForm = 'text' | 'number' | 'integer' | 'varint';

/** A place of a message that is written anew each time. */
export interface Hole {
  readonly kind: HoleKind;
  readonly form: HoleForm;
  readonly at: number;
  readonly length: number;
}

/** A whole hub message with what marks its end, its holes empty. */
export interface MessageLayout {
  readonly body: Buffer;
  readonly holes: readonly Hole[];
}

/** Digits of a Unix time in milliseconds until the year 2286, of ticks until 3168, of any sequence. */
export const holeDigits = {
  unixMs: 13,
  ticks: 18,
  sequence: 10,
  ackId: messageAckId.digits,
} as const;
/** Ids of streams: a letter and eight hexadecimal digits. */
export const streamIdLength = 9;

/** Bytes of the integers that follow a head of one byte. */
const integerBytes = { unixMs: 8, ticks: 8, sequence: 4, senderIndex: 4 } as const;

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

/** Collects pieces and remembers where the holes are. */
export class Pieces {
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

  /** A whole message inside this one. */
  nested({ body, holes }: MessageLayout): void {
    for (const hole of holes) this.holes.push({ ...hole, at: this.length + hole.at });
    this.add(body);
  }

  /** @param prefix goes before everything */
  layout(prefix: (length: number) => Buffer): MessageLayout {
    const before = prefix(this.length);
    return {
      body: Buffer.concat([before, ...this.pieces]),
      holes: this.holes.map((hole) => ({ ...hole, at: hole.at + before.length })),
    };
  }
}

/** The text inside quotes. */
const jsonText = (text: string): Buffer => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8');

/** Pieces of JSON. */
export class JsonPieces extends Pieces {
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

  /** @param prefix goes before everything; nothing when absent */
  override layout(prefix: (length: number) => Buffer = () => Buffer.alloc(0)): MessageLayout {
    return super.layout(prefix);
  }
}

export function jsonLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const { opens, method } = shape;
  const pieces = new JsonPieces(lengths);
  pieces.raw(`{"type":${opens?.down === true ? 4 : 1},`);
  const id = idHole(shape);
  if (id !== undefined) {
    pieces.raw('"invocationId":"');
    pieces.hole(id, 'text');
    pieces.raw('",');
  }
  pieces.raw(`"target":${JSON.stringify(method)},"arguments":[`);
  pieces.list(shape.arguments);
  if (opens?.up === true) {
    pieces.raw('],"streamIds":["');
    pieces.hole('streamId', 'text');
    pieces.raw('"');
  }
  pieces.raw(']}\x1e');
  return pieces.layout();
}

/** An item that goes up in a stream. */
export function jsonItemLayout(item: MessageArgument, lengths: HoleLengths): MessageLayout {
  const pieces = new JsonPieces(lengths);
  pieces.raw('{"type":2,"invocationId":"');
  pieces.hole('streamId', 'text');
  pieces.raw('","item":');
  pieces.write(item);
  pieces.raw('}\x1e');
  return pieces.layout();
}

/** What stands in the id of a message; undefined when it has none. */
function idHole({ answered, opens }: MessageShape): 'stamp' | 'callId' | undefined {
  if (opens !== undefined) return 'callId';
  return answered === true ? 'stamp' : undefined;
}

/** Heads of unsigned integers by their bytes. */
const integerHead = { 4: Buffer.from([0xce]), 8: Buffer.from([0xcf]) } as const;

/** Pieces of MessagePack. Numbers that change have one width, so that all messages are equally long. */
class MessagePackPieces extends Pieces {
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

/** `[type, {}, id or nil, method, [arguments], [ids of streams]]` */
export function messagePackLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const { opens, method } = shape;
  const pieces = new MessagePackPieces(lengths);
  pieces.add(Buffer.from([0x96, opens?.down === true ? 4 : 1, 0x80]));
  const id = idHole(shape);
  if (id === undefined) pieces.add(Buffer.from([0xc0]));
  else pieces.id(id);
  pieces.add(encodeText(method));
  pieces.list(shape.arguments);
  pieces.add(arrayHead(opens?.up === true ? 1 : 0));
  if (opens?.up === true) pieces.id('streamId');
  return pieces.layout(lengthPrefix);
}

/** An item that goes up in a stream: `[2, {}, id, item]`. */
export function messagePackItemLayout(item: MessageArgument, lengths: HoleLengths): MessageLayout {
  const pieces = new MessagePackPieces(lengths);
  pieces.add(Buffer.from([0x94, 2, 0x80]));
  pieces.id('streamId');
  pieces.write(item);
  return pieces.layout(lengthPrefix);
}
