/** What Azure Web PubSub and its PubSub clients say to each other, free of how frames carry it. */

/** How PubSub clients talk: a form of frames, with or without recovery. */
export interface Subprotocol {
  /** As in `Sec-WebSocket-Protocol`. */
  readonly name: string;
  readonly format: 'json' | 'protobuf';
  /** Messages are numbered and acknowledged, and a lost socket can be replaced. */
  readonly isReliable: boolean;
}

export const subprotocols: readonly Subprotocol[] = [
  { name: 'json.webpubsub.azure.v1', format: 'json', isReliable: false },
  { name: 'json.reliable.webpubsub.azure.v1', format: 'json', isReliable: true },
  { name: 'protobuf.webpubsub.azure.v1', format: 'protobuf', isReliable: false },
  { name: 'protobuf.reliable.webpubsub.azure.v1', format: 'protobuf', isReliable: true },
];

/** The subprotocol of that name; undefined for a name of somebody else. */
export const subprotocolNamed = (name: string): Subprotocol | undefined =>
  subprotocols.find((subprotocol) => subprotocol.name === name);

/** An unsigned 64-bit id: a bigint only when a number cannot hold it. */
export type WireId = number | bigint;

/** Largest value of a {@link WireId}. */
export const maxWireId = 2n ** 64n - 1n;

/** The smallest form of an id, so that equal ids are equal values. */
export const wireId = (value: bigint): WireId =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

/** What `read` makes of a frame; undefined where it throws a SyntaxError, because the frame is malformed. */
export function wellFormed<Message>(read: () => Message): Message | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const dataTypes = ['json', 'text', 'binary', 'protobuf'] as const;

/** What a payload is: `protobuf` is an encoded `google.protobuf.Any`. */
export type DataType = (typeof dataTypes)[number];

export interface Payload {
  readonly dataType: DataType;
  /** UTF-8 of text and of JSON text, and the bytes themselves of the others. */
  readonly bytes: Buffer;
}

/** What counts as sent when there is no data. */
export const noData: Payload = { dataType: 'json', bytes: Buffer.from('null') };

/** Whether a text names a data type. */
export const isDataType = (text: unknown): text is DataType =>
  dataTypes.some((dataType) => dataType === text);

export interface JoinOrLeave {
  readonly type: 'joinGroup' | 'leaveGroup';
  readonly group: string;
  readonly ackId: WireId | undefined;
}

export interface SendToGroup {
  readonly type: 'sendToGroup';
  readonly group: string;
  readonly ackId: WireId | undefined;
  /** The sender does not get it, even if it is in the group. */
  readonly noEcho: boolean;
  readonly payload: Payload;
}

/** What a PubSub client says to the service, in either form. */
export type ProtobufClientMessage =
  | JoinOrLeave
  | SendToGroup
  | {
      readonly type: 'event';
      readonly event: string;
      readonly ackId: WireId | undefined;
      readonly payload: Payload;
    }
  /** With the largest sequence id received. */
  | { readonly type: 'sequenceAck'; readonly sequenceId: WireId };

/** The same with what the protobuf schema has no message for. */
export type ClientMessage =
  | ProtobufClientMessage
  | { readonly type: 'ping' }
  | {
      readonly type: 'invoke';
      readonly invocationId: string;
      readonly event: string;
      readonly payload: Payload;
    }
  | { readonly type: 'cancelInvocation'; readonly invocationId: string }
  /** Frames of a stream of messages, of which only the id is read. */
  | { readonly type: 'stream'; readonly streamId: string };

/** Why a request of a client failed: names are fixed, such as `Forbidden`, messages are for people. */
export interface MessageError {
  readonly name: string;
  readonly message: string;
}

/** The client is connected from here on; comes again after a recovery, with a new token. */
export interface Connected {
  readonly type: 'connected';
  readonly connectionId: string;
  readonly userId: string | undefined;
  /** Only in reliable subprotocols. */
  readonly reconnectionToken: string | undefined;
}

/** Data, from a member of a group or from the application's server. */
export interface DataMessage {
  readonly type: 'message';
  readonly from: 'group' | 'server';
  /** Only of messages from a group. */
  readonly group: string | undefined;
  /** Only of messages from a group, and only in JSON. */
  readonly fromUserId: string | undefined;
  /** Only in reliable subprotocols: not 0, and growing. */
  readonly sequenceId: WireId | undefined;
  readonly payload: Payload;
}

/** What the service says to a PubSub client, in either form. */
export type ProtobufServerMessage =
  | Connected
  | DataMessage
  /** The service is about to close the socket. */
  | { readonly type: 'disconnected'; readonly message: string }
  | {
      readonly type: 'ack';
      readonly ackId: WireId;
      readonly success: boolean;
      readonly error: MessageError | undefined;
    };

/** The same with what the protobuf schema has no message for. */
export type ServerMessage =
  | ProtobufServerMessage
  | { readonly type: 'pong' }
  | {
      readonly type: 'invokeResponse';
      readonly invocationId: string;
      readonly success: boolean;
      readonly payload: Payload | undefined;
      readonly error: MessageError | undefined;
    }
  | { readonly type: 'streamClosed'; readonly streamId: string; readonly error: MessageError };
