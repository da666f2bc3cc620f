import { isUtf8 } from 'node:buffer';
import { closeCode as closeCodes } from '../socket/frame';

/** The SignalR hub protocol in JSON: messages as data, reading and writing. Source: the protocol's specification, "HubProtocol". */

export interface Invocation {
  readonly type: 1;
  readonly invocationId?: string;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly streamIds?: readonly string[];
}
export interface StreamItem {
  readonly type: 2;
  readonly invocationId: string;
  readonly item: unknown;
}
export interface Completion {
  readonly type: 3;
  readonly invocationId: string;
  readonly result?: unknown;
  readonly error?: string;
}
export interface StreamInvocation {
  readonly type: 4;
  readonly invocationId: string;
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly streamIds?: readonly string[];
}
export interface CancelInvocation {
  readonly type: 5;
  readonly invocationId: string;
}
export interface Ping {
  readonly type: 6;
}
export interface Close {
  readonly type: 7;
  readonly error?: string;
  readonly allowReconnect?: boolean;
}
export interface Ack {
  readonly type: 8;
  readonly sequenceId: number;
}
export interface Sequence {
  readonly type: 9;
  readonly sequenceId: number;
}

export type HubMessage =
  | Invocation
  | StreamItem
  | Completion
  | StreamInvocation
  | CancelInvocation
  | Ping
  | Close
  | Ack
  | Sequence;

/** Ends every message on the wire; it cannot occur inside JSON text. */
export const recordSeparator = 0x1e;

/** A violation of the hub protocol by the other side. */
export class HubMessageError extends Error {
  /** @param closeCode with which a WebSocket is closed for it */
  constructor(
    message: string,
    readonly closeCode: number = closeCodes.protocolError,
  ) {
    super(message);
  }
}

/**
 * The text in `start`…`end`.
 *
 * @throws HubMessageError when it is no UTF-8
 */
export function textIn(buffer: Buffer, start: number, end: number): string {
  if (!isUtf8(buffer.subarray(start, end)))
    throw new HubMessageError('a hub message is no UTF-8 text', closeCodes.invalidText);
  return buffer.toString('utf8', start, end);
}

/** The bytes of a message, separator included. */
export function encodeHubMessage(message: HubMessage): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\x1e`, 'utf8');
}

/** The first thing a client sends. */
export function encodeHandshake(protocol: 'json' | 'messagepack'): Buffer {
  return Buffer.from(`${JSON.stringify({ protocol, version: 1 })}\x1e`, 'utf8');
}

type Fields = Readonly<Record<string, unknown>>;

function jsonObject(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HubMessageError('a hub message is no JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new HubMessageError('a hub message is no JSON object');
  }
  return value as Fields;
}

/**
 * Reads the server's answer to the handshake.
 *
 * @returns the server's refusal, undefined when it agreed
 * @throws HubMessageError when it is no handshake answer
 */
export function readHandshakeAnswer(text: string): string | undefined {
  const fields = jsonObject(text);
  if (fields['type'] !== undefined)
    throw new HubMessageError('the server sent a hub message before its handshake answer');
  const { error = null } = fields;
  // An error of another kind is none of the protocol, but no agreement either.
  return error === null || typeof error === 'string' ? (error ?? undefined) : JSON.stringify(error);
}

/**
 * Reads one hub message, its separator cut off.
 *
 * @returns undefined for a message of a type this client does not know: newer servers may send it
 * @throws HubMessageError when it breaks the protocol
 */
export function readHubMessage(text: string): HubMessage | undefined {
  const fields = jsonObject(text);
  switch (fields['type']) {
    case 1:
    case 4:
      requireText(fields, 'target');
      if (!Array.isArray(fields['arguments']))
        throw new HubMessageError('an invocation has no arguments');
      if (fields['type'] === 4) requireText(fields, 'invocationId');
      else optionalText(fields, 'invocationId');
      if (fields['streamIds'] !== undefined && !isTextList(fields['streamIds'])) {
        throw new HubMessageError('an invocation has invalid stream ids');
      }
      break;
    case 2:
      requireText(fields, 'invocationId');
      if (!('item' in fields)) throw new HubMessageError('a stream item is empty');
      break;
    case 3:
      requireText(fields, 'invocationId');
      optionalText(fields, 'error');
      if (
        typeof fields['error'] === 'string' &&
        fields['result'] !== undefined &&
        fields['result'] !== null
      ) {
        throw new HubMessageError('a completion has both a result and an error');
      }
      break;
    case 5:
      requireText(fields, 'invocationId');
      break;
    case 6:
      break;
    case 7:
      optionalText(fields, 'error');
      break;
    case 8:
    case 9:
      if (!Number.isSafeInteger(fields['sequenceId']))
        throw new HubMessageError('a sequence id is no whole number');
      break;
    default:
      if (typeof fields['type'] !== 'number')
        throw new HubMessageError('a hub message has no type');
      return undefined;
  }
  return fields as unknown as HubMessage;
}

function requireText(fields: Fields, name: string): void {
  if (typeof fields[name] !== 'string')
    throw new HubMessageError(`a hub message of type ${String(fields['type'])} has no ${name}`);
}

/** .NET writes absent members as null at times. */
function optionalText(fields: Fields, name: string): void {
  const value = fields[name];
  if (value !== undefined && value !== null && typeof value !== 'string') {
    throw new HubMessageError(
      `a hub message of type ${String(fields['type'])} has a ${name} that is no text`,
    );
  }
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
