import type { ProtobufClientMessage, WireId } from './clientMessage';
import { noData } from './payload';
import { bytesIn, field, idIn, textIn, visitFields } from './protobufFields';
import { protobufPayload, readProtobufPayload } from './protobufPayload';

/**
 * What clients of `protobuf.webpubsub.azure.v1` and its reliable sister send: one `UpstreamMessage` per
 * binary frame.
 */

const kinds = { sendToGroup: 1, event: 5, joinGroup: 6, leaveGroup: 7, sequenceAck: 8 } as const;

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export function readProtobufClientMessage(bytes: Buffer): ProtobufClientMessage | undefined {
  let message: ProtobufClientMessage | undefined;
  try {
    visitFields(bytes, (number, value) => {
      message = messageIn(number, bytesIn(value)) ?? message;
    });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return message;
}

function messageIn(kind: number, body: Buffer): ProtobufClientMessage | undefined {
  switch (kind) {
    case kinds.sendToGroup:
      return sendToGroup(body);
    case kinds.event:
      return sendEvent(body);
    case kinds.joinGroup:
      return { type: 'joinGroup', ...joinOrLeave(body) };
    case kinds.leaveGroup:
      return { type: 'leaveGroup', ...joinOrLeave(body) };
    case kinds.sequenceAck: {
      let sequenceId: WireId = 0;
      visitFields(body, (number, value) => {
        if (number === 1) sequenceId = idIn(value);
      });
      return { type: 'sequenceAck', sequenceId };
    }
    default:
      return undefined;
  }
}

function sendToGroup(body: Buffer): ProtobufClientMessage {
  let [group, noEcho, payload] = ['', false, noData];
  let ackId: WireId | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) group = textIn(value);
    if (number === 2) ackId = idIn(value);
    if (number === 3) payload = readProtobufPayload(bytesIn(value));
    if (number === 4) noEcho = idIn(value) !== 0;
  });
  return { type: 'sendToGroup', group, ackId, noEcho, payload };
}

function sendEvent(body: Buffer): ProtobufClientMessage {
  let [event, payload] = ['', noData];
  let ackId: WireId | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) event = textIn(value);
    if (number === 2) payload = readProtobufPayload(bytesIn(value));
    if (number === 3) ackId = idIn(value);
  });
  return { type: 'event', event, ackId, payload };
}

function joinOrLeave(body: Buffer): { group: string; ackId: WireId | undefined } {
  let group = '';
  let ackId: WireId | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) group = textIn(value);
    if (number === 2) ackId = idIn(value);
  });
  return { group, ackId };
}

/** The payload of the binary frame that carries a message. */
export function writeProtobufClientMessage(message: ProtobufClientMessage): Buffer {
  return field(kinds[message.type], Buffer.concat(bodyOf(message)));
}

function bodyOf(message: ProtobufClientMessage): Buffer[] {
  switch (message.type) {
    case 'sendToGroup':
      return [
        field(1, message.group),
        field(2, message.ackId),
        ...protobufPayload(3, message.payload),
        field(4, message.noEcho ? 1 : undefined),
      ];
    case 'event':
      return [
        field(1, message.event),
        ...protobufPayload(2, message.payload),
        field(3, message.ackId),
      ];
    case 'joinGroup':
    case 'leaveGroup':
      return [field(1, message.group), field(2, message.ackId)];
    case 'sequenceAck':
      return [field(1, message.sequenceId)];
  }
}
