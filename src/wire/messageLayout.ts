import type { HoleKind, MessageArgument, TextPart } from '../base/messageArgument';
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
import { messageAckId } from './webpubsub/ackCompletion';

/** What one message of a run looks like, apart from what is written into it each time. */
export interface MessageShape {
  readonly method: string;
  readonly arguments: readonly MessageArgument[];
  /** The hub is asked for a completion: the stamp is the invocation's id. Web PubSub wants a number. */
  readonly answered?: boolean;
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
const digits = { unixMs: 13, ticks: 18, sequence: 10, ackId: messageAckId.digits } as const;

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
    default:
      return digits[kind];
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
  const pieces = new JsonPieces(lengths);
  pieces.raw('{"type":1,');
  if (shape.answered === true) {
    pieces.raw('"invocationId":"');
    pieces.hole('stamp', 'text');
    pieces.raw('",');
  }
  pieces.raw(`"target":${JSON.stringify(shape.method)},"arguments":[`);
  pieces.list(shape.arguments);
  pieces.raw(']}\x1e');
  return pieces.layout();
}

/** Heads of unsigned integers by their bytes. */
const integerHead = { 4: Buffer.from([0xce]), 8: Buffer.from([0xcf]) } as const;

/** Numbers that change have one width, so that all messages are equally long. */
export function messagePackLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const pieces = new Pieces(lengths);
  const partLength = (part: TextPart): number =>
    typeof part === 'string' ? Buffer.byteLength(part, 'utf8') : textLength(part.hole, lengths);
  const write = (argument: MessageArgument): void => {
    switch (argument.kind) {
      case 'value': {
        pieces.add(encodeValue(argument.value));
        return;
      }
      case 'number': {
        const bytes = integerBytes[argument.hole];
        pieces.add(integerHead[bytes]);
        pieces.hole(argument.hole, 'integer', bytes);
        return;
      }
      case 'text': {
        const length = argument.parts.reduce((sum, part) => sum + partLength(part), 0);
        pieces.add(argument.binary === true ? binaryHead(length) : textHead(length));
        for (const part of argument.parts) {
          if (typeof part === 'string') pieces.add(Buffer.from(part, 'utf8'));
          else pieces.hole(part.hole, 'text');
        }
        return;
      }
      case 'list':
        pieces.add(arrayHead(argument.items.length));
        {
          argument.items.forEach(write);
          return;
        }
      case 'map':
        pieces.add(mapHead(argument.members.length));
        {
          argument.members.forEach(([key, member]) => {
            pieces.add(encodeText(key));
            write(member);
          });
          return;
        }
    }
  };
  // [1, {}, id or nil, method, [arguments], []]
  pieces.add(Buffer.from([0x96, 0x01, 0x80]));
  if (shape.answered === true) {
    pieces.add(textHead(stampLength));
    pieces.hole('stamp', 'text');
  } else {
    pieces.add(Buffer.from([0xc0]));
  }
  pieces.add(encodeText(shape.method), arrayHead(shape.arguments.length));
  shape.arguments.forEach(write);
  pieces.add(arrayHead(0));
  return pieces.layout(lengthPrefix);
}
