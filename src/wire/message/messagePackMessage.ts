import {
  Envelope,
  maxNameBytes,
  hubMessageFromFields,
  hubMessageType,
  HubMessageError,
  type HubMessage,
} from './hubMessage';
import {
  withLengthPrefix,
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
 * Hub messages in MessagePack: arrays that begin with the type; types 1 to 5 have headers next. Source: the hub
 * protocol's specification, "MessagePack encoding".
 */

export const completionKind = { error: 1, void: 2, value: 3 } as const;

export const encodeMessagePackMessage = (message: HubMessage): Buffer =>
  withLengthPrefix([encodeValue(elementsOf(message))]);

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

const valueIn = (bytes: Buffer): unknown => readValue({ bytes, at: 0, end: bytes.length });

/** Without the length prefix; undefined for an unknown type. @throws HubMessageError */
export function readMessagePackMessage(
  bytes: Buffer,
  start: number,
  end: number,
): HubMessage | undefined {
  const envelope = readMessagePackEnvelope(bytes, start, end);
  const { type, target, invocationId, streamIds, item, result, error } = envelope;
  const { allowReconnect, sequenceId, argumentsEnd, allArguments } = envelope;
  const list = argumentsEnd > 0 ? valueIn(allArguments) : undefined;
  if (item !== undefined) return hubMessageFromFields({ type, invocationId, item: valueIn(item) });
  if (result !== undefined)
    return hubMessageFromFields({ type, invocationId, result: valueIn(result) });
  if (list === undefined)
    return hubMessageFromFields({ type, invocationId, error, allowReconnect, sequenceId });
  return hubMessageFromFields({ type, invocationId, target, arguments: list, streamIds });
}

/** Without the length prefix. @throws HubMessageError when it is malformed */
export function readMessagePackEnvelope(bytes: Buffer, start: number, end: number): Envelope {
  const cursor: Cursor = { bytes, at: start, end };
  const envelope = new Envelope(bytes, start, end);
  const elements = readArrayHead(cursor);
  const type = elements === 0 ? undefined : readInteger(cursor);
  if (type === undefined) fail('a hub message has no type');
  envelope.type = Number(type);
  if (!known.has(envelope.type)) return envelope;
  const used = readFields(cursor, envelope, elements);
  // Newer versions of the protocol may append elements.
  for (let index = used; index < elements; index++) skipValue(cursor, 2);
  if (cursor.at !== end) fail('a hub message is longer than its array');
  return envelope;
}

const known: ReadonlySet<number> = new Set(Object.values(hubMessageType));

function fail(text: string): never {
  throw new HubMessageError(text);
}

function readFields(cursor: Cursor, envelope: Envelope, elements: number): number {
  switch (envelope.type) {
    case hubMessageType.invocation:
    case hubMessageType.streamInvocation:
      return readInvocation(cursor, envelope, elements);
    case hubMessageType.streamItem:
      readHead(cursor, envelope, elements, 4);
      envelope.item = valueAt(cursor);
      return 4;
    case hubMessageType.completion:
      return readCompletion(cursor, envelope, elements);
    case hubMessageType.cancelInvocation:
      readHead(cursor, envelope, elements, 3);
      return 3;
    case hubMessageType.close:
      if (elements < 2) fail(tooFew);
      if (!skipNil(cursor)) envelope.error = readText(cursor) ?? fail('a reason is not a text');
      if (elements < 3) return 2;
      envelope.allowReconnect = readBoolean(valueAt(cursor));
      return 3;
    case hubMessageType.ack:
    case hubMessageType.sequence:
      if (elements < 2) fail(tooFew);
      envelope.sequenceId = Number(readInteger(cursor));
      if (!Number.isSafeInteger(envelope.sequenceId)) fail('a sequence id is not a whole number');
      return 2;
    default:
      return 1;
  }
}

const tooFew = 'a hub message has too few elements';

function valueAt(cursor: Cursor): Buffer {
  const { at } = cursor;
  skipValue(cursor, 2);
  return cursor.bytes.subarray(at, cursor.at);
}

const readBoolean = ([first]: Buffer): boolean | undefined =>
  first === 0xc3 ? true : first === 0xc2 ? false : undefined;

function readHead(cursor: Cursor, envelope: Envelope, elements: number, wanted: number): void {
  if (elements < wanted) fail(tooFew);
  for (let left = 2 * readMapHead(cursor); left > 0; left--) skipValue(cursor, 3);
  const mayBeNil = envelope.type === hubMessageType.invocation;
  if (mayBeNil && skipNil(cursor)) return;
  const id = nameAt(cursor);
  // .NET reads an empty id as none.
  if (id !== '') envelope.invocationId = id;
  else if (!mayBeNil) fail('a hub message has no invocation id');
}

function nameAt(cursor: Cursor): string {
  const { at } = cursor;
  const name = readText(cursor);
  return name === undefined || cursor.at - at > maxNameBytes
    ? fail('a hub message has no text where a name belongs')
    : name;
}

function readInvocation(cursor: Cursor, envelope: Envelope, elements: number): number {
  readHead(cursor, envelope, elements, 5);
  envelope.target = nameAt(cursor);
  if (envelope.target === '') fail('a hub message has no target');
  envelope.beginArguments(cursor.at);
  for (let left = readArrayHead(cursor); left > 0; left--) {
    const { at } = cursor;
    skipValue(cursor, 3);
    envelope.foundArgument(at, cursor.at);
  }
  envelope.argumentsEnd = cursor.at;
  if (elements < 6) return 5;
  const streams = readArrayHead(cursor);
  if (streams > 0) envelope.streamIds = Array.from({ length: streams }, () => nameAt(cursor));
  return 6;
}

function readCompletion(cursor: Cursor, envelope: Envelope, elements: number): number {
  readHead(cursor, envelope, elements, 4);
  const kind = readInteger(cursor);
  if (kind === completionKind.void) return 4;
  if (elements < 5) fail(tooFew);
  if (kind === completionKind.error)
    envelope.error = readText(cursor) ?? fail('a completion has no error text');
  else if (kind === completionKind.value) envelope.result = valueAt(cursor);
  else fail('a completion has neither a result nor an error');
  return 5;
}
