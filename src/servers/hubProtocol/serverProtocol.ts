/** The SignalR hub protocol as servers speak it, in JSON and MessagePack. */
import { callbacks } from '../../base/message';
import { hubMessageType, type HubMessage as WrittenMessage } from '../../wire/message/hubMessage';
import type { ByteRest } from '../../wire/socket/frameReader';
import { opcode, serverHeaderLength } from '../../wire/socket/frame';

/** The envelope of one hub message; arguments and item stay positions in `bytes`, 0 where there is none. */
export class HubMessage {
  type = NaN;
  target = '';
  /** Of a stream for stream items and their completion; undefined when nobody waits for an answer. */
  invocationId: string | undefined = undefined;
  /** The whole array including its brackets. */
  argumentsStart = 0;
  argumentsEnd = 0;
  argumentCount = 0;
  firstStart = 0;
  firstEnd = 0;
  secondStart = 0;
  secondEnd = 0;
  thirdStart = 0;
  thirdEnd = 0;
  streams = 0;
  streamId = '';
  itemStart = 0;
  itemEnd = 0;
  hasResult = false;
  error: string | undefined = undefined;

  /** @param start of the message itself, without what marks its end or its length; `end` is behind it */
  constructor(
    readonly bytes: Buffer,
    readonly start: number,
    readonly end: number,
  ) {}

  /** Notes where the next argument stands; no method takes more than three. */
  foundArgument(start: number, end: number): void {
    switch (this.argumentCount++) {
      case 0:
        this.firstStart = start;
        this.firstEnd = end;
        break;
      case 1:
        this.secondStart = start;
        this.secondEnd = end;
        break;
      case 2:
        this.thirdStart = start;
        this.thirdEnd = end;
    }
  }
}

export const maxNameBytes = 512;
/** Longest error text that is kept; {@link longError} stands for longer ones. */
export const maxErrorBytes = 4096;
export const longError = 'The error text is too long to be repeated.';

/** What stands around arguments and items that are sent on byte for byte. */
interface Surroundings {
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
    private readonly encode: (message: WrittenMessage) => Buffer,
    private readonly around: Surroundings,
  ) {
    this.isText = code === opcode.text;
    this.handshakeFrame = this.frame(Buffer.from('{}\x1e'));
    this.pingFrame = this.written({ type: hubMessageType.ping });
    this.recordLatencyHead = around.invocationHead(callbacks.recordLatency);
    this.measureHead = Buffer.concat([around.invocationHead(callbacks.measure), around.pairHead]);
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
  abstract read(bytes: Buffer, start: number, end: number): HubMessage | undefined;

  /** Whether the value binds to a dictionary in .NET: an object, or null. */
  abstract isDictionary(bytes: Buffer, start: number): boolean;
  abstract isNull(bytes: Buffer, start: number): boolean;
  /** The value as a .NET `long`, exactly; undefined when it does not bind to one. */
  abstract wideInteger(bytes: Buffer, start: number, end: number): bigint | undefined;
  abstract text(bytes: Buffer, start: number, end: number): string | undefined;
  /** The text under `key` in a dictionary, the last one if it is repeated; undefined without. */
  abstract member(bytes: Buffer, start: number, end: number, key: string): string | undefined;
  /** Everything in `start`…`end`. @throws SyntaxError when it is no value after all */
  abstract value(bytes: Buffer, start: number, end: number): unknown;
  abstract encodeArguments(values: unknown): Buffer;
  /** A dictionary with its number, in hexadecimal, before its other members. */
  abstract numberedItem(dictionary: Buffer, number: number): Buffer;

  /** The value as a .NET `int`; undefined when it does not bind to one. */
  integer(bytes: Buffer, start: number, end: number): number | undefined {
    const wide = this.wideInteger(bytes, start, end);
    return wide === undefined || BigInt.asIntN(32, wide) !== wide ? undefined : Number(wide);
  }

  invocationFrame(target: string, bytes: Buffer, start: number, end: number): Buffer {
    const { invocationHead, invocationTail } = this.around;
    const isUsual = target === callbacks.recordLatency;
    const head = isUsual ? this.recordLatencyHead : invocationHead(target);
    return this.carrying(head, bytes, start, end, invocationTail);
  }

  /** Calls `Measure` with the last two arguments of a list, from `start` to the list's `end`. */
  measureFrame(bytes: Buffer, start: number, end: number): Buffer {
    return this.carrying(this.measureHead, bytes, start, end, this.around.invocationTail);
  }

  streamItemFrame(invocationId: string, bytes: Buffer, start: number, end: number): Buffer {
    const { itemHead, itemTail } = this.around;
    return this.carrying(itemHead(invocationId), bytes, start, end, itemTail);
  }

  frame(payload: Buffer): Buffer {
    return serverFrame(this.code, payload);
  }

  callbackFrame(target: string, ...args: readonly string[]): Buffer {
    return this.written({ type: hubMessageType.invocation, target, arguments: args });
  }

  /** Completion with a result; null is what the .NET server sends for void. */
  resultFrame(invocationId: string, result: string | number | null): Buffer {
    return this.written({ type: hubMessageType.completion, invocationId, result });
  }

  streamEndFrame(invocationId: string): Buffer {
    return this.written({ type: hubMessageType.completion, invocationId });
  }

  errorFrame(invocationId: string, error: string): Buffer {
    return this.written({ type: hubMessageType.completion, invocationId, error });
  }

  closeFrame(error: string | undefined, allowReconnect: boolean): Buffer {
    return this.written({
      type: hubMessageType.close,
      ...(error !== undefined && { error }),
      ...(allowReconnect && { allowReconnect }),
    });
  }

  protected carrying(
    head: Buffer,
    bytes: Buffer,
    start: number,
    end: number,
    tail: Buffer,
  ): Buffer {
    return carryingFrame(this.code, head, bytes, start, end, tail);
  }

  private written(message: WrittenMessage): Buffer {
    return this.frame(this.encode(message));
  }
}

/**
 * WebSocket messages as the server sends them: one unmasked final frame (RFC 6455, 5.2), ready for any
 * number of sockets. Transports that frame otherwise take the payloads out again.
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
  return carryingFrame(code, payload, payload, 0, 0, nothing);
}

/** A frame that carries `start`…`end` of `bytes` between `head` and `tail`, byte for byte. */
function carryingFrame(
  code: number,
  head: Buffer,
  bytes: Buffer,
  start: number,
  end: number,
  tail: Buffer,
): Buffer {
  const payloadBytes = head.length + (end - start) + tail.length;
  const header = serverHeaderLength(payloadBytes);
  const frame = Buffer.allocUnsafe(header + payloadBytes);
  writeHeader(frame, code, payloadBytes);
  let next = header + head.copy(frame, header);
  next += bytes.copy(frame, next, start, end);
  tail.copy(frame, next);
  return frame;
}

export function payloadStart(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  return at + (marker < 126 ? 2 : marker === 126 ? 4 : 10);
}

export function payloadEnd(frames: Buffer, at: number): number {
  const marker = frames[at + 1]!;
  if (marker < 126) return at + 2 + marker;
  return marker === 126
    ? at + 4 + frames.readUInt16BE(at + 2)
    : at + 10 + frames.readUInt32BE(at + 6);
}

export function payloadsIn(frames: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at < frames.length; at = payloadEnd(frames, at))
    payloads.push(frames.subarray(payloadStart(frames, at), payloadEnd(frames, at)));
  return payloads;
}
