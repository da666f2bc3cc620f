import type { ClientMessage } from './clientMessage';
import type { JsonFrame } from './jsonFrame';
import { jsonId, jsonPayload, readFrame } from './jsonFrame';

/**
 * What clients of `json.webpubsub.azure.v1` and its reliable sister send: one JSON object per text frame.
 */

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export const readJsonClientMessage = (bytes: Buffer): ClientMessage | undefined =>
  readFrame(bytes, messageIn);

function messageIn(frame: JsonFrame): ClientMessage {
  const type = frame.text('type');
  switch (type) {
    case 'joinGroup':
    case 'leaveGroup':
      return { type, group: frame.text('group'), ackId: frame.id('ackId') };
    case 'sendToGroup':
      return frame.has('stream') ? streamStart(frame) : sendToGroup(frame);
    case 'event':
      return {
        type,
        event: frame.text('event'),
        ackId: frame.id('ackId'),
        payload: frame.payload(),
      };
    case 'sequenceAck': {
      const sequenceId = frame.id('sequenceId');
      if (sequenceId === undefined) throw new SyntaxError('no sequence id');
      return { type, sequenceId };
    }
    case 'ping':
      return { type };
    case 'invoke':
      if (frame.text('target') !== 'event') throw new SyntaxError('unknown target');
      return {
        type,
        invocationId: frame.text('invocationId'),
        event: frame.text('event'),
        payload: frame.payload(),
      };
    case 'cancelInvocation':
      return { type, invocationId: frame.text('invocationId') };
    case 'streamData':
    case 'streamEnd':
      return { type: 'stream', streamId: frame.text('streamId') };
    default:
      throw new SyntaxError('unknown type');
  }
}

function sendToGroup(frame: JsonFrame): ClientMessage {
  return {
    type: 'sendToGroup',
    group: frame.text('group'),
    ackId: frame.id('ackId'),
    noEcho: frame.flag('noEcho'),
    payload: frame.payload(),
  };
}

function streamStart(frame: JsonFrame): ClientMessage {
  const { streamId } = frame.value('stream') as { streamId?: unknown };
  if (typeof streamId !== 'string') throw new SyntaxError('no stream id');
  return { type: 'stream', streamId };
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
