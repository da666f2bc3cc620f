/** The SignalR hub protocol as servers speak it, in JSON and MessagePack. */
import { callbacks } from '../../base/message';
import type { Envelope } from '../../wire/message/envelope';
import { hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import type { ByteRest } from '../../wire/socket/frameReader';
import { opcode, serverHeaderLength } from '../../wire/socket/frame';

/** A whole number as a .NET `long`; undefined when it is none. */
export const toInt64 = (value: bigint): bigint | undefined =>
  BigInt.asIntN(64, value) === value ? value : undefined;

/** What stands around arguments and items that are sent on byte for byte. */
interface EnvelopeParts {
  readonly invocationHead: (target: string) => Buffer;
  /** Begins a list of two arguments. */
  readonly pairHead: Buffer;
  readonly invocationTail: Buffer;
  readonly itemHead: (invocationId: string) => Buffer;
  readonly itemTail: Buffer;
}

/** Payloads stay bytes on their way; only for a receiver of the other protocol they are read as values and written anew. */
export abstract class ServerProtocol {
  abstract readonly name: 'json' | 'messagepack';
  readonly isText: boolean;
  /** The accepted handshake, which is JSON in every protocol. */
  readonly handshakeFrame: Buffer;
  readonly pingFrame: Buffer;
  private readonly recordLatencyHead: Buffer;
  private readonly measureHead: Buffer;

  /** @param encode one message without a payload of a client, with what marks its end or its length */
  constructor(
    private readonly code: number,
    private readonly encode: (message: HubMessage) => Buffer,
    private readonly envelopeParts: EnvelopeParts,
  ) {
    this.isText = code === opcode.text;
    this.handshakeFrame = this.frame(Buffer.from('{}\x1e'));
    this.pingFrame = this.encodedFrame({ type: hubMessageType.ping });
    this.recordLatencyHead = envelopeParts.invocationHead(callbacks.recordLatency);
    this.measureHead = Buffer.concat([
      envelopeParts.invocationHead(callbacks.measure),
      envelopeParts.pairHead,
    ]);
  }

  /**
   * Position in `data` behind the message that begins with `rest`, if that is there, and goes on at
   * `start`; `incomplete` when the data ends before it, `invalid` when it can never be one.
   */
  abstract messageEnd(
    rest: ByteRest | undefined,
    data: Buffer,
    start: number,
    maxBytes: number,
  ): number | 'incomplete' | 'invalid' | 'tooLong';
  /** Reads the envelope of a whole message with what marks its end; undefined when it is malformed. */
  abstract read(bytes: Buffer, start: number, end: number): Envelope | undefined;

  /** Whether the value binds to a dictionary in .NET: an object, or null. */
  abstract isDictionary(value: Buffer): boolean;
  abstract isNull(value: Buffer): boolean;
  /** The value as a .NET `long`, exactly; undefined when it does not bind to one. */
  abstract wideInteger(value: Buffer): bigint | undefined;
  abstract text(value: Buffer): string | undefined;
  /** The text under `key` in a dictionary, the last one if it is repeated; undefined without. */
  abstract member(dictionary: Buffer, key: string): string | undefined;
  /** @throws HubMessageError when the bytes are not a value after all */
  abstract value(bytes: Buffer): unknown;
  abstract encodeArguments(values: unknown): Buffer;
  /** A dictionary with its number, in hexadecimal, before its other members. */
  abstract numberedItem(dictionary: Buffer, number: number): Buffer;

  /** The value as a .NET `int`; undefined when it does not bind to one. */
  integer(value: Buffer): number | undefined {
    const wide = this.wideInteger(value);
    return wide === undefined || BigInt.asIntN(32, wide) !== wide ? undefined : Number(wide);
  }

  /** @param args the whole list */
  invocationFrame(target: string, args: Buffer): Buffer {
    const { invocationHead, invocationTail } = this.envelopeParts;
    const isUsual = target === callbacks.recordLatency;
    return this.frameAround(
      isUsual ? this.recordLatencyHead : invocationHead(target),
      args,
      invocationTail,
    );
  }

  /** Calls `Measure` with the last two arguments of a list, up to its end. */
  measureFrame(args: Buffer): Buffer {
    return this.frameAround(this.measureHead, args, this.envelopeParts.invocationTail);
  }

  streamItemFrame(invocationId: string, item: Buffer): Buffer {
    return this.frameAround(
      this.envelopeParts.itemHead(invocationId),
      item,
      this.envelopeParts.itemTail,
    );
  }

  frame(payload: Buffer): Buffer {
    return serverFrame(this.code, payload);
  }

  callbackFrame(target: string, ...args: readonly string[]): Buffer {
    return this.encodedFrame({ type: hubMessageType.invocation, target, arguments: args });
  }

  /** Completion with a result; null is what the .NET server sends for void. */
  resultFrame(invocationId: string, result: unknown): Buffer {
    return this.encodedFrame({ type: hubMessageType.completion, invocationId, result });
  }

  streamEndFrame(invocationId: string): Buffer {
    return this.encodedFrame({ type: hubMessageType.completion, invocationId });
  }

  errorFrame(invocationId: string, error: string): Buffer {
    return this.encodedFrame({ type: hubMessageType.completion, invocationId, error });
  }

  closeFrame(error: string | undefined, allowReconnect: boolean): Buffer {
    const type = hubMessageType.close;
    return this.encodedFrame({ type, error, allowReconnect: allowReconnect || undefined });
  }

  protected frameAround(head: Buffer, content: Buffer, tail: Buffer): Buffer {
    return joinedFrame(this.code, head, content, tail);
  }

  private encodedFrame(message: HubMessage): Buffer {
    return this.frame(this.encode(message));
  }
}

/**
 * WebSocket messages as the server sends them: one unmasked final frame (RFC 6455, 5.2), ready for any
 * number of sockets.
 */

const final = 0x80;
const nothing = Buffer.alloc(0);

function writeHeader(frame: Buffer, code: number, payloadBytes: number): void {
  frame[0] = final | code;
  if (payloadBytes < 126) {
    frame[1] = payloadBytes;
  } else if (payloadBytes < 65_536) {
    frame[1] = 126;
    frame.writeUInt16BE(payloadBytes, 2);
  } else {
    frame[1] = 127;
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(payloadBytes, 6);
  }
}

export function serverHeader(code: number, payloadBytes: number): Buffer {
  const header = Buffer.allocUnsafe(serverHeaderLength(payloadBytes));
  writeHeader(header, code, payloadBytes);
  return header;
}

export function serverFrame(code: number, payload: Buffer): Buffer {
  return joinedFrame(code, payload, nothing, nothing);
}

function joinedFrame(code: number, head: Buffer, content: Buffer, tail: Buffer): Buffer {
  const payloadBytes = head.length + content.length + tail.length;
  const header = serverHeaderLength(payloadBytes);
  const frame = Buffer.allocUnsafe(header + payloadBytes);
  writeHeader(frame, code, payloadBytes);
  let next = header + head.copy(frame, header);
  next += content.copy(frame, next);
  tail.copy(frame, next);
  return frame;
}

export function payloadStart(frame: Buffer): number {
  const marker = frame[1]!;
  return marker < 126 ? 2 : marker === 126 ? 4 : 10;
}

/** For transports that frame otherwise. */
export const framePayload = (frame: Buffer): Buffer => frame.subarray(payloadStart(frame));
