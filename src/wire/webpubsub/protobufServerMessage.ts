import type { WireId } from './clientMessage';
import { noData } from './payload';
import { bytesHead, bytesIn, field, idIn, textIn, visitFields } from './protobufFields';
import { protobufPayload, readProtobufPayload } from './protobufPayload';
import type { Connected, DataMessage, MessageError, ProtobufServerMessage } from './serverMessage';

/**
 * What the service sends to clients of `protobuf.webpubsub.azure.v1` and its reliable sister: one
 * `DownstreamMessage` per binary frame.
 */

const kinds = { ack: 1, data: 2, system: 3 } as const;
const systemKinds = { connected: 1, disconnected: 2 } as const;
const disconnectedReason = 2;
const dataField = 3;
const sequenceIdField = 4;

/** The message in a frame, undefined when it is malformed or of an unknown type. */
export function readProtobufServerMessage(bytes: Buffer): ProtobufServerMessage | undefined {
  let message: ProtobufServerMessage | undefined;
  try {
    visitFields(bytes, (kind, value) => {
      if (kind === kinds.ack) message = ackIn(bytesIn(value));
      if (kind === kinds.data) message = dataIn(bytesIn(value));
      if (kind === kinds.system) message = systemIn(bytesIn(value));
    });
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  return message;
}

function ackIn(body: Buffer): ProtobufServerMessage {
  let ackId: WireId = 0;
  let success = false;
  let error: MessageError | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) ackId = idIn(value);
    if (number === 2) success = idIn(value) !== 0;
    if (number === 3) error = errorIn(bytesIn(value));
  });
  return { type: 'ack', ackId, success, error };
}

function errorIn(body: Buffer): MessageError {
  let [name, message] = ['', ''];
  visitFields(body, (number, value) => {
    if (number === 1) name = textIn(value);
    if (number === 2) message = textIn(value);
  });
  return { name, message };
}

function dataIn(body: Buffer): ProtobufServerMessage {
  let [from, payload] = ['', noData];
  let group: string | undefined;
  let sequenceId: WireId | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) from = textIn(value);
    if (number === 2) group = textIn(value);
    if (number === dataField) payload = readProtobufPayload(bytesIn(value));
    if (number === sequenceIdField) sequenceId = idIn(value);
  });
  if (from !== 'group' && from !== 'server') throw new SyntaxError('unknown sender');
  return { type: 'message', from, group, fromUserId: undefined, sequenceId, payload };
}

function systemIn(body: Buffer): ProtobufServerMessage {
  let message: ProtobufServerMessage | undefined;
  visitFields(body, (kind, value) => {
    if (kind === systemKinds.connected) message = connectedIn(bytesIn(value));
    if (kind === systemKinds.disconnected) {
      let reason = '';
      visitFields(bytesIn(value), (number, text) => {
        if (number === disconnectedReason) reason = textIn(text);
      });
      message = { type: 'disconnected', message: reason };
    }
  });
  if (message === undefined) throw new SyntaxError('unknown system message');
  return message;
}

function connectedIn(body: Buffer): Connected {
  let connectionId = '';
  let userId: string | undefined;
  let reconnectionToken: string | undefined;
  visitFields(body, (number, value) => {
    if (number === 1) connectionId = textIn(value);
    if (number === 2) userId = textIn(value);
    if (number === 3) reconnectionToken = textIn(value);
  });
  return { type: 'connected', connectionId, userId, reconnectionToken };
}

/** The payload of the binary frame that carries a message. */
export function writeProtobufServerMessage(message: ProtobufServerMessage): Buffer {
  switch (message.type) {
    case 'ack': {
      const { ackId, success, error } = message;
      const parts = [field(1, ackId), field(2, success ? 1 : undefined)];
      if (error !== undefined) {
        parts.push(field(3, Buffer.concat([field(1, error.name), field(2, error.message)])));
      }
      return field(kinds.ack, Buffer.concat(parts));
    }
    case 'connected': {
      const { connectionId, userId, reconnectionToken } = message;
      const parts = [field(1, connectionId), field(2, userId), field(3, reconnectionToken)];
      return system(systemKinds.connected, Buffer.concat(parts));
    }
    case 'disconnected':
      return system(systemKinds.disconnected, field(disconnectedReason, message.message));
    case 'message': {
      const tail = protobufDataTail(message);
      return Buffer.concat([protobufDataHead(message.sequenceId, tail.length), tail]);
    }
  }
}

const system = (kind: number, body: Buffer): Buffer => field(kinds.system, field(kind, body));

/** The part of a data message in which the copies for several receivers differ. */
export function protobufDataHead(sequenceId: WireId | undefined, tailBytes: number): Buffer {
  const number = field(sequenceIdField, sequenceId);
  return Buffer.concat([bytesHead(kinds.data, number.length + tailBytes), number]);
}

/** What follows the head, the same for all receivers. */
export function protobufDataTail({ from, group, payload }: DataMessage): Buffer {
  return Buffer.concat([field(1, from), field(2, group), ...protobufPayload(dataField, payload)]);
}
