import { callbacks } from '../../base/benchContract';
import { opcode } from '../socket/frame';
import type { HubCodec, Recoverable } from '../hub/hubCodec';
import { hubMessageType, HubMessageError, textIn, type HubMessage } from '../hub/hubMessage';
import {
  JsonPieces,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';
import { ackCompletion, groupTypeOf } from './ackCompletion';

const objectStart = Buffer.from('{');
const sequenceStart = Buffer.from('{"sequenceId":');
const ackStart = Buffer.from('{"type":"ack",');

/**
 * `json.webpubsub.azure.v1` in the words of a hub, so that everything above the wire stays the same: joining
 * a group is an invocation whose ack is its completion, what a group or the server sends is a delivery.
 * Source: "Azure Web PubSub supported JSON WebSocket subprotocol", headings "Requests" and "Responses".
 */
export const webPubSubCodec: HubCodec = {
  protocol: 'webpubsub',
  subprotocol: 'json.webpubsub.azure.v1',
  opcode: opcode.text,
  // The service speaks first.
  handshake: Buffer.alloc(0),
  greetingEnd: (buffer, start, end) => {
    if (isConnected(frameFields(buffer, start, end))) return end;
    throw new HubMessageError('the service did not say that the client is connected');
  },
  // Names of groups and users follow, so that only this is always the same.
  callStart: () => Buffer.from('{"type":"message",'),
  // Acks have numbers for ids.
  answeredStamp: () => -1,
  find: (_buffer, at, end, span) => {
    span.start = at;
    span.end = end;
    span.next = end;
  },
  read: (buffer, start, end) => messageOf(frameFields(buffer, start, end)),
  encode: (message) => Buffer.from(JSON.stringify(frameOf(message)), 'utf8'),
  textBytes: (text) => Buffer.from(JSON.stringify(text).slice(1, -1), 'utf8'),
  layout: webPubSubLayout,
};

/** The same with numbered messages, which are acknowledged, and a lost socket that can be replaced. */
export const reliableWebPubSubCodec: HubCodec = {
  ...webPubSubCodec,
  protocol: 'webpubsubReliable',
  subprotocol: 'json.reliable.webpubsub.azure.v1',
  opensAtOnce: true,
  recovery: {
    noted: notedIn,
    sequenceAck: (sequenceId) =>
      Buffer.from(`{"type":"sequenceAck","sequenceId":${sequenceId}}`, 'latin1'),
  },
  // The sequence id may come first.
  callStart: () => objectStart,
};

/**
 * No subprotocol at all: what a client sends is a message to the application, and whatever comes is what
 * somebody has sent. Source: "Client protocols for Azure Web PubSub", heading "Simple WebSocket client".
 */
export const plainWebPubSubCodec: HubCodec = {
  protocol: 'webpubsubNone',
  opcode: opcode.text,
  handshake: Buffer.alloc(0),
  opensAtOnce: true,
  callStart: () => objectStart,
  answeredStamp: () => -1,
  find: webPubSubCodec.find,
  read: (buffer, start, end) => {
    try {
      const data = frameFields(buffer, start, end);
      return {
        type: hubMessageType.invocation,
        target: callbacks.recordLatency,
        arguments: [data],
      };
    } catch (error) {
      // Anybody may send anything, and nothing of it is wrong.
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  },
  encode: (message) => {
    if (message.type === hubMessageType.ping) return Buffer.alloc(0);
    throw new Error(`a plain WebSocket has no frame for a hub message of type ${message.type}`);
  },
  textBytes: webPubSubCodec.textBytes,
  layout: (shape, lengths) => {
    const pieces = new JsonPieces(lengths);
    pieces.list(shape.arguments);
    return pieces.layout();
  },
};

type Fields = Readonly<Record<string, unknown>>;

/**
 * The JSON object in a frame.
 *
 * @throws HubMessageError when it is none, or no UTF-8
 */
function frameFields(buffer: Buffer, start: number, end: number): Fields {
  const text = textIn(buffer, start, end);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new HubMessageError('a message of the service is no JSON object');
  return value as Fields;
}

/** Whether the service says that the client is connected. */
const isConnected = (fields: Fields): boolean =>
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

function notedIn(buffer: Buffer, start: number, end: number): number | Recoverable {
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

function messageOf(fields: Fields): HubMessage | undefined {
  switch (fields['type']) {
    case 'message':
      return {
        type: hubMessageType.invocation,
        target: callbacks.recordLatency,
        arguments: [fields['data']],
      };
    case 'ack':
      return completionOf(fields);
    case 'pong':
      return { type: hubMessageType.ping };
    case 'system': {
      if (fields['event'] !== 'disconnected') return undefined;
      const text = fields['message'];
      return { type: hubMessageType.close, error: typeof text === 'string' ? text : '' };
    }
    default:
      if (typeof fields['type'] !== 'string')
        throw new HubMessageError('a message of the service has no type');
      return undefined;
  }
}

function completionOf(fields: Fields): HubMessage {
  const refusal = typeof fields['error'] === 'object' ? fields['error'] : undefined;
  return ackCompletion(
    String(fields['ackId']),
    fields['success'] === true ? undefined : (refusal ?? {}),
  );
}

function frameOf(message: HubMessage): object {
  if (message.type === hubMessageType.ping) return { type: 'ping' };
  const type = groupTypeOf(message);
  if (message.type !== hubMessageType.invocation || type === undefined)
    throw new Error(`Web PubSub has no frame for a hub message of type ${message.type}`);
  const ackId = message.invocationId === undefined ? {} : { ackId: Number(message.invocationId) };
  return { type, group: message.arguments[0], ...ackId };
}

/** A message to a group where the receiver is one, else an event that the application answers. */
export function webPubSubLayout(shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const pieces = new JsonPieces(lengths);
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
