import { callbacks, membershipMethods } from '../../base/message';
import { opcode } from '../socket/frame';
import {
  jsonCodec,
  messagePackCodec,
  type HubCodec,
  type RecoveryTokens,
} from '../message/hubCodec';
import {
  hubMessageType,
  HubMessageError,
  readUtf8,
  type Completion,
  type HubMessage,
  type Invocation,
} from '../message/hubMessage';
import { parseObject, type JsonObject } from '../message/jsonScan';
import {
  firstMessageAckId,
  JsonLayoutBuilder,
  messageAckId,
  LayoutBuilder,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';
import {
  bytesHead,
  field,
  nestedVarint,
  readProtobufServerMessage,
  varintHead,
  writeProtobufClientMessage,
} from './protobufMessages';
import {
  clientMessages,
  serverMessages,
  type ClientMessage,
  type ProtobufServerMessage,
  type WireId,
} from './pubSubMessage';

/**
 * Translates the subprotocols of Azure Web PubSub to hub messages: joining a group is an invocation whose ack is its
 * completion, data from a group or the server is an invocation of the callback. Source: "Azure Web PubSub supported
 * JSON WebSocket subprotocol", headings "Requests" and "Responses"; "Azure Web PubSub supported protobuf WebSocket
 * subprotocol".
 */

/** The service speaks first, a frame holds one message, and acks have numbers as ids. */
const common = {
  handshake: Buffer.alloc(0),
  stampInCompletion: () => -1,
  find: (_buffer, at, end, span) => {
    span.start = at;
    span.end = span.next = end;
  },
} satisfies Partial<HubCodec>;

const objectStart = Buffer.from('{');
const sequenceStart = Buffer.from('{"sequenceId":');
const ackStart = Buffer.from('{"type":"ack",');

export const webPubSubCodec: HubCodec = {
  ...common,
  protocol: 'webpubsub',
  subprotocol: 'json.webpubsub.azure.v1',
  opcode: opcode.text,
  firstMessageEnd: (buffer, start, end) =>
    greeted(isConnected(frameFields(buffer, start, end)), end),
  // Names of groups and users follow, so that only this is always the same.
  callStart: () => Buffer.from('{"type":"message",'),
  read: (buffer, start, end) => messageOf(frameFields(buffer, start, end)),
  encode: (message) => {
    const isPing = message.type === hubMessageType.ping;
    return Buffer.from(JSON.stringify(isPing ? { type: 'ping' } : membershipOf(message)), 'utf8');
  },
  textBytes: jsonCodec.textBytes,
  layout: jsonLayout,
};

export const reliableWebPubSubCodec: HubCodec = {
  ...webPubSubCodec,
  protocol: 'webpubsubReliable',
  subprotocol: 'json.reliable.webpubsub.azure.v1',
  needsNoHandshake: true,
  recovery: {
    inspect: inspectJson,
    sequenceAck: (sequenceId) =>
      Buffer.from(`{"type":"sequenceAck","sequenceId":${sequenceId}}`, 'latin1'),
  },
  callStart: () => objectStart,
};

/**
 * Without a subprotocol: a client sends messages to the application, and receives bare data. Source: "Client
 * protocols for Azure Web PubSub", heading "Simple WebSocket client".
 */
export const plainWebPubSubCodec: HubCodec = {
  ...common,
  protocol: 'webpubsubNone',
  opcode: opcode.text,
  needsNoHandshake: true,
  callStart: () => objectStart,
  read: (buffer, start, end) => {
    try {
      return delivery(frameFields(buffer, start, end));
    } catch (error) {
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  },
  encode: (message) => {
    if (message.type === hubMessageType.ping) return Buffer.alloc(0);
    throw new Error(`a plain WebSocket has no frame for a hub message of type ${message.type}`);
  },
  textBytes: jsonCodec.textBytes,
  layout: (shape, lengths) => dataLayout(shape, lengths),
};

/** Payloads are JSON as text, which every edition of the schema has. */
export const protobufWebPubSubCodec: HubCodec = {
  ...common,
  protocol: 'webpubsubProtobuf',
  subprotocol: 'protobuf.webpubsub.azure.v1',
  opcode: opcode.binary,
  firstMessageEnd: (buffer, start, end) =>
    greeted(schemaMessageIn(buffer, start, end).type === 'connected', end),
  // Field 2, data; its length follows.
  callStart: () => Buffer.from([0x12]),
  read: (buffer, start, end) => messageOfSchema(schemaMessageIn(buffer, start, end)),
  // The schema has no ping: that of WebSockets is used.
  encode: (message) =>
    message.type === hubMessageType.ping
      ? Buffer.alloc(0)
      : writeProtobufClientMessage(membershipOf(message)),
  textBytes: messagePackCodec.textBytes,
  layout: protobufLayout,
};

export const reliableProtobufWebPubSubCodec: HubCodec = {
  ...protobufWebPubSubCodec,
  protocol: 'webpubsubReliableProtobuf',
  subprotocol: 'protobuf.reliable.webpubsub.azure.v1',
  needsNoHandshake: true,
  recovery: {
    inspect: inspectProtobuf,
    sequenceAck: (sequenceId) => writeProtobufClientMessage({ type: 'sequenceAck', sequenceId }),
  },
};

function greeted(isConnected: boolean, end: number): number {
  if (isConnected) return end;
  throw new HubMessageError('the service did not say that the client is connected');
}

const delivery = (data: unknown): Invocation => ({
  type: hubMessageType.invocation,
  target: callbacks.recordLatency,
  arguments: [data],
});

/**
 * An ack as the completion of an invocation. Source: "Azure Web PubSub supported JSON WebSocket subprotocol", heading
 * "Ack response". @param error absent for success
 */
export function ackCompletion(
  ackId: WireId | string,
  error: { readonly name?: unknown; readonly message?: unknown } | undefined,
): Completion {
  const completion = { type: hubMessageType.completion, invocationId: String(ackId) };
  // Joining twice is fine. A message is sent once, so one that counts as a repeat is lost.
  const isDone = error?.name === 'Duplicate' && Number(ackId) < firstMessageAckId;
  if (error === undefined || isDone) return completion;
  const words = [error.name, error.message].filter(
    (word) => typeof word === 'string' && word !== '',
  );
  return { ...completion, error: words.join(': ') || 'the service refused it' };
}

type JoinOrLeave = Extract<ClientMessage, { type: 'joinGroup' | 'leaveGroup' }>;
const groupTypes: Readonly<Record<string, JoinOrLeave['type']>> = {
  [membershipMethods.join]: 'joinGroup',
  [membershipMethods.leave]: 'leaveGroup',
};

function membershipOf(message: HubMessage): JoinOrLeave {
  const type = message.type === hubMessageType.invocation ? groupTypes[message.target] : undefined;
  if (message.type !== hubMessageType.invocation || type === undefined)
    throw new Error(`Web PubSub has no frame for a hub message of type ${message.type}`);
  const { invocationId, arguments: args } = message;
  const ackId = invocationId === undefined ? undefined : Number(invocationId);
  return { type, group: String(args[0]), ackId };
}

function frameFields(buffer: Buffer, start: number, end: number): JsonObject {
  const fields = parseObject(readUtf8(buffer, start, end));
  if (fields === undefined)
    throw new HubMessageError('a message of the service is not a JSON object');
  return fields;
}

const isConnected = (fields: JsonObject): boolean =>
  fields['type'] === 'system' && fields['event'] === 'connected';

/** The sequence id of a data message that begins with it; 0 for any other frame. */
export function leadingSequenceId(buffer: Buffer, start: number, end: number): number {
  const digitsAt = start + sequenceStart.length;
  if (digitsAt > end || sequenceStart.compare(buffer, start, digitsAt) !== 0) return 0;
  let id = 0;
  for (let at = digitsAt; at < end; at++) {
    const digit = buffer[at]! - 0x30;
    if (digit < 0 || digit > 9) return Number.isSafeInteger(id) ? id : 0;
    id = id * 10 + digit;
  }
  return 0;
}

function inspectJson(buffer: Buffer, start: number, end: number): number | RecoveryTokens {
  const leading = leadingSequenceId(buffer, start, end);
  if (leading > 0) return leading;
  const behind = start + ackStart.length;
  if (behind < end && ackStart.compare(buffer, start, behind) === 0) return 0;
  const fields = frameFields(buffer, start, end);
  const { sequenceId: id, connectionId, reconnectionToken } = fields;
  if (!isConnected(fields)) return typeof id === 'number' && Number.isSafeInteger(id) ? id : 0;
  return {
    connectionId: typeof connectionId === 'string' ? connectionId : undefined,
    reconnectionToken: typeof reconnectionToken === 'string' ? reconnectionToken : undefined,
  };
}

/** The service allows every client to reconnect. */
export const closeMessage = (error: string): HubMessage => ({
  type: hubMessageType.close,
  error,
  allowReconnect: true,
});

function messageOf(fields: JsonObject): HubMessage | undefined {
  switch (fields['type']) {
    case 'message':
      return delivery(fields['data']);
    case 'ack': {
      const refusal = typeof fields['error'] === 'object' ? fields['error'] : undefined;
      const error = fields['success'] === true ? undefined : (refusal ?? {});
      return ackCompletion(String(fields['ackId']), error);
    }
    case 'pong':
      return { type: hubMessageType.ping };
    case 'system': {
      if (fields['event'] !== 'disconnected') return undefined;
      const text = fields['message'];
      return closeMessage(typeof text === 'string' ? text : '');
    }
    default:
      if (typeof fields['type'] !== 'string')
        throw new HubMessageError('a message of the service has no type');
      return undefined;
  }
}

function jsonLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const pieces = new JsonLayoutBuilder(lengths);
  if (shape.toGroup === true) {
    pieces.raw('{"type":"sendToGroup","group":"');
    pieces.hole('receiver', 'text');
    pieces.raw('"');
  } else {
    pieces.raw(`{"type":"event","event":${JSON.stringify(shape.method)}`);
  }
  if (shape.answered === true) {
    pieces.raw(',"ackId":');
    pieces.hole('ackId', 'number');
  }
  pieces.raw(',"dataType":"json","data":');
  pieces.list(shape.arguments);
  pieces.raw('}');
  return pieces.layout();
}

function inspectProtobuf(buffer: Buffer, start: number, end: number): number | RecoveryTokens {
  const { path, members } = serverMessages.message;
  const sequenceId = nestedVarint(buffer, start, end, path[0], members.sequenceId[1]);
  if (sequenceId > 0) return sequenceId;
  const message = schemaMessageIn(buffer, start, end);
  return message.type === 'connected' ? message : 0;
}

function schemaMessageIn(buffer: Buffer, start: number, end: number): ProtobufServerMessage {
  const message = readProtobufServerMessage(buffer.subarray(start, end));
  if (message === undefined)
    throw new HubMessageError('a message of the service does not match its protobuf schema');
  return message;
}

function messageOfSchema(message: ProtobufServerMessage): HubMessage | undefined {
  switch (message.type) {
    case 'message':
      return delivery(message.payload.bytes.toString('utf8'));
    case 'ack':
      return ackCompletion(message.ackId, message.success ? undefined : (message.error ?? {}));
    case 'disconnected':
      return closeMessage(message.message);
    case 'connected':
      return undefined;
  }
}

const textField = 1;

function protobufLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const data = dataLayout(shape, lengths);
  const dataHead = bytesHead(textField, data.body.length);
  const { sendToGroup, event } = clientMessages;
  const { path, members } = shape.toGroup === true ? sendToGroup : event;
  const pieces = new LayoutBuilder(lengths);
  if ('group' in members) {
    pieces.add(bytesHead(members.group[1], lengths.receiver));
    pieces.hole('receiver', 'text');
  } else {
    pieces.add(field(members.event[1], shape.method));
  }
  if (shape.answered === true) {
    pieces.add(varintHead(members.ackId[1]));
    pieces.hole('ackId', 'varint', messageAckId.varintBytes);
  }
  pieces.add(bytesHead(members.payload[1], dataHead.length + data.body.length), dataHead);
  pieces.nested(data);
  return pieces.layout((length) => bytesHead(path[0], length));
}

function dataLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const pieces = new JsonLayoutBuilder(lengths);
  pieces.list(shape.arguments);
  return pieces.layout();
}
