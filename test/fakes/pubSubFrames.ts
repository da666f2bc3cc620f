import { JsonFrame, jsonId, jsonPayload } from '../../src/wire/webpubsub/jsonMessages';
import {
  readOrUndefined,
  type ClientMessage,
  type MessageError,
  type ServerMessage,
} from '../../src/wire/webpubsub/pubSubMessage';

/** The client's side of JSON frames of Web PubSub: reads what a service sends, and writes all a client may. */

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export const readJsonServerMessage = (bytes: Buffer): ServerMessage | undefined =>
  readOrUndefined(() => messageIn(new JsonFrame(bytes)));

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

const optionalText = (frame: JsonFrame, key: string): string | undefined =>
  frame.has(key) ? frame.text(key) : undefined;

function systemMessage(frame: JsonFrame): ServerMessage {
  switch (frame.text('event')) {
    case 'connected':
      return {
        type: 'connected',
        connectionId: frame.text('connectionId'),
        userId: optionalText(frame, 'userId'),
        reconnectionToken: optionalText(frame, 'reconnectionToken'),
      };
    case 'disconnected':
      return { type: 'disconnected', message: optionalText(frame, 'message') ?? '' };
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
    group: optionalText(frame, 'group'),
    fromUserId: optionalText(frame, 'fromUserId'),
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
export function writeJsonClientMessage(
  message: Exclude<ClientMessage, { type: 'stream' }>,
): Buffer {
  switch (message.type) {
    case 'sendToGroup':
      return withPayload(
        `"group":${JSON.stringify(message.group)}${jsonId('ackId', message.ackId)}${
          message.noEcho ? ',"noEcho":true' : ''
        }`,
        message,
      );
    case 'event':
      return withPayload(
        `"event":${JSON.stringify(message.event)}${jsonId('ackId', message.ackId)}`,
        message,
      );
    case 'invoke':
      return withPayload(
        `"invocationId":${JSON.stringify(message.invocationId)},"target":"event","event":${JSON.stringify(message.event)}`,
        message,
      );
    case 'joinGroup':
    case 'leaveGroup':
      return Buffer.from(
        `{"type":"${message.type}","group":${JSON.stringify(message.group)}${jsonId('ackId', message.ackId)}}`,
      );
    case 'sequenceAck':
      return Buffer.from(`{"type":"sequenceAck"${jsonId('sequenceId', message.sequenceId)}}`);
    case 'cancelInvocation':
    case 'ping':
      return Buffer.from(JSON.stringify(message));
  }
}

function withPayload(
  members: string,
  { type, payload }: Extract<ClientMessage, { payload: unknown }>,
): Buffer {
  return Buffer.concat([
    Buffer.from(`{"type":"${type}",${members},`),
    ...jsonPayload(payload),
    Buffer.from('}'),
  ]);
}
