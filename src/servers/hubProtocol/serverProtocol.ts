import type { ByteRest } from '../../wire/socket/byteRest';
import type { HubMessage } from './hubEnvelope';

/**
 * One hub protocol as the hub speaks it. Payloads stay bytes between the client that sent them and those
 * that get them; only for a receiver of the other protocol they are read as values and written anew.
 */
export interface ServerProtocol {
  readonly name: 'json' | 'messagepack';
  /** Whether its bytes must be UTF-8 text. */
  readonly isText: boolean;
  /** Frames that are always the same. */
  readonly handshakeFrame: Buffer;
  readonly pingFrame: Buffer;
  /**
   * Position in `data` behind the message that begins with `rest`, if that is there, and goes on at
   * `start`; `incomplete` when the data ends before it, `invalid` when it can never be one.
   */
  messageEnd(
    rest: ByteRest | undefined,
    data: Buffer,
    start: number,
    maxBytes: number,
  ): number | 'incomplete' | 'invalid' | 'tooLong';
  /** Reads the envelope of a whole message with what marks its end; undefined when it is malformed. */
  read(bytes: Buffer, start: number, end: number): HubMessage | undefined;

  /** Whether the value binds to a dictionary in .NET: an object, or null. */
  isDictionary(bytes: Buffer, start: number): boolean;
  isNull(bytes: Buffer, start: number): boolean;
  /** The value as a .NET `int`; undefined when it does not bind to one. */
  integer(bytes: Buffer, start: number, end: number): number | undefined;
  /** The value as a .NET `long`, exactly; undefined when it does not bind to one. */
  wideInteger(bytes: Buffer, start: number, end: number): bigint | undefined;
  /** The value as text; undefined when it is none. */
  text(bytes: Buffer, start: number, end: number): string | undefined;
  /** The text under `key` in a dictionary, the last one if it is repeated; undefined without. */
  member(bytes: Buffer, start: number, end: number, key: string): string | undefined;
  /**
   * Everything in `start`…`end`.
   * @throws SyntaxError when it is no value after all
   */
  value(bytes: Buffer, start: number, end: number): unknown;

  /** Where each argument of the list in `start`…`end` begins and ends. */
  places(bytes: Buffer, start: number, end: number): readonly (readonly [number, number])[];
  /** The dictionary in `start`…`end` with its number, in hexadecimal, before its other members. */
  numberedItem(bytes: Buffer, start: number, end: number, number: number): Buffer;

  /** Calls `RecordLatency` with the argument list in `start`…`end` of `bytes`, byte for byte. */
  recordLatencyFrame(bytes: Buffer, start: number, end: number): Buffer;
  /** The same for any other target. */
  invocationFrame(target: string, bytes: Buffer, start: number, end: number): Buffer;
  /** An argument list that came in another protocol, for these two. */
  encodeArguments(values: unknown): Buffer;
  /**
   * Calls `Measure` with the last two arguments of a list, which go from `start` to the list's `end`, byte
   * for byte.
   */
  measureFrame(bytes: Buffer, start: number, end: number): Buffer;
  /** The same for arguments that came in another protocol. */
  measureFrameOf(ticks: bigint, payload: string | null): Buffer;
  /** A stream item, which is `start`…`end` of `bytes`, byte for byte. */
  streamItemFrame(invocationId: string, bytes: Buffer, start: number, end: number): Buffer;
  /** Calls `target` of a client with string arguments. */
  callbackFrame(target: string, ...args: readonly string[]): Buffer;
  /** Completion with a result; null is what the .NET server sends for void. */
  resultFrame(invocationId: string, result: string | number | null): Buffer;
  /** Completion of a stream, which has no result. */
  streamEndFrame(invocationId: string): Buffer;
  errorFrame(invocationId: string, error: string): Buffer;
  closeFrame(error: string | undefined, allowReconnect: boolean): Buffer;
}
