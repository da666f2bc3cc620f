import type { HubProtocol, Subprotocol } from '../../scenario/scenario';

/** What stands in a hub message, as far as its length goes; lengths are bytes as UTF-8. */
export type Content =
  | { readonly kind: 'text' | 'bytes'; readonly bytes: number }
  /** Digits in JSON, and bytes with their head in MessagePack. */
  | { readonly kind: 'number'; readonly digits: number; readonly packed: number }
  | { readonly kind: 'list'; readonly items: readonly Content[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [string, Content])[] }
  /** As the user wrote it; its length as JSON text stands for that in any protocol. */
  | { readonly kind: 'written'; readonly bytes: number };

/** Bytes of whole hub messages in one protocol, with what marks their end. */
export interface HubForm {
  /** @param id bytes of the invocation's id; absent: it has none */
  invocation(method: string, args: Content, id?: number): number;
  completion(id: number, result: Content): number;
  item(id: number, content: Content): number;
  /** Of these bytes of a whole message, how many only mark where it ends. */
  endBytes(message: number): number;
  /** The message of Azure SignalR Service that brings a client's message to an app server. */
  connectionData(connectionId: number, message: number): number;
}

/** Source: "SignalR Hub Protocol", heading "JSON Encoding". */
export function jsonBytes(content: Content): number {
  switch (content.kind) {
    case 'text':
      return content.bytes + 2;
    case 'number':
      return content.digits;
    case 'list':
      return 2 + sumOf(content.items, jsonBytes) + commas(content.items.length);
    case 'map': {
      const { members } = content;
      return (
        2 +
        sumOf(members, ([key, value]) => key.length + 3 + jsonBytes(value)) +
        commas(members.length)
      );
    }
    // Bytes go out as text: only MessagePack has them.
    case 'bytes':
      return content.bytes + 2;
    case 'written':
      return content.bytes;
  }
}

const commas = (items: number): number => Math.max(0, items - 1);

const sumOf = <T>(items: readonly T[], bytesOf: (item: T) => number): number =>
  items.reduce((sum, item) => sum + bytesOf(item), 0);

/** Source: the specification of MessagePack, headings "str", "bin", "array", "map". */
function packedBytes(content: Content): number {
  switch (content.kind) {
    case 'text':
      return packedText(content.bytes);
    case 'bytes':
      return binaryHead(content.bytes) + content.bytes;
    case 'number':
      return content.packed;
    case 'list':
      return 1 + sumOf(content.items, packedBytes);
    case 'map':
      return (
        1 + sumOf(content.members, ([key, value]) => packedText(key.length) + packedBytes(value))
      );
    case 'written':
      return content.bytes;
  }
}

const packedText = (bytes: number): number => (bytes < 32 ? 1 : binaryHead(bytes)) + bytes;
const binaryHead = (bytes: number): number => (bytes < 0x100 ? 2 : bytes < 0x10000 ? 3 : 5);

/** A message with its length before it, seven bits in each byte. */
const withLength = (bytes: number): number => bytes + lengthBytes(bytes);
const lengthBytes = (bytes: number): number =>
  bytes < 0x80 ? 1 : 1 + lengthBytes(Math.floor(bytes / 0x80));

/** `[6, connection id, bytes, {}]`; its framing is that of MessagePack whatever the client speaks. */
const connectionData = (connectionId: number, message: number): number =>
  withLength(2 + packedText(connectionId) + binaryHead(message) + message + 1);

const json = (literal: string, ...parts: readonly number[]): number =>
  parts.reduce((sum, part) => sum + part, literal.length);

export const hubForms: Readonly<Record<HubProtocol, HubForm>> = {
  json: {
    invocation: (method, args, id) =>
      json(`{"type":1,"target":"${method}","arguments":}\x1e`, jsonBytes(args)) +
      (id === undefined ? 0 : json('"invocationId":"",', id)),
    completion: (id, result) =>
      json('{"type":3,"invocationId":"","result":}\x1e', id, jsonBytes(result)),
    item: (id, content) => json('{"type":2,"invocationId":"","item":}\x1e', id, jsonBytes(content)),
    endBytes: () => 1,
    connectionData,
  },
  messagepack: {
    // [1, {}, id or nil, method, arguments, []]
    invocation: (method, args, id) =>
      withLength(
        3 +
          (id === undefined ? 1 : packedText(id)) +
          packedText(method.length) +
          packedBytes(args) +
          1,
      ),
    // [3, {}, id, kind, result]
    completion: (id, result) => withLength(3 + packedText(id) + 1 + packedBytes(result)),
    // [2, {}, id, item]
    item: (id, content) => withLength(3 + packedText(id) + packedBytes(content)),
    endBytes: (message) => lengthBytes(message - lengthBytes(message)),
    connectionData,
  },
};

/** A message of a client or an application on its way to a client of Azure Web PubSub; lengths in bytes. */
interface Delivered {
  readonly data: number;
  /** Name of the group it was sent to; absent: it comes from the application. */
  readonly group: number | undefined;
  /** User id of the client that sent it; absent: none is named. */
  readonly user: number | undefined;
}

/** Digits, and bytes as a varint, that a message's number has in a run of usual length. */
const sequenceId = { digits: 5, varintBytes: 3 } as const;

/** Sources: "Azure Web PubSub supported JSON WebSocket subprotocol" and "… protobuf …", heading "Responses". */
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

const withHead = (bytes: number): number => 1 + varintBytes(bytes) + bytes;
const varintBytes = (value: number): number =>
  value < 0x80 ? 1 : 1 + varintBytes(Math.floor(value / 0x80));
