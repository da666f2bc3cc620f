import { isJson } from '../message/jsonScan';
import { bytesHead, bytesIn, field, idIn, textIn, utf8In, visitFields } from './protobufFields';
import {
  dataTypes,
  noData,
  wellFormed,
  type DataMessage,
  type DataType,
  type MessageError,
  type Payload,
  type ProtobufClientMessage,
  type ProtobufServerMessage,
  type WireId,
} from './pubSubMessage';

/**
 * Frames of `protobuf.webpubsub.azure.v1` and its reliable sister: one `UpstreamMessage` or
 * `DownstreamMessage` per binary frame. Source: "Azure Web PubSub supported protobuf WebSocket subprotocol".
 */

/** A field of a message: how it is read and written, and what stands for it where it is absent. */
interface Part<Value> {
  readonly number: number;
  readonly absent: Value;
  read(value: WireId | Buffer): Value;
  write(value: Value): readonly Buffer[];
}
type Parts = Readonly<Record<string, Part<unknown>>>;
type ValuesOf<Of extends Parts> = { readonly [Name in keyof Of]: ReturnType<Of[Name]['read']> };

const plain =
  <Value extends WireId | string>(read: (value: WireId | Buffer) => Value, absent: Value) =>
  (number: number): Part<Value> => ({
    number,
    absent,
    read,
    write: (value) => [field(number, value)],
  });
const text = plain(textIn, '');
const id = plain(idIn, 0);
const optional = <Value>(part: Part<Value>): Part<Value | undefined> => ({
  ...part,
  absent: undefined,
  write: (value) => (value === undefined ? [] : part.write(value)),
});
const flag = (number: number): Part<boolean> => ({
  number,
  absent: false,
  read: (value) => idIn(value) !== 0,
  write: (value) => [field(number, value ? 1 : undefined)],
});
const data = (number: number): Part<Payload> => ({
  number,
  absent: noData,
  read: (value) => readPayload(bytesIn(value)),
  write: (value) => payloadParts(number, value),
});
const failure = (number: number): Part<MessageError> => ({
  number,
  absent: { name: '', message: '' },
  read: (value) => decoded(errorParts, bytesIn(value)),
  write: (value) => [field(number, encoded(errorParts, { ...value }))],
});
const errorParts = { name: text(1), message: text(2) };

/** Kinds of messages, by the field of the frame that holds one. */
type Kinds = Readonly<Record<string, { readonly number: number; readonly parts: Parts }>>;
type MessageOf<Of extends Kinds> = {
  [Type in keyof Of]: { readonly type: Type } & ValuesOf<Of[Type]['parts']>;
}[keyof Of];

const membership = { group: text(1), ackId: optional(id(2)) };
const clientKinds = {
  sendToGroup: {
    number: 1,
    parts: { group: text(1), ackId: optional(id(2)), payload: data(3), noEcho: flag(4) },
  },
  event: { number: 5, parts: { event: text(1), payload: data(2), ackId: optional(id(3)) } },
  joinGroup: { number: 6, parts: membership },
  leaveGroup: { number: 7, parts: membership },
  sequenceAck: { number: 8, parts: { sequenceId: id(1) } },
};

const serverKinds = {
  ack: { number: 1, parts: { ackId: id(1), success: flag(2), error: optional(failure(3)) } },
  message: {
    number: 2,
    parts: {
      from: text(1),
      group: optional(text(2)),
      payload: data(3),
      sequenceId: optional(id(4)),
    },
  },
};
/** What is said of the connection stands one message deeper. */
const systemField = 3;
const systemKinds = {
  connected: {
    number: 1,
    parts: {
      connectionId: text(1),
      userId: optional(text(2)),
      reconnectionToken: optional(text(3)),
    },
  },
  disconnected: { number: 2, parts: { message: text(2) } },
};

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export const readProtobufClientMessage = (bytes: Buffer): ProtobufClientMessage | undefined =>
  wellFormed(() => messageIn(clientKinds, bytes));

/** The same of what the service sends. */
export const readProtobufServerMessage = (bytes: Buffer): ProtobufServerMessage | undefined =>
  wellFormed(() => {
    const message = messageIn(serverKinds, bytes);
    if (message === undefined) return systemMessageIn(bytes);
    if (message.type === 'ack') return message;
    const { from } = message;
    if (from !== 'group' && from !== 'server') throw new SyntaxError('unknown sender');
    return { ...message, from, fromUserId: undefined };
  });

function systemMessageIn(bytes: Buffer): ProtobufServerMessage | undefined {
  let message: ProtobufServerMessage | undefined;
  visitFields(bytes, (number, value) => {
    if (number === systemField) message = messageIn(systemKinds, bytesIn(value));
  });
  return message;
}

function messageIn<Of extends Kinds>(kinds: Of, bytes: Buffer): MessageOf<Of> | undefined {
  const named = Object.entries(kinds);
  let message: MessageOf<Of> | undefined;
  visitFields(bytes, (number, value) => {
    const found = named.find(([, kind]) => kind.number === number);
    if (found === undefined) return;
    const [type, { parts }] = found;
    message = { type, ...decoded(parts, bytesIn(value)) } as MessageOf<Of>;
  });
  return message;
}

function decoded<Of extends Parts>(parts: Of, body: Buffer): ValuesOf<Of> {
  const named = Object.entries(parts);
  const values = Object.fromEntries(named.map(([name, { absent }]) => [name, absent]));
  visitFields(body, (number, value) => {
    for (const [name, part] of named) if (part.number === number) values[name] = part.read(value);
  });
  return values as ValuesOf<Of>;
}

/** The payload of the binary frame that carries a message of a client. */
export function writeProtobufClientMessage(message: ProtobufClientMessage): Buffer {
  const { number, parts } = clientKinds[message.type];
  return field(number, encoded(parts, { ...message }));
}

/** The same of the service. */
export function writeProtobufServerMessage(message: ProtobufServerMessage): Buffer {
  if (message.type === 'message') {
    const tail = protobufDataTail(message);
    return Buffer.concat([protobufDataHead(message.sequenceId, tail.length), tail]);
  }
  if (message.type === 'ack') {
    const { number, parts } = serverKinds.ack;
    return field(number, encoded(parts, { ...message }));
  }
  const { number, parts } = systemKinds[message.type];
  return field(systemField, field(number, encoded(parts, { ...message })));
}

const { sequenceId: sequencePart, ...tailParts } = serverKinds.message.parts;

/** The part of a data message in which the copies for several receivers differ. */
export function protobufDataHead(sequenceId: WireId | undefined, tailBytes: number): Buffer {
  const number = Buffer.concat(sequencePart.write(sequenceId));
  return Buffer.concat([bytesHead(serverKinds.message.number, number.length + tailBytes), number]);
}

/** What follows the head, the same for all receivers. */
export const protobufDataTail = (message: DataMessage): Buffer =>
  encoded(tailParts, { ...message });

const encoded = (parts: Parts, values: Readonly<Record<string, unknown>>): Buffer =>
  Buffer.concat(Object.entries(parts).flatMap(([name, part]) => part.write(values[name])));

/** Fields of `MessageData` by data type. */
const dataFields: Readonly<Record<DataType, number>> = {
  text: 1,
  binary: 2,
  protobuf: 3,
  json: 4,
};

/** @throws SyntaxError when the bytes are no `MessageData` */
function readPayload(bytes: Buffer): Payload {
  let payload = noData;
  visitFields(bytes, (number, value) => {
    const dataType = dataTypes.find((each) => dataFields[each] === number);
    // A newer schema has others.
    if (dataType === undefined) return;
    const content = dataType === 'text' ? utf8In(value) : bytesIn(value);
    // It goes into JSON frames as it is.
    if (dataType === 'json' && !isJson(content)) throw new SyntaxError('no JSON');
    payload = { dataType, bytes: content };
  });
  return payload;
}

/** The parts of a field that holds a `MessageData`. */
function payloadParts(number: number, { dataType, bytes }: Payload): Buffer[] {
  const head = bytesHead(dataFields[dataType], bytes.length);
  return [bytesHead(number, head.length + bytes.length), head, bytes];
}
