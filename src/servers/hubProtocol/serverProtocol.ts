/** The SignalR hub protocol as servers speak it, in JSON and MessagePack. */
import { hubMessageType, type HubMessage as WrittenMessage } from '../../wire/message/hubMessage';
import type { ByteRest } from '../../wire/socket/byteRest';
import { opcode } from '../../wire/socket/frame';
import { carryingFrame, serverFrame } from './serverFrame';

/**
 * The envelope of one hub message of either protocol; `arguments` and `item` stay where they are, as
 * positions in `bytes`.
 */
export interface HubMessage {
  readonly bytes: Buffer;
  /** The message itself, without what marks its end or its length. */
  readonly start: number;
  readonly end: number;
  type: number;
  /** Empty when absent. */
  target: string;
  /** Of a stream for stream items and their completion; undefined when nobody waits for an answer. */
  invocationId: string | undefined;
  /** The whole array including its brackets; both 0 when absent. */
  argumentsStart: number;
  argumentsEnd: number;
  argumentCount: number;
  firstStart: number;
  firstEnd: number;
  secondStart: number;
  secondEnd: number;
  thirdStart: number;
  thirdEnd: number;
  /** How many stream ids there are, and the first of them. */
  streams: number;
  streamId: string;
  /** Both 0 when absent. */
  itemStart: number;
  itemEnd: number;
  hasResult: boolean;
  error: string | undefined;
}

/** A message of which nothing has been read yet. */
export function emptyMessage(bytes: Buffer, start: number, end: number): HubMessage {
  return {
    bytes,
    start,
    end,
    type: NaN,
    target: '',
    invocationId: undefined,
    argumentsStart: 0,
    argumentsEnd: 0,
    argumentCount: 0,
    firstStart: 0,
    firstEnd: 0,
    secondStart: 0,
    secondEnd: 0,
    thirdStart: 0,
    thirdEnd: 0,
    streams: 0,
    streamId: '',
    itemStart: 0,
    itemEnd: 0,
    hasResult: false,
    error: undefined,
  };
}

/** Notes where the next argument stands; no method takes more than three. */
export function foundArgument(message: HubMessage, start: number, end: number): void {
  switch (message.argumentCount++) {
    case 0:
      message.firstStart = start;
      message.firstEnd = end;
      break;
    case 1:
      message.secondStart = start;
      message.secondEnd = end;
      break;
    case 2:
      message.thirdStart = start;
      message.thirdEnd = end;
  }
}

/** Longest method name and invocation id that are read. */
export const maxNameBytes = 512;
/** Longest error text that is kept; {@link longError} stands for longer ones. */
export const maxErrorBytes = 4096;
export const longError = 'The error text is too long to be repeated.';

/**
 * One hub protocol as the hub speaks it. Payloads stay bytes between the client that sent them and those
 * that get them; only for a receiver of the other protocol they are read as values and written anew.
 */
export abstract class ServerProtocol {
  abstract readonly name: 'json' | 'messagepack';
  /** Whether its bytes must be UTF-8 text. */
  readonly isText: boolean;
  /** The accepted handshake, which is JSON in every protocol. */
  readonly handshakeFrame: Buffer;
  readonly pingFrame: Buffer;

  /** @param encode one message without a payload of a client, with what marks its end or its length */
  constructor(
    private readonly code: number,
    private readonly encode: (message: WrittenMessage) => Buffer,
  ) {
    this.isText = code === opcode.text;
    this.handshakeFrame = this.frame(Buffer.from('{}\x1e'));
    this.pingFrame = this.written({ type: hubMessageType.ping });
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
  /** The value as a .NET `int`; undefined when it does not bind to one. */
  abstract integer(bytes: Buffer, start: number, end: number): number | undefined;
  /** The value as a .NET `long`, exactly; undefined when it does not bind to one. */
  abstract wideInteger(bytes: Buffer, start: number, end: number): bigint | undefined;
  /** The value as text; undefined when it is none. */
  abstract text(bytes: Buffer, start: number, end: number): string | undefined;
  /** The text under `key` in a dictionary, the last one if it is repeated; undefined without. */
  abstract member(bytes: Buffer, start: number, end: number, key: string): string | undefined;
  /**
   * Everything in `start`…`end`.
   * @throws SyntaxError when it is no value after all
   */
  abstract value(bytes: Buffer, start: number, end: number): unknown;
  /** An argument list that came in another protocol, to be sent in this one. */
  abstract encodeArguments(values: unknown): Buffer;
  /** A dictionary with its number, in hexadecimal, before its other members. */
  abstract numberedItem(dictionary: Buffer, number: number): Buffer;

  /** Calls `target` with the argument list in `start`…`end` of `bytes`, byte for byte. */
  abstract invocationFrame(target: string, bytes: Buffer, start: number, end: number): Buffer;
  /** Calls `Measure` with the last two arguments of a list, from `start` to the list's `end`, byte for byte. */
  abstract measureFrame(bytes: Buffer, start: number, end: number): Buffer;
  /** A stream item, which is `start`…`end` of `bytes`, byte for byte. */
  abstract streamItemFrame(invocationId: string, bytes: Buffer, start: number, end: number): Buffer;

  /** A frame of this protocol around a payload. */
  frame(payload: Buffer): Buffer {
    return serverFrame(this.code, payload);
  }

  /** Calls `target` of a client with string arguments. */
  callbackFrame(target: string, ...args: readonly string[]): Buffer {
    return this.written({ type: hubMessageType.invocation, target, arguments: args });
  }

  /** Completion with a result; null is what the .NET server sends for void. */
  resultFrame(invocationId: string, result: string | number | null): Buffer {
    return this.written({ type: hubMessageType.completion, invocationId, result });
  }

  /** Completion of a stream, which has no result. */
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

  /** The frame of a message made of `head`, a part of `bytes`, and `tail`. */
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
