import { HubMessageError } from '../../wire/hub/hubMessage';
import { prefixBytes } from '../../wire/message/messagePackFraming';
import { completionKind } from '../../wire/message/messagePackMessage';
import {
  readArrayHead,
  readInteger,
  readMapHead,
  readText,
  skipNil,
  skipValue,
  type Cursor,
} from '../../wire/message/messagePackReader';
import {
  emptyMessage,
  foundArgument,
  longError,
  maxErrorBytes,
  maxNameBytes,
  type HubMessage,
} from './hubEnvelope';
import { hubMessageType } from '../../wire/hub/hubMessage';

/**
 * Reads the envelope of the hub message in `start`…`end`, its length included; arguments and items stay
 * where they are.
 * @returns undefined when it is no array with a type and with what this type needs
 */
export function readMessagePackEnvelope(
  bytes: Buffer,
  start: number,
  end: number,
): HubMessage | undefined {
  const prefix = prefixBytes(bytes, start, end);
  if (typeof prefix === 'string') return undefined;
  const cursor: Cursor = { bytes, at: start + prefix, end };
  try {
    const message = emptyMessage(bytes, cursor.at, end);
    readEnvelope(cursor, message);
    return message;
  } catch (error) {
    if (error instanceof HubMessageError) return undefined;
    throw error;
  }
}

function fail(text: string): never {
  throw new HubMessageError(text);
}

function readEnvelope(cursor: Cursor, message: HubMessage): void {
  const elements = readArrayHead(cursor);
  const type = elements === 0 ? undefined : readInteger(cursor);
  message.type = typeof type === 'number' ? type : fail('no type');
  const used = readFields(cursor, message, elements);
  // Newer versions of the protocol may append elements, and have types of their own.
  for (let index = used; index < elements; index++) skipValue(cursor, 2);
  if (cursor.at !== cursor.end) fail('more bytes than the array has');
}

/** Reads what the type needs; returns how many elements that were. */
function readFields(cursor: Cursor, message: HubMessage, elements: number): number {
  switch (message.type) {
    case hubMessageType.invocation:
    case hubMessageType.streamInvocation:
      return readInvocation(cursor, message, elements);
    case hubMessageType.streamItem:
      readHead(cursor, message, elements, 4);
      message.itemStart = cursor.at;
      skipValue(cursor, 2);
      message.itemEnd = cursor.at;
      return 4;
    case hubMessageType.completion:
      return readCompletion(cursor, message, elements);
    case hubMessageType.cancelInvocation:
      readHead(cursor, message, elements, 3);
      return 3;
    default:
      return 1;
  }
}

/** Moves over the headers and reads the invocation id behind them. */
function readHead(cursor: Cursor, message: HubMessage, elements: number, wanted: number): void {
  if (elements < wanted) fail('too few elements');
  for (let left = 2 * readMapHead(cursor); left > 0; left--) skipValue(cursor, 3);
  const mayBeNil = message.type === hubMessageType.invocation;
  if (mayBeNil && skipNil(cursor)) return;
  const id = nameAt(cursor);
  // An empty id stands for none, as .NET reads it.
  if (id !== '') message.invocationId = id;
  else if (!mayBeNil) fail('no invocation id');
}

function nameAt(cursor: Cursor): string {
  const { at } = cursor;
  const name = readText(cursor);
  return name === undefined || cursor.at - at > maxNameBytes ? fail('no name') : name;
}

function readInvocation(cursor: Cursor, message: HubMessage, elements: number): number {
  readHead(cursor, message, elements, 5);
  message.target = nameAt(cursor);
  if (message.target === '') fail('no target');
  message.argumentsStart = cursor.at;
  for (let left = readArrayHead(cursor); left > 0; left--) {
    const { at } = cursor;
    skipValue(cursor, 3);
    foundArgument(message, at, cursor.at);
  }
  message.argumentsEnd = cursor.at;
  if (elements < 6) return 5;
  message.streams = readArrayHead(cursor);
  for (let index = 0; index < message.streams; index++) {
    const id = nameAt(cursor);
    if (index === 0) message.streamId = id;
  }
  return 6;
}

function readCompletion(cursor: Cursor, message: HubMessage, elements: number): number {
  readHead(cursor, message, elements, 4);
  const kind = readInteger(cursor);
  if (kind === completionKind.void) return 4;
  if (elements < 5) fail('too few elements');
  if (kind === completionKind.error) {
    const { at } = cursor;
    const text = readText(cursor) ?? fail('no error text');
    message.error = cursor.at - at > maxErrorBytes ? longError : text;
  } else if (kind === completionKind.value) {
    message.hasResult = true;
    skipValue(cursor, 2);
  } else {
    fail('neither a result nor an error');
  }
  return 5;
}
