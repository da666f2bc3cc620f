import type { WireProtocol } from '../../base/message';
import type { opcode } from '../socket/frame';
import type { HubMessage } from './hubMessage';
import type { HoleLengths, MessageLayout, MessageShape } from './messageLayout';

/** Where one hub message stands in a buffer: its body, and where the next message begins. */
export interface Span {
  start: number;
  end: number;
  next: number;
}

/** What a service says when a client is connected, with what lets the client come back. */
export interface Recoverable {
  readonly connectionId: string | undefined;
  readonly reconnectionToken: string | undefined;
}

/** How a client that may come back follows the service. */
export interface RecoveryForm {
  /** The sequence id of a data message, what the service says of the connection, or 0 for anything else. */
  readonly noted: (buffer: Buffer, start: number, end: number) => number | Recoverable;
  /** The message that acknowledges everything up to a sequence id. */
  readonly sequenceAck: (sequenceId: number) => Buffer;
}

/** One hub protocol as the client speaks it. */
export interface HubCodec {
  readonly protocol: WireProtocol;
  /** Kind of the WebSocket messages that carry it. */
  readonly opcode: typeof opcode.text | typeof opcode.binary;
  /** The first thing a client sends; it and its answer are JSON in every protocol. */
  readonly handshake: Buffer;
  /** What a WebSocket must speak, where it has to be named in the upgrade. */
  readonly subprotocol?: string;
  /** Open as soon as the WebSocket is: there is no handshake, or it is left to whoever uses the socket. */
  readonly opensAtOnce?: true;
  /** A lost socket is replaced by another one. */
  readonly recovery?: RecoveryForm;
  /**
   * Where messages behind the server's first words begin, where those are no answer to a handshake.
   * @throws HubMessageError when they are not what they must be
   */
  readonly greetingEnd?: (buffer: Buffer, start: number, end: number) => number;
  /** The usual beginning of the body of a call from the server, up to its arguments. */
  readonly callStart: (target: string) => Buffer;
  /** Where the id stands in a usual completion without error if it is as long as a stamp; −1 for all else. */
  readonly answeredStamp: (buffer: Buffer, start: number, end: number) => number;
  /**
   * Finds the message that begins at `at`.
   * @throws HubMessageError when it does not end before `end`: servers send whole messages
   */
  readonly find: (buffer: Buffer, at: number, end: number, span: Span) => void;
  /**
   * Reads the body of a message; undefined for a type this client does not know.
   * @throws HubMessageError when it breaks the protocol
   */
  readonly read: (buffer: Buffer, start: number, end: number) => HubMessage | undefined;
  /** The bytes of a message with what marks its end. */
  readonly encode: (message: HubMessage) => Buffer;
  /** A text as it stands inside a message. */
  readonly textBytes: (text: string) => Buffer;
  /** A message of a run with the places that change. */
  readonly layout: (shape: MessageShape, lengths: HoleLengths) => MessageLayout;
}

/** Whether these bytes stand there. */
export function isAt(buffer: Buffer, start: number, bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) if (buffer[start + at] !== bytes[at]) return false;
  return true;
}
