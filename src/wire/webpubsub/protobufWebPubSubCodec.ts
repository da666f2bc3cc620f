import { callbacks } from '../../base/benchContract';
import { opcode } from '../socket/frame';
import type { HubCodec, Recoverable } from '../hub/hubCodec';
import { hubMessageType, HubMessageError, type HubMessage } from '../hub/hubMessage';
import {
  JsonPieces,
  Pieces,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';
import { ackCompletion, groupTypeOf, messageAckId } from './ackCompletion';
import { bytesHead, field, nestedVarint, varintHead } from './protobufFields';
import { writeProtobufClientMessage } from './protobufClientMessage';
import { readProtobufServerMessage } from './protobufServerMessage';
import type { ProtobufServerMessage } from './serverMessage';

/** Fields of the schema: kinds of messages, and text in the data of one. */
const fields = { sendToGroup: 1, event: 5, text: 1 } as const;
/** Fields of what the service sends: a data message and the number in it. */
const dataField = 2;
const sequenceIdField = 4;

/**
 * `protobuf.webpubsub.azure.v1` in the words of a hub, as {@link import('./webPubSubCodec').webPubSubCodec}
 * does it for JSON. Payloads are JSON as text, which every edition of the schema has. Source: "Azure Web
 * PubSub supported protobuf WebSocket subprotocol".
 */
export const protobufWebPubSubCodec: HubCodec = {
  protocol: 'webpubsubProtobuf',
  subprotocol: 'protobuf.webpubsub.azure.v1',
  opcode: opcode.binary,
  handshake: Buffer.alloc(0),
  greetingEnd: (buffer, start, end) => {
    if (messageIn(buffer, start, end).type === 'connected') return end;
    throw new HubMessageError('the service did not say that the client is connected');
  },
  // Field 2, data; its length follows.
  callStart: () => Buffer.from([0x12]),
  answeredStamp: () => -1,
  find: (_buffer, at, end, span) => {
    span.start = at;
    span.end = end;
    span.next = end;
  },
  read: (buffer, start, end) => hubMessageOf(messageIn(buffer, start, end)),
  encode: encodeMessage,
  textBytes: (text) => Buffer.from(text, 'utf8'),
  layout: protobufLayout,
};

/** The same with numbered messages, which are acknowledged, and a lost socket that can be replaced. */
export const reliableProtobufWebPubSubCodec: HubCodec = {
  ...protobufWebPubSubCodec,
  protocol: 'webpubsubReliableProtobuf',
  subprotocol: 'protobuf.reliable.webpubsub.azure.v1',
  opensAtOnce: true,
  recovery: {
    noted: notedIn,
    sequenceAck: (sequenceId) => writeProtobufClientMessage({ type: 'sequenceAck', sequenceId }),
  },
};

function notedIn(buffer: Buffer, start: number, end: number): number | Recoverable {
  const sequenceId = nestedVarint(buffer, start, end, dataField, sequenceIdField);
  if (sequenceId > 0) return sequenceId;
  const message = messageIn(buffer, start, end);
  return message.type === 'connected' ? message : 0;
}

function messageIn(buffer: Buffer, start: number, end: number): ProtobufServerMessage {
  const message = readProtobufServerMessage(buffer.subarray(start, end));
  if (message === undefined)
    throw new HubMessageError('a message of the service is none of its protobuf schema');
  return message;
}

function hubMessageOf(message: ProtobufServerMessage): HubMessage | undefined {
  switch (message.type) {
    case 'message': {
      const text = message.payload.bytes.toString('utf8');
      return {
        type: hubMessageType.invocation,
        target: callbacks.recordLatency,
        arguments: [text],
      };
    }
    case 'ack': {
      const { ackId, success, error } = message;
      return ackCompletion(ackId, success ? undefined : (error ?? {}));
    }
    case 'disconnected':
      return { type: hubMessageType.close, error: message.message };
    case 'connected':
      return undefined;
  }
}

function encodeMessage(message: HubMessage): Buffer {
  // The schema has no ping: that of WebSockets takes its place.
  if (message.type === hubMessageType.ping) return Buffer.alloc(0);
  const type = groupTypeOf(message);
  if (message.type !== hubMessageType.invocation || type === undefined)
    throw new Error(`Web PubSub has no frame for a hub message of type ${message.type}`);
  const { invocationId } = message;
  const ackId = invocationId === undefined ? undefined : Number(invocationId);
  return writeProtobufClientMessage({ type, group: String(message.arguments[0]), ackId });
}

/** A message to a group where the receiver is one, else an event that the application answers. */
function protobufLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const json = new JsonPieces(lengths);
  json.list(shape.arguments);
  const data = json.layout();
  const textHead = bytesHead(fields.text, data.body.length);
  const dataBytes = textHead.length + data.body.length;
  const pieces = new Pieces(lengths);
  const isGroup = shape.toGroup === true;
  if (isGroup) {
    pieces.add(bytesHead(1, lengths.receiver));
    pieces.hole('receiver', 'text');
  } else {
    pieces.add(field(1, shape.method));
  }
  if (shape.answered === true) {
    pieces.add(varintHead(isGroup ? 2 : 3));
    pieces.hole('ackId', 'varint', messageAckId.varintBytes);
  }
  pieces.add(bytesHead(isGroup ? 3 : 2, dataBytes), textHead);
  pieces.nested(data);
  return pieces.layout((length) => bytesHead(isGroup ? fields.sendToGroup : fields.event, length));
}
