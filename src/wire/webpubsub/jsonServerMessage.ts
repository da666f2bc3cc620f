import type { WireId } from './clientMessage';
import type { JsonFrame } from './jsonFrame';
import { jsonId, jsonPayload, readFrame } from './jsonFrame';
import type { DataMessage, MessageError, ServerMessage } from './serverMessage';

/**
 * What the service sends to clients of `json.webpubsub.azure.v1` and its reliable sister: one JSON object
 * per text frame.
 */

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export const readJsonServerMessage = (bytes: Buffer): ServerMessage | undefined =>
  readFrame(bytes, messageIn);

function messageIn(frame: JsonFrame): ServerMessage {
  const type = frame.text('type');
  switch (type) {
    case 'system':
      return systemMessage(frame);
    case 'message':
      return dataMessage(frame);
    case 'ack': {
      const ackId = frame.id('ackId');
      if (ackId === undefined) throw new SyntaxError('no ack id');
      return { type, ackId, success: frame.flag('success'), error: errorIn(frame) };
    }
    case 'pong':
      return { type };
    case 'invokeResponse':
      return {
        type,
        invocationId: frame.text('invocationId'),
        success: frame.flag('success'),
        payload: frame.has('dataType') ? frame.payload() : undefined,
        error: errorIn(frame),
      };
    case 'streamClosed':
      return {
        type,
        streamId: frame.text('streamId'),
        error: errorIn(frame) ?? { name: '', message: '' },
      };
    default:
      throw new SyntaxError('unknown type');
  }
}

function systemMessage(frame: JsonFrame): ServerMessage {
  switch (frame.text('event')) {
    case 'connected':
      return {
        type: 'connected',
        connectionId: frame.text('connectionId'),
        userId: frame.optionalText('userId'),
        reconnectionToken: frame.optionalText('reconnectionToken'),
      };
    case 'disconnected':
      return { type: 'disconnected', message: frame.optionalText('message') ?? '' };
    default:
      throw new SyntaxError('unknown event');
  }
}

function dataMessage(frame: JsonFrame): ServerMessage {
  const from = frame.text('from');
  if (from !== 'group' && from !== 'server') throw new SyntaxError('unknown sender');
  return {
    type: 'message',
    from,
    group: frame.optionalText('group'),
    fromUserId: frame.optionalText('fromUserId'),
    sequenceId: frame.id('sequenceId'),
    payload: frame.payload(),
  };
}

function errorIn(frame: JsonFrame): MessageError | undefined {
  const error = frame.value('error');
  if (error === undefined) return undefined;
  const { name, message } = error as { name?: unknown; message?: unknown };
  return {
    name: typeof name === 'string' ? name : '',
    message: typeof message === 'string' ? message : '',
  };
}

/** The payload of the text frame that carries a message. */
export function writeJsonServerMessage(message: ServerMessage): Buffer {
  switch (message.type) {
    case 'connected': {
      const { type: event, connectionId, userId, reconnectionToken } = message;
      return text({ type: 'system', event, userId, connectionId, reconnectionToken });
    }
    case 'disconnected':
      return text({ type: 'system', event: message.type, message: message.message });
    case 'ack': {
      const error = message.error === undefined ? '' : `,"error":${JSON.stringify(message.error)}`;
      return Buffer.from(
        `{"type":"ack"${jsonId('ackId', message.ackId)},"success":${message.success}${error}}`,
      );
    }
    case 'message': {
      const tail = jsonDataTail(message);
      return Buffer.concat([jsonDataHead(message.sequenceId), tail]);
    }
    case 'invokeResponse': {
      const { payload, ...members } = message;
      if (payload === undefined) return text(members);
      const head = Buffer.from(`${JSON.stringify(members).slice(0, -1)},`);
      return Buffer.concat([head, ...jsonPayload(payload), Buffer.from('}')]);
    }
    case 'streamClosed':
    case 'pong':
      return text(message);
  }
}

const text = (members: object): Buffer => Buffer.from(JSON.stringify(members));

const plainHead = Buffer.from('{');

/** The part of a data message in which the copies for several receivers differ. */
export const jsonDataHead = (sequenceId: WireId | undefined): Buffer =>
  sequenceId === undefined ? plainHead : Buffer.from(`{"sequenceId":${sequenceId},`);

/** What follows the head, the same for all receivers. */
export function jsonDataTail({ from, group, fromUserId, payload }: DataMessage): Buffer {
  const members = [
    `"type":"message","from":"${from}"`,
    ...(fromUserId === undefined ? [] : [`"fromUserId":${JSON.stringify(fromUserId)}`]),
    ...(group === undefined ? [] : [`"group":${JSON.stringify(group)}`]),
  ];
  const head = Buffer.from(`${members.join(',')},`);
  return Buffer.concat([head, ...jsonPayload(payload), Buffer.from('}')]);
}
