import { callbacks } from '../../base/message';
import { type Envelope, hubMessageType, type HubMessage } from '../../wire/message/hubMessage';
import type { PendingBytes } from '../../wire/socket/frameReader';
import { opcode, serverHeaderLength } from '../../wire/socket/frame';

/** Undefined outside of the range of a .NET `long`. */
export const toInt64 = (value: bigint): bigint | undefined =>
  BigInt.asIntN(64, value) === value ? value : undefined;

interface EnvelopeParts {
  readonly invocationHead: (target: string) => Buffer;
  readonly pairHead: Buffer;
  readonly invocationTail: Buffer;
  readonly itemHead: (invocationId: string) => Buffer;
  readonly itemTail: Buffer;
}

/** Payloads stay bytes, unless the receiver speaks the other protocol. */
export abstract class ServerProtocol {
  abstract readonly name: 'json' | 'messagepack';
  readonly isText: boolean;
  /** JSON in every protocol. */
  readonly handshakeFrame: Buffer;
  readonly pingFrame: Buffer;
  private readonly recordLatencyHead: Buffer;
  private readonly measureHead: Buffer;

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

  /** End in `data` of the message that begins with `rest` and goes on at `start`. */
  abstract messageEnd(
    rest: PendingBytes | undefined,
    data: Buffer,
    start: number,
    maxBytes: number,
  ): number | 'incomplete' | 'invalid' | 'tooLong';
  abstract read(bytes: Buffer, start: number, end: number): Envelope | undefined;

  /** An object or null, which bind to a dictionary in .NET. */
  abstract isDictionary(value: Buffer): boolean;
  abstract isNull(value: Buffer): boolean;
  /** A .NET `long`; undefined when the value does not bind to one. */
  abstract wideInteger(value: Buffer): bigint | undefined;
  abstract text(value: Buffer): string | undefined;
  abstract textMember(dictionary: Buffer, key: string): string | undefined;
  /** @throws HubMessageError for invalid bytes */
  abstract value(bytes: Buffer): unknown;
  abstract encodeArguments(values: unknown): Buffer;
  /** Adds the hexadecimal number as the first member. */
  abstract numberedItem(dictionary: Buffer, number: number): Buffer;

  /** A .NET `int`; undefined when the value does not bind to one. */
  integer(value: Buffer): number | undefined {
    const wide = this.wideInteger(value);
    return wide === undefined || BigInt.asIntN(32, wide) !== wide ? undefined : Number(wide);
  }

  invocationFrame(target: string, args: Buffer): Buffer {
    const { invocationHead, invocationTail } = this.envelopeParts;
    const isUsual = target === callbacks.recordLatency;
    return this.frameAround(
      isUsual ? this.recordLatencyHead : invocationHead(target),
      args,
      invocationTail,
    );
  }

  /** @param args the last two arguments, without the head of their list */
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

  /** .NET sends a null result for void. */
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

export const framePayload = (frame: Buffer): Buffer => frame.subarray(payloadStart(frame));
