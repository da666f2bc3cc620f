import type { WireProtocol } from '../../base/message';
import { opcode } from '../socket/frame';
import {
  encodeHandshake,
  encodeHubMessage,
  HubMessageError,
  readHubMessage,
  recordSeparator,
  readUtf8,
  type HubMessage,
} from './hubMessage';
import {
  jsonLayout,
  messagePackLayout,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from './messageLayout';
import { bodyLengthAt, encodeText, prefixBytes, textHead } from './messagePack';
import {
  completionKind,
  encodeMessagePackMessage,
  readMessagePackMessage,
} from './messagePackMessage';
import { stampLength } from './stamp';

export interface Span {
  start: number;
  end: number;
  next: number;
}

export interface RecoveryTokens {
  readonly connectionId: string | undefined;
  readonly reconnectionToken: string | undefined;
}

export interface RecoveryProtocol {
  /** The sequence id of a data message, the ids of the connection, or 0 for anything else. */
  readonly inspect: (buffer: Buffer, start: number, end: number) => number | RecoveryTokens;
  readonly sequenceAck: (sequenceId: number) => Buffer;
}

export type ArgumentsAt = (buffer: Buffer, start: number, end: number) => number;

export interface HubCodec {
  readonly protocol: WireProtocol;
  readonly opcode: typeof opcode.text | typeof opcode.binary;
  /** The first message of a client; it and its response are JSON in every protocol. */
  readonly handshake: Buffer;
  readonly subprotocol?: string;
  /** Open as soon as the WebSocket is: no handshake, or the user of the socket does it. */
  readonly needsNoHandshake?: true;
  readonly recovery?: RecoveryProtocol;
  /** Where messages begin behind the server's first message, if that answers no handshake. @throws HubMessageError */
  readonly firstMessageEnd?: (buffer: Buffer, start: number, end: number) => number;
  /** The usual beginning of a call from the server, up to its arguments. */
  readonly callStart: (target: string) => Buffer;
  /** Finds where the arguments of such a call begin, −1 where it is none; absent: behind {@link callStart}. */
  readonly argumentsAt?: (target: string) => ArgumentsAt;
  /** Where the id of a successful completion stands if it has the length of a stamp; −1 for all else. */
  readonly stampInCompletion: (buffer: Buffer, start: number, end: number) => number;
  /** Finds the message at `at`. @throws HubMessageError when it does not end before `end`: servers send whole ones */
  readonly find: (buffer: Buffer, at: number, end: number, span: Span) => void;
  /** Undefined for an unknown type. @throws HubMessageError when it breaks the protocol */
  readonly read: (buffer: Buffer, start: number, end: number) => HubMessage | undefined;
  readonly encode: (message: HubMessage) => Buffer;
  readonly textBytes: (text: string) => Buffer;
  readonly layout: (shape: MessageShape, lengths: HoleLengths) => MessageLayout;
}

export function startsWithAt(buffer: Buffer, start: number, bytes: Buffer): boolean {
  for (let at = 0; at < bytes.length; at++) if (buffer[start + at] !== bytes[at]) return false;
  return true;
}

const cutOff = 'a hub message is cut off';

// A completion as .NET writes it: in JSON, and in MessagePack after the array header.
const completionStart = Buffer.from('{"type":3,"invocationId":"', 'latin1');
const completionEnd = Buffer.from('"}', 'latin1');
const resultStart = Buffer.from('","result":', 'latin1');
const answerStart = Buffer.concat([Buffer.from([0x03, 0x80]), textHead(stampLength)]);

export const jsonCodec: HubCodec = {
  protocol: 'json',
  opcode: opcode.text,
  handshake: encodeHandshake('json'),
  callStart: (target) =>
    Buffer.from(`{"type":1,"target":${JSON.stringify(target)},"arguments":[`, 'utf8'),
  stampInCompletion: (buffer, start, end) => {
    const at = start + completionStart.length;
    const behind = at + stampLength;
    if (behind >= end || !startsWithAt(buffer, start, completionStart)) return -1;
    const isOver = behind + 2 === end && startsWithAt(buffer, behind, completionEnd);
    const hasResult =
      behind + resultStart.length < end && startsWithAt(buffer, behind, resultStart);
    return isOver || hasResult ? at : -1;
  },
  find: (buffer, at, end, span) => {
    const separator = buffer.indexOf(recordSeparator, at);
    if (separator < 0 || separator >= end) throw new HubMessageError(cutOff);
    span.start = at;
    span.end = separator;
    span.next = separator + 1;
  },
  read: (buffer, start, end) => readHubMessage(readUtf8(buffer, start, end)),
  encode: encodeHubMessage,
  textBytes: (text) => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8'),
  layout: jsonLayout,
};

export const messagePackCodec: HubCodec = {
  protocol: 'messagepack',
  opcode: opcode.binary,
  handshake: encodeHandshake('messagepack'),
  callStart: (target) => Buffer.concat([Buffer.from([0x96, 0x01, 0x80, 0xc0]), encodeText(target)]),
  stampInCompletion: (buffer, start, end) => {
    const at = start + 1 + answerStart.length;
    const behind = at + stampLength;
    if (behind >= end || !startsWithAt(buffer, start + 1, answerStart)) return -1;
    const kind = buffer[behind];
    const elements = buffer[start];
    const isOver = elements === 0x94 && kind === completionKind.void;
    const hasResult = elements === 0x95 && kind === completionKind.value;
    return isOver || hasResult ? at : -1;
  },
  find: (buffer, at, end, span) => {
    const prefix = prefixBytes(buffer, at, end);
    if (prefix === 'invalid') throw new HubMessageError('a hub message has an invalid length');
    if (prefix === 'incomplete') throw new HubMessageError(cutOff);
    span.start = at + prefix;
    span.next = span.end = span.start + bodyLengthAt(buffer, at, prefix);
    if (span.end > end) throw new HubMessageError(cutOff);
  },
  read: readMessagePackMessage,
  encode: encodeMessagePackMessage,
  textBytes: (text) => Buffer.from(text, 'utf8'),
  layout: messagePackLayout,
};
