/** The SignalR hub protocol in JSON. Source: the protocol's specification, "HubProtocol". */
import { isUtf8 } from 'node:buffer';
import { closeCode as closeCodes, FrameError } from '../socket/frame';
import { isNestedTooDeep, maximumDepth, parseObject, type JsonObject } from './jsonScan';

export const hubMessageType = {
  invocation: 1,
  streamItem: 2,
  completion: 3,
  streamInvocation: 4,
  cancelInvocation: 5,
  ping: 6,
  close: 7,
  ack: 8,
  sequence: 9,
} as const;

interface Call {
  readonly target: string;
  readonly arguments: readonly unknown[];
  readonly streamIds?: readonly string[];
}
export interface Invocation extends Call {
  readonly type: typeof hubMessageType.invocation;
  readonly invocationId?: string;
}
export interface StreamItem {
  readonly type: typeof hubMessageType.streamItem;
  readonly invocationId: string;
  readonly item: unknown;
}
export interface Completion {
  readonly type: typeof hubMessageType.completion;
  readonly invocationId: string;
  readonly result?: unknown;
  readonly error?: string;
}
export interface StreamInvocation extends Call {
  readonly type: typeof hubMessageType.streamInvocation;
  readonly invocationId: string;
}
export type HubMessage =
  | Invocation
  | StreamInvocation
  | StreamItem
  | Completion
  | { readonly type: typeof hubMessageType.cancelInvocation; readonly invocationId: string }
  | { readonly type: typeof hubMessageType.ping }
  | {
      readonly type: typeof hubMessageType.close;
      readonly error?: string;
      readonly allowReconnect?: boolean;
    }
  | {
      readonly type: typeof hubMessageType.ack | typeof hubMessageType.sequence;
      readonly sequenceId: number;
    };

/** Ends every message on the wire; it cannot occur inside JSON text. */
export const recordSeparator = 0x1e;

export class HubMessageError extends FrameError {}

export function readUtf8(buffer: Buffer, start: number, end: number): string {
  if (!isUtf8(buffer.subarray(start, end)))
    throw new HubMessageError('a hub message is not UTF-8 text', closeCodes.invalidText);
  return buffer.toString('utf8', start, end);
}

export function encodeHubMessage(message: HubMessage): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\x1e`, 'utf8');
}

export function encodeHandshake(protocol: 'json' | 'messagepack'): Buffer {
  return Buffer.from(`${JSON.stringify({ protocol, version: 1 })}\x1e`, 'utf8');
}

/** @throws HubMessageError when the text is no object, or nested too deep */
export function parseJsonObject(text: string): JsonObject {
  const fields = parseObject(text);
  if (fields !== undefined) return fields;
  throw new HubMessageError(
    isNestedTooDeep(text)
      ? `a hub message is nested more than ${maximumDepth} deep`
      : 'a hub message is not a JSON object',
  );
}

/** @returns why the server refuses, if it does. @throws HubMessageError */
export function readHandshakeAnswer(text: string): string | undefined {
  const fields = parseJsonObject(text);
  if (fields['type'] !== undefined)
    throw new HubMessageError('the server sent a hub message before its handshake answer');
  const { error = null } = fields;
  // An error of another type is no agreement either.
  return error === null || typeof error === 'string' ? (error ?? undefined) : JSON.stringify(error);
}

/** Without the separator; undefined for an unknown type. @throws HubMessageError */
export const readHubMessage = (text: string): HubMessage | undefined =>
  hubMessageFromFields(parseJsonObject(text));

export function hubMessageFromFields(fields: JsonObject): HubMessage | undefined {
  switch (fields['type']) {
    case hubMessageType.invocation:
      return { type: hubMessageType.invocation, ...idIn(fields), ...callIn(fields) };
    case hubMessageType.streamInvocation: {
      const invocationId = textAt(fields, 'invocationId');
      return { type: hubMessageType.streamInvocation, invocationId, ...callIn(fields) };
    }
    case hubMessageType.streamItem:
      if (!('item' in fields)) throw new HubMessageError('a stream item is empty');
      return {
        type: hubMessageType.streamItem,
        invocationId: textAt(fields, 'invocationId'),
        item: fields['item'],
      };
    case hubMessageType.completion:
      return completionIn(fields);
    case hubMessageType.cancelInvocation:
      return {
        type: hubMessageType.cancelInvocation,
        invocationId: textAt(fields, 'invocationId'),
      };
    case hubMessageType.ping:
      return { type: hubMessageType.ping };
    case hubMessageType.close: {
      const { allowReconnect } = fields;
      return {
        type: hubMessageType.close,
        ...errorIn(fields),
        ...(typeof allowReconnect === 'boolean' && { allowReconnect }),
      };
    }
    case hubMessageType.ack:
    case hubMessageType.sequence: {
      const { type, sequenceId } = fields;
      if (!Number.isSafeInteger(sequenceId))
        throw new HubMessageError('a sequence id is not a whole number');
      return { type, sequenceId: Number(sequenceId) };
    }
    default:
      if (typeof fields['type'] !== 'number')
        throw new HubMessageError('a hub message has no type');
      return undefined;
  }
}

function callIn(fields: JsonObject): Call {
  const { arguments: args, streamIds } = fields;
  const target = textAt(fields, 'target');
  if (!Array.isArray(args)) throw new HubMessageError('an invocation has no arguments');
  if (streamIds === undefined) return { target, arguments: args };
  if (!isTextList(streamIds)) throw new HubMessageError('an invocation has invalid stream ids');
  return { target, arguments: args, streamIds };
}

function completionIn(fields: JsonObject): Completion {
  const { result } = fields;
  const error = errorIn(fields);
  if (error.error !== undefined && result !== undefined && result !== null)
    throw new HubMessageError('a completion has both a result and an error');
  const invocationId = textAt(fields, 'invocationId');
  const type = hubMessageType.completion;
  return { type, invocationId, ...error, ...(result !== undefined && { result }) };
}

function textAt(fields: JsonObject, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new HubMessageError(`a hub message of type ${String(fields['type'])} has no ${name}`);
}

/** .NET writes absent members as null at times. */
function optionalText(fields: JsonObject, name: string): string | undefined {
  const value = fields[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw new HubMessageError(
    `a hub message of type ${String(fields['type'])} has a ${name} that is not a text`,
  );
}

function idIn(fields: JsonObject): { readonly invocationId?: string } {
  const invocationId = optionalText(fields, 'invocationId');
  return invocationId === undefined ? {} : { invocationId };
}

function errorIn(fields: JsonObject): { readonly error?: string } {
  const error = optionalText(fields, 'error');
  return error === undefined ? {} : { error };
}

function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/** Longest name or id in a message that a server reads. */
export const maxNameBytes = 512;

/** A hub message whose arguments, item or result stay encoded. */
export class Envelope {
  type = NaN;
  target = '';
  invocationId: string | undefined = undefined;
  argumentsStart = 0;
  argumentsEnd = 0;
  argumentCount = 0;
  /** Begin and end of the first arguments in turn; no method takes more than three. */
  private readonly spans: number[] = [];
  streamIds: string[] | undefined = undefined;
  item: Buffer | undefined = undefined;
  result: Buffer | undefined = undefined;
  error: string | undefined = undefined;
  allowReconnect: boolean | undefined = undefined;
  sequenceId = NaN;

  /** @param start of the message without length prefix @param end without end mark */
  constructor(
    readonly bytes: Buffer,
    readonly start: number,
    readonly end: number,
  ) {}

  /** A repeated list of arguments replaces the first. */
  beginArguments(start: number): void {
    this.argumentsStart = start;
    this.argumentCount = this.spans.length = 0;
  }

  foundArgument(start: number, end: number): void {
    if (this.argumentCount++ < 3) this.spans.push(start, end);
  }

  argument(index: number): Buffer {
    return this.bytes.subarray(this.spans[2 * index], this.spans[2 * index + 1]);
  }

  /** From the argument to the end of the list, with its closing bracket if it has one. */
  argumentsFrom(index: number): Buffer {
    return this.bytes.subarray(this.spans[2 * index], this.argumentsEnd);
  }

  get allArguments(): Buffer {
    return this.bytes.subarray(this.argumentsStart, this.argumentsEnd);
  }
}
