import { hubMessageOf, hubMessageType, HubMessageError, type HubMessage } from './hubMessage';
import {
  framed,
  readArrayHead,
  readInteger,
  readMapHead,
  readValue,
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

const call = ['invocationId', 'target', 'arguments', 'streamIds'];
/** By type: how many elements there are at least, and those behind type and headers by their names in JSON. */
const forms = new Map<number | bigint, readonly [least: number, names: readonly string[]]>([
  [hubMessageType.invocation, [5, call]],
  [hubMessageType.streamItem, [4, ['invocationId', 'item']]],
  [hubMessageType.completion, [4, ['invocationId', 'kind', 'value']]],
  [hubMessageType.streamInvocation, [5, call]],
  [hubMessageType.cancelInvocation, [3, ['invocationId']]],
  [hubMessageType.ping, [1, []]],
  [hubMessageType.close, [2, ['error', 'allowReconnect']]],
  [hubMessageType.ack, [2, ['sequenceId']]],
  [hubMessageType.sequence, [2, ['sequenceId']]],
]);
const tooFew = 'a hub message has too few elements';

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
  const form = forms.get(type);
  if (form === undefined) return undefined;
  const [least, names] = form;
  if (elements < least) throw new HubMessageError(tooFew);
  const hasHeaders = type <= hubMessageType.cancelInvocation;
  if (hasHeaders) for (let left = 2 * readMapHead(cursor); left > 0; left--) skipValue(cursor, 3);
  const given = names.slice(0, elements - (hasHeaders ? 2 : 1));
  const fields = Object.fromEntries(given.map((name) => [name, readValue(cursor, 2)]));
  // Newer versions of the protocol may append elements.
  const read = given.length + (hasHeaders ? 2 : 1);
  for (let index = read; index < elements; index++) skipValue(cursor, 2);
  if (cursor.at !== end) throw new HubMessageError('a hub message is longer than its array');
  return hubMessageOf({ type, ...asInJson(fields) });
}

/** Where MessagePack says something in other members than JSON. */
function asInJson(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { kind, value, streamIds, ...same } = fields;
  if ('target' in same) {
    const hasNone = Array.isArray(streamIds) && streamIds.length === 0;
    // An empty id stands for none, as .NET reads it.
    const invocationId = same['invocationId'] || undefined;
    return { ...same, invocationId, streamIds: hasNone ? undefined : streamIds };
  }
  if (kind === undefined || kind === completionKind.void) return same;
  if (value === undefined) throw new HubMessageError(tooFew);
  if (kind === completionKind.error && value !== null) return { ...same, error: value };
  if (kind === completionKind.value) return { ...same, result: value };
  throw new HubMessageError('a completion has neither a result nor an error');
}
