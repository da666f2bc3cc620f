import { HubMessageError } from '../message/hubMessage';
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
  arrayHead,
  binaryHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../message/messagePack';

/**
 * Messages between an app server and Azure SignalR Service. The types, the reader and the writer follow one table of
 * layouts. Source: the service protocol's specification (`specs/ServiceProtocol.md` of Azure/azure-signalr) and
 * frames recorded from its .NET SDK.
 */

export const serverConnectionType = { default: 0, onDemand: 1, weak: 2 } as const;
/** `dataType` of ConnectionData: the hub message in the payload. */
export const dataType = { unknown: 0, handshake: 1, invocation: 2, other: 3, close: 4 } as const;
export const ackStatus = { ok: 1, notFound: 2, timeout: 3, internalServerError: 4 } as const;
export const flowOperation = { pause: 1, pauseAck: 2, resume: 3, offline: 4 } as const;
export const flowConnectionType = { client: 1, server: 2 } as const;

/** Names with their values, in wire order; a name may occur several times. */
type Pairs<Value> = readonly (readonly [name: string, value: Value])[];
export type Payloads = Pairs<Buffer>;

/** Encoding of a value. A member that may be undefined is optional. */
interface Kind<Value> {
  /** @param left elements from here to the end of the message */
  read(cursor: Cursor, left: number): Value;
  write(value: Value, message: Values): readonly Buffer[];
  readonly missing?: Value;
  /** Undefined writes nothing, not even nil. */
  readonly isLeftOut?: true;
  readonly isRest?: true;
}

interface Field<Name extends string = string, Value = unknown> extends Kind<Value> {
  readonly name: Name;
  /** Read only from arrays with at least so many elements; absent: required. */
  readonly from: number | undefined;
}

interface Extension<Name extends ExtensionName = ExtensionName> {
  readonly extension: readonly Name[];
  readonly from: number;
}

type Element = Field | Extension;
type Values = Readonly<Record<string, unknown>>;

const kind =
  <Value>(how: Kind<Value>) =>
  <Name extends string>(name: Name, from?: number): Field<Name, Value> => ({ ...how, name, from });

const asValue = (value: unknown): Buffer[] => [encodeValue(value)];

const text = kind<string>({ read: emptyOrText, write: asValue });
const textOrNil = kind<string | undefined>({ read: textOf, write: asValue });
const onDemandTarget = kind<string>({
  read: emptyOrText,
  write: (value, { connectionType }) =>
    asValue(connectionType === serverConnectionType.onDemand ? value : ''),
  missing: '',
});
const int = kind<number>({ read: integerOf, write: asValue, missing: 0 });
const intOrNil = kind<number | undefined>({
  read: (cursor) => (skipNil(cursor) ? undefined : integerOf(cursor)),
  write: asValue,
});
const flowEnum = kind<number>({
  read: (cursor) => {
    const value = integerOf(cursor);
    if (value < 1 || value > 4) throw new HubMessageError('flow control of an unknown kind');
    return value;
  },
  write: (value) => {
    const bytes = Buffer.alloc(5, 0xd2);
    bytes.writeInt32BE(value, 1);
    return [bytes];
  },
});
const boolIfGiven = kind<boolean | undefined>({ read: boolOf, write: asValue, isLeftOut: true });
const bin = kind<Buffer>({
  read: emptyOrBytes,
  write: (value) => [binaryHead(value.length), value],
});
const binIfGiven = kind<Buffer | null | undefined>({
  read: (cursor) => bytesOf(cursor) ?? null,
  write: asValue,
  isLeftOut: true,
});
const asList = (value: readonly string[] = []): Buffer[] => asValue(value);
const texts = kind<readonly string[]>({ read: readTexts, write: asList });
const textsIfAny = kind<readonly string[] | undefined>({ read: readTexts, write: asList });
const restTexts = kind<readonly (string | null)[]>({
  read: (cursor, left) => Array.from({ length: left }, () => textOf(cursor) ?? null),
  write: (value) => value.map(encodeValue),
  isRest: true,
});
const payloads = kind<Payloads | undefined>({
  read: (cursor) => readPairs(cursor, emptyOrBytes),
  write: (value = []) => writePairs(value, (frame) => [binaryHead(frame.length), frame]),
})('payloads');
const claims = kind<Pairs<string>>({
  read: (cursor) => readPairs(cursor, nameOf),
  write: (value) => writePairs(value, asValue),
})('claims');
const headers = kind<Pairs<readonly string[]> | undefined>({
  read: readHeaders,
  write: (value = []) => writePairs(value, asValue),
})('headers', 5);

/** Members of the map that closes most messages. */
const extensions = {
  tracingId: { key: 1, read: tracingIdOf },
  ttl: { key: 2, read: integerOf },
  protocol: { key: 3, read: emptyOrText },
  filter: { key: 4, read: emptyOrText },
  dataType: { key: 5, read: integerOf },
  /** The hub message continues in the next ConnectionData. */
  isPartial: { key: 6, read: boolOf },
} as const;
type ExtensionName = keyof typeof extensions;
const extensionKeys: ReadonlySet<number> = new Set(Object.values(extensions).map(({ key }) => key));

const ext = <Name extends ExtensionName>(from: number, ...names: Name[]): Extension<Name> => ({
  extension: names,
  from,
});

const traced = <Name extends ExtensionName = 'tracingId'>(from: number, ...names: Name[]) =>
  ext<Name | 'tracingId'>(from, 'tracingId', ...names);

const connectionId = text('connectionId');
const groupName = text('groupName');
const userId = text('userId');
const ackId = int('ackId');
const reason = textOrNil('reason');
const excluded = textsIfAny('excludedConnectionIds');
// Not the invocation id of the caller's hub message: these are unique within the service.
const question = [text('invocationId'), connectionId, text('callerServerId')] as const;
const others = [textsIfAny('excludedUserIds', 7), textOrNil('callerUserId', 7)] as const;

const layout = <const Type extends number, const Elements extends readonly Element[]>(
  type: Type,
  ...elements: Elements
) => ({ type, elements });

const layouts = {
  handshakeRequest: layout(
    1,
    int('version'),
    int('connectionType', 4),
    onDemandTarget('target', 4),
    int('migrationLevel', 5),
    ext(6),
    boolIfGiven('allowStatefulReconnects', 7),
  ),
  handshakeResponse: layout(2, textOrNil('errorMessage'), ext(3), textOrNil('connectionId', 4)),
  // Keys and values in turn; a value may be nil.
  ping: layout(3, restTexts('messages', 1)),
  // Headers and query, or neither: with four elements the SDK ignores both.
  openConnection: layout(
    4,
    connectionId,
    claims,
    headers,
    textOrNil('queryString', 5),
    traced(6, 'protocol'),
  ),
  closeConnection: layout(5, connectionId, text('errorMessage'), headers, traced(5)),
  connectionData: layout(6, connectionId, bin('payload'), traced(4, 'dataType', 'isPartial')),
  multiConnectionData: layout(7, texts('connectionIds'), payloads, traced(4, 'filter')),
  userData: layout(8, userId, payloads, traced(4, 'filter')),
  multiUserData: layout(9, texts('userIds'), payloads, traced(4, 'filter')),
  broadcastData: layout(10, excluded, payloads, traced(4, 'filter')),
  joinGroup: layout(11, connectionId, groupName, traced(4)),
  leaveGroup: layout(12, connectionId, groupName, traced(4)),
  groupBroadcastData: layout(13, groupName, excluded, payloads, traced(5, 'filter'), ...others),
  multiGroupBroadcastData: layout(14, texts('groupNames'), payloads, traced(4, 'filter')),
  serviceError: layout(15, text('errorMessage')),
  userJoinGroup: layout(16, userId, groupName, traced(4, 'ttl')),
  // Without a group the user leaves all.
  userLeaveGroup: layout(17, userId, textOrNil('groupName'), traced(4)),
  joinGroupWithAck: layout(18, connectionId, groupName, ackId, traced(5)),
  leaveGroupWithAck: layout(19, connectionId, groupName, ackId, traced(5)),
  // SDKs before 1.26 leave the payload out.
  ack: layout(20, ackId, int('status'), text('message'), ext(5), binIfGiven('payload', 6)),
  checkUserInGroupWithAck: layout(21, userId, groupName, ackId, traced(5)),
  serviceEvent: layout(22, int('objectType'), text('id'), int('kind'), text('message'), ext(6)),
  checkGroupExistenceWithAck: layout(23, groupName, ackId, traced(4)),
  checkConnectionExistenceWithAck: layout(24, connectionId, ackId, traced(4)),
  checkUserExistenceWithAck: layout(25, userId, ackId, traced(4)),
  userJoinGroupWithAck: layout(26, userId, groupName, ackId, traced(5, 'ttl')),
  userLeaveGroupWithAck: layout(27, userId, textOrNil('groupName'), ackId, traced(5)),
  accessKeyRequest: layout(28, text('token'), textOrNil('kid'), ext(4)),
  accessKeyResponse: layout(
    29,
    textOrNil('kid'),
    textOrNil('accessKey'),
    textOrNil('errorType'),
    textOrNil('errorMessage'),
    ext(6),
  ),
  closeConnectionWithAck: layout(30, connectionId, reason, ackId, traced(5)),
  closeConnectionsWithAck: layout(31, reason, ackId, excluded, traced(5)),
  closeUserConnectionsWithAck: layout(32, userId, reason, ackId, excluded, traced(6)),
  closeGroupConnectionsWithAck: layout(33, groupName, reason, ackId, excluded, traced(6)),
  clientInvocation: layout(34, ...question, payloads, traced(6)),
  // The protocol is there twice.
  clientCompletion: layout(
    35,
    ...question,
    textOrNil('protocol'),
    bin('payload'),
    traced(7, 'protocol'),
  ),
  errorCompletion: layout(36, ...question, text('error'), traced(6)),
  serviceMapping: layout(37, question[0], connectionId, text('instanceId'), ext(5)),
  connectionReconnect: layout(38, connectionId, ext(3)),
  connectionFlowControl: layout(
    39,
    connectionId,
    flowEnum('connectionType'),
    flowEnum('operation'),
    ext(5),
  ),
  // Only here the map comes first.
  groupMemberQuery: layout(
    40,
    traced(2),
    groupName,
    ackId,
    intOrNil('top'),
    textOrNil('continuationToken'),
  ),
  getConnectionClaims: layout(42, text('connectionToken'), ackId, ext(4)),
  updateConnectionClaims: layout(43, connectionId, claims, ext(4)),
} as const;

type Layouts = typeof layouts;
type MembersOf<Each> =
  Each extends Field<infer Name>
    ? undefined extends ReturnType<Each['read']>
      ? { readonly [N in Name]?: Exclude<ReturnType<Each['read']>, undefined> }
      : { readonly [N in Name]: ReturnType<Each['read']> }
    : Each extends Extension<infer Name>
      ? { readonly [N in Name]?: ReturnType<(typeof extensions)[N]['read']> }
      : never;
type AllMembers<Elements> = Elements extends readonly [infer First, ...infer Rest]
  ? MembersOf<First> & AllMembers<Rest>
  : unknown;
type MessagesByName = {
  readonly [Name in keyof Layouts]: { readonly type: Layouts[Name]['type'] } & AllMembers<
    Layouts[Name]['elements']
  >;
};
export type ServiceMessage = MessagesByName[keyof Layouts];
export type ServiceTypeNumber = ServiceMessage['type'];
export type ServiceMessageOf<Type extends ServiceTypeNumber> = Extract<
  ServiceMessage,
  { readonly type: Type }
>;

export const serviceType = Object.fromEntries(
  Object.entries(layouts).map(([name, { type }]) => [name, type]),
) as { readonly [Name in keyof Layouts]: Layouts[Name]['type'] };

const elementsByType = new Map<number | bigint, readonly Element[]>(
  Object.values(layouts).map(({ type, elements }) => [type, elements]),
);

/**
 * As lenient as the SDK's reader: additional elements are ignored, missing ones at the end have defaults. Payloads
 * share memory with `bytes`. @returns undefined for an unknown type, which both sides ignore @throws HubMessageError
 */
export function readServiceMessage(
  bytes: Buffer,
  start: number,
  end: number,
): ServiceMessage | undefined {
  const cursor: Cursor = { bytes, at: start, end };
  if (bytes[start] === connectionDataHead && bytes[start + 1] === serviceType.connectionData) {
    cursor.at += 2;
    return readConnectionData(cursor);
  }
  const count = readArrayHead(cursor);
  const type = count === 0 ? undefined : readInteger(cursor);
  if (type === undefined) throw new HubMessageError('a service message has no type');
  const elements = elementsByType.get(type);
  if (elements === undefined) return undefined;
  const message: Record<string, unknown> = { type };
  for (const [index, element] of elements.entries()) {
    const isThere = count >= (element.from ?? index + 2);
    if ('extension' in element) {
      if (isThere) readExtension(cursor, element.extension, message);
      continue;
    }
    if (!isThere && element.from === undefined)
      throw new HubMessageError('a service message has too few elements');
    const value = isThere ? element.read(cursor, count - 1 - index) : element.missing;
    if (value !== undefined) message[element.name] = value;
  }
  return message as unknown as ServiceMessage;
}

/** An array of four: nearly all messages are ConnectionData, read without a layout. */
const connectionDataHead = 0x94;

function readConnectionData(cursor: Cursor): ServiceMessageOf<6> {
  const message = {
    type: serviceType.connectionData,
    connectionId: emptyOrText(cursor),
    payload: emptyOrBytes(cursor),
  };
  readExtension(cursor, connectionDataExtension, message);
  return message;
}

const connectionDataExtension = ['tracingId', 'dataType', 'isPartial'] as const;

function readExtension(
  cursor: Cursor,
  names: readonly ExtensionName[],
  message: Record<string, unknown>,
): void {
  for (let left = readMapHead(cursor); left > 0; left--) {
    const key = integerOf(cursor);
    const known = names.find((name) => extensions[name].key === key);
    if (known !== undefined) message[known] = extensions[known].read(cursor);
    // A known key of other types: no SDK skips its value, so nobody sends it.
    else if (!extensionKeys.has(key)) skipValue(cursor, 2);
  }
}

function textOf(cursor: Cursor): string | undefined {
  return skipNil(cursor) ? undefined : required(readText(cursor), 'text');
}

function emptyOrText(cursor: Cursor): string {
  return textOf(cursor) ?? '';
}

function nameOf(cursor: Cursor): string {
  return required(readText(cursor), 'name');
}

/** Only tracing ids need more than 32 bits. */
function integerOf(cursor: Cursor): number {
  const value = readInteger(cursor);
  return required(
    typeof value === 'number' && value === (value | 0) ? value : undefined,
    '32-bit integer',
  );
}

function tracingIdOf(cursor: Cursor): bigint {
  const value = readInteger(cursor);
  if (value === undefined || value < 0) throw new HubMessageError('a tracing id is not a number');
  return BigInt(value);
}

function boolOf(cursor: Cursor): boolean {
  const value = readValue(cursor, 2);
  return required(typeof value === 'boolean' ? value : undefined, 'boolean');
}

/** Bytes, or the bytes of a text; undefined for nil. */
function bytesOf(cursor: Cursor): Buffer | undefined {
  if (skipNil(cursor)) return undefined;
  const start = cursor.at;
  const first = cursor.bytes[start]!;
  const isBytes = (first >= 0xc4 && first <= 0xc6) || (first >= 0xd9 && first <= 0xdb);
  required(isBytes || (first & 0xe0) === 0xa0 || undefined, 'payload');
  skipValue(cursor);
  const width = first < 0xc4 ? 0 : 1 << (first < 0xd9 ? first - 0xc4 : first - 0xd9);
  return cursor.bytes.subarray(start + 1 + width, cursor.at);
}

function emptyOrBytes(cursor: Cursor): Buffer {
  return bytesOf(cursor) ?? Buffer.alloc(0);
}

function readTexts(cursor: Cursor): string[] {
  return Array.from({ length: readArrayHead(cursor) }, () => emptyOrText(cursor));
}

function readPairs<Value>(cursor: Cursor, read: (cursor: Cursor) => Value): Pairs<Value> {
  return Array.from({ length: readMapHead(cursor) }, () => [nameOf(cursor), read(cursor)] as const);
}

function readHeaders(cursor: Cursor): Pairs<readonly string[]> {
  const headers = readPairs(cursor, readTexts);
  // Header names are case-insensitive; the SDK drops a client that has one twice.
  if (new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length)
    throw new HubMessageError('a header occurs twice');
  return headers;
}

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined)
    throw new HubMessageError(`a service message has no ${what} where one belongs`);
  return value;
}

/** With its length prefix; byte for byte as the SDK writes it. */
export function encodeServiceMessage(message: ServiceMessage): Buffer {
  const values: Values = message;
  const pieces: Buffer[] = [encodeValue(message.type)];
  let count = 1;
  for (const element of elementsByType.get(message.type) ?? []) {
    if ('extension' in element) {
      pieces.push(encodeExtension(element.extension, values));
      count += 1;
      continue;
    }
    const value = values[element.name];
    if (value === undefined && element.isLeftOut === true) continue;
    const written = element.write(value, values);
    pieces.push(...written);
    count += element.isRest === true ? written.length : 1;
  }
  return withLengthPrefix([arrayHead(count), ...pieces]);
}

function writePairs<Value>(pairs: Pairs<Value>, write: (value: Value) => Buffer[]): Buffer[] {
  const pieces = pairs.flatMap(([key, value]) => [encodeText(key), ...write(value)]);
  return [mapHead(pairs.length), ...pieces];
}

function encodeExtension(names: readonly ExtensionName[], values: Values): Buffer {
  const present = names.filter((name) => {
    const value = values[name];
    return (
      value !== undefined && value !== false && !(name === 'dataType' && value === dataType.unknown)
    );
  });
  const pairs = present.flatMap((name) => [
    encodeValue(extensions[name].key),
    encodeValue(values[name]),
  ]);
  return Buffer.concat([mapHead(present.length), ...pairs]);
}
