import type { WireId } from './clientMessage';
import type { Payload } from './payload';

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

/** The service is about to close the socket. */
export interface Disconnected {
  readonly type: 'disconnected';
  readonly message: string;
}

export interface Ack {
  readonly type: 'ack';
  readonly ackId: WireId;
  readonly success: boolean;
  readonly error: MessageError | undefined;
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

/** What the protobuf schema has no message for. */
export type JsonOnlyServerMessage =
  | { readonly type: 'pong' }
  | {
      readonly type: 'invokeResponse';
      readonly invocationId: string;
      readonly success: boolean;
      readonly payload: Payload | undefined;
      readonly error: MessageError | undefined;
    }
  | { readonly type: 'streamClosed'; readonly streamId: string; readonly error: MessageError };

/** What the service says to a PubSub client, in either form. */
export type ProtobufServerMessage = Connected | Disconnected | Ack | DataMessage;

/** What the service says to a PubSub client. */
export type ServerMessage = ProtobufServerMessage | JsonOnlyServerMessage;
