import type { Payload } from './payload';

/** An unsigned 64-bit id: a bigint only when a number cannot hold it. */
export type WireId = number | bigint;

/** Largest value of a {@link WireId}. */
export const maxWireId = 2n ** 64n - 1n;

/** The smallest form of an id, so that equal ids are equal values. */
export const wireId = (value: bigint): WireId =>
  value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;

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

export interface SendEvent {
  readonly type: 'event';
  readonly event: string;
  readonly ackId: WireId | undefined;
  readonly payload: Payload;
}

export interface SequenceAck {
  readonly type: 'sequenceAck';
  /** The largest sequence id received. */
  readonly sequenceId: WireId;
}

/** What the protobuf schema has no message for. */
export type JsonOnlyClientMessage =
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

/** What a PubSub client says to the service, in either form. */
export type ProtobufClientMessage = JoinOrLeave | SendToGroup | SendEvent | SequenceAck;

/** What a PubSub client says to the service. */
export type ClientMessage = ProtobufClientMessage | JsonOnlyClientMessage;
