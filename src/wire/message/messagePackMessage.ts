import { hubMessageType, HubMessageError, type HubMessage } from './hubMessage';
import {
  framed,
  readArrayHead,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipNil,
  skipValue,
  type Cursor,
  encodeValue,
} from './messagePack';

/**
 * Hub messages in MessagePack: each an array that begins with its type; types 1 to 5 have headers next.
 * Source: the hub protocol's specification, "MessagePack encoding".
 */

/** The third element of a completion: what follows it. */
export const completionKind = { error: 1, void: 2, value: 3 } as const;

export const encodeMessagePackMessage = (message: HubMessage): Buffer =>
  framed([encodeValue(elementsOf(message))]);

function elementsOf(message: HubMessage): readonly unknown[] {
  const { type } = message;
  switch (type) {
    case hubMessageType.invocation:
    case hubMessageType.streamInvocation: {
      const { invocationId, target, arguments: args, streamIds = [] } = message;
      return [type, {}, invocationId, target, args, streamIds];
    }
    case hubMessageType.streamItem:
      return [type, {}, message.invocationId, message.item];
    case hubMessageType.completion: {
      const { invocationId, error, result } = message;
      if (error !== undefined) return [type, {}, invocationId, completionKind.error, error];
      if (result === undefined) return [type, {}, invocationId, completionKind.void];
      return [type, {}, invocationId, completionKind.value, result];
    }
    case hubMessageType.cancelInvocation:
      return [type, {}, message.invocationId];
    case hubMessageType.ping:
      return [type];
    case hubMessageType.close:
      return [type, message.error, message.allowReconnect ?? false];
    case hubMessageType.ack:
    case hubMessageType.sequence:
      return [type, message.sequenceId];
  }
}

/**
 * Reads a message without its length; undefined for a type that only newer servers know. @throws HubMessageError
 */
export function readMessagePackMessage(
  bytes: Buffer,
  start: number,
  end: number,
): HubMessage | undefined {
  const cursor: Cursor = { bytes, at: start, end };
  const elements = readArrayHead(cursor);
  const type = elements === 0 ? undefined : readInteger(cursor);
  if (type === undefined) throw new HubMessageError('a hub message has no type');
  const message = messageOf(cursor, type, elements);
  if (message === undefined) return undefined;
  // Newer versions of the protocol may append elements.
  const isVoid =
    message.type === hubMessageType.completion && !('result' in message || 'error' in message);
  const read = elementsRead[message.type] - (isVoid ? 1 : 0);
  for (let index = read; index < elements; index++) skipValue(cursor, 2);
  if (cursor.at !== end) throw new HubMessageError('a hub message is longer than its array');
  return message;
}

/** Elements of each type that {@link messageOf} reads, as far as they are there. */
const elementsRead = { 1: 6, 2: 4, 3: 5, 4: 6, 5: 3, 6: 1, 7: 3, 8: 2, 9: 2 } as const;

function messageOf(
  cursor: Cursor,
  type: number | bigint,
  elements: number,
): HubMessage | undefined {
  switch (type) {
    case hubMessageType.invocation:
    case hubMessageType.streamInvocation:
      return readInvocation(cursor, type, elements);
    case hubMessageType.streamItem:
      beginWithHeaders(cursor, elements, 4);
      return { type, invocationId: textOf(cursor), item: readValue(cursor, 2) };
    case hubMessageType.completion:
      return readCompletion(cursor, elements);
    case hubMessageType.cancelInvocation:
      beginWithHeaders(cursor, elements, 3);
      return { type, invocationId: textOf(cursor) };
    case hubMessageType.ping:
      return { type };
    case hubMessageType.close:
      return readClose(cursor, elements);
    case hubMessageType.ack:
    case hubMessageType.sequence: {
      requireElements(elements, 2);
      const sequenceId = readInteger(cursor);
      if (typeof sequenceId !== 'number')
        throw new HubMessageError('a sequence id is no whole number');
      return { type, sequenceId };
    }
    default:
      return undefined;
  }
}

function requireElements(elements: number, wanted: number): void {
  if (elements < wanted) throw new HubMessageError('a hub message has too few elements');
}

function beginWithHeaders(cursor: Cursor, elements: number, wanted: number): void {
  requireElements(elements, wanted);
  for (let left = 2 * readMapHead(cursor); left > 0; left--) skipValue(cursor, 3);
}

function textOf(cursor: Cursor): string {
  const text = readText(cursor);
  if (text === undefined) throw new HubMessageError('a hub message has no text where one belongs');
  return text;
}

function readInvocation(
  cursor: Cursor,
  type: typeof hubMessageType.invocation | typeof hubMessageType.streamInvocation,
  elements: number,
): HubMessage {
  beginWithHeaders(cursor, elements, 5);
  // An empty id stands for none, as .NET reads it.
  const invocationId = skipNil(cursor) ? '' : textOf(cursor);
  if (type === hubMessageType.streamInvocation && invocationId === '')
    throw new HubMessageError('a hub message of type 4 has no invocationId');
  const target = textOf(cursor);
  const args = Array.from({ length: readArrayHead(cursor) }, () => readValue(cursor, 3));
  const streamIds =
    elements > 5 ? Array.from({ length: readArrayHead(cursor) }, () => textOf(cursor)) : [];
  const fields = { target, arguments: args, ...(streamIds.length === 0 ? {} : { streamIds }) };
  if (type === hubMessageType.streamInvocation) return { type, invocationId, ...fields };
  return invocationId === '' ? { type, ...fields } : { type, invocationId, ...fields };
}

function readCompletion(cursor: Cursor, elements: number): HubMessage {
  beginWithHeaders(cursor, elements, 4);
  const invocationId = textOf(cursor);
  const kind = readInteger(cursor);
  if (kind === completionKind.void) return { type: hubMessageType.completion, invocationId };
  requireElements(elements, 5);
  if (kind === completionKind.error)
    return { type: hubMessageType.completion, invocationId, error: textOf(cursor) };
  if (kind !== completionKind.value)
    throw new HubMessageError('a completion has neither a result nor an error');
  return { type: hubMessageType.completion, invocationId, result: readValue(cursor, 2) };
}

function readClose(cursor: Cursor, elements: number): HubMessage {
  requireElements(elements, 2);
  const error = skipNil(cursor) ? undefined : textOf(cursor);
  const allowReconnect = elements > 2 ? readValue(cursor, 2) : undefined;
  return {
    type: hubMessageType.close,
    ...(error === undefined ? {} : { error }),
    ...(typeof allowReconnect === 'boolean' ? { allowReconnect } : {}),
  };
}
