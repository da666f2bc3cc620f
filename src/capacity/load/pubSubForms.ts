import type { Subprotocol } from '../../scenario/scenario';

/** A message of a client or an application on its way to a client of Azure Web PubSub; lengths in bytes. */
interface Delivered {
  /** JSON text. */
  readonly data: number;
  /** Name of the group it was sent to; absent: it comes from the application. */
  readonly group: number | undefined;
  /** User id of the client that sent it; absent: none is told. */
  readonly user: number | undefined;
}

/** Digits, and bytes as a varint, that a message's number has in a run of usual length. */
const sequenceId = { digits: 5, varintBytes: 3 } as const;

/**
 * Bytes of the message. Sources: "Azure Web PubSub supported JSON WebSocket subprotocol" and "… protobuf
 * WebSocket subprotocol", heading "Responses".
 */
export function pubSubDelivery(subprotocol: Subprotocol, message: Delivered): number {
  switch (subprotocol) {
    case 'none':
      return message.data;
    case 'json':
      return jsonDelivery(message);
    case 'reliableJson':
      return jsonDelivery(message) + '"sequenceId":,'.length + sequenceId.digits;
    case 'protobuf':
      return protobufDelivery(message, 0);
    case 'reliableProtobuf':
      return protobufDelivery(message, 1 + sequenceId.varintBytes);
  }
}

function jsonDelivery({ data, group, user }: Delivered): number {
  const literal = '{"type":"message","from":"","dataType":"json","data":}'.length;
  const optional = (key: string, bytes: number | undefined): number =>
    bytes === undefined ? 0 : `"${key}":"",`.length + bytes;
  return (
    literal + from(group).length + optional('fromUserId', user) + optional('group', group) + data
  );
}

/** `DownstreamMessage { DataMessage { from, group, MessageData { text } } }`, which names no user. */
function protobufDelivery({ data, group }: Delivered, more: number): number {
  const text = withHead(data);
  const body =
    withHead(from(group).length) + (group === undefined ? 0 : withHead(group)) + withHead(text);
  return withHead(body + more);
}

const from = (group: number | undefined): string => (group === undefined ? 'server' : 'group');

/** A field with its key and its length. */
const withHead = (bytes: number): number => 1 + varintBytes(bytes) + bytes;
const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : 1 + varintBytes(Math.floor(value / 0x80));
