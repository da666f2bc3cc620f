import { membershipMethods } from '../../base/benchContract';
import { hubMessageType, type Completion, type HubMessage } from '../hub/hubMessage';
import type { WireId } from './clientMessage';

/**
 * Ids of messages begin here, far above those of joining and leaving. From here on a number has one length
 * for long: 11 digits up to 99,999,999,999, and 6 bytes as a varint.
 */
export const firstMessageAckId = 2 ** 35;
/** Digits of such an id, and bytes of it as a varint. */
export const messageAckId = { digits: 11, varintBytes: 6 } as const;

/**
 * What the service says of a request, as the completion of an invocation. Source: "Azure Web PubSub
 * supported JSON WebSocket subprotocol", heading "Ack response".
 *
 * @param error absent when the service carried the request out
 */
export function ackCompletion(
  ackId: WireId | string,
  error: { readonly name?: unknown; readonly message?: unknown } | undefined,
): Completion {
  const invocationId = String(ackId);
  // Joining twice is as good as once. Messages are sent once, so that one that counts as a repeat is lost.
  const isDone = error?.name === 'Duplicate' && Number(ackId) < firstMessageAckId;
  if (error === undefined || isDone) return { type: hubMessageType.completion, invocationId };
  const words = [error.name, error.message].filter(
    (word) => typeof word === 'string' && word !== '',
  );
  return {
    type: hubMessageType.completion,
    invocationId,
    error: words.join(': ') || 'the service refused it',
  };
}

const groupTypes: Readonly<Record<string, 'joinGroup' | 'leaveGroup'>> = {
  [membershipMethods.join]: 'joinGroup',
  [membershipMethods.leave]: 'leaveGroup',
};

/** The frame of a call that joins or leaves a group; undefined for any other message. */
export const groupTypeOf = (message: HubMessage): 'joinGroup' | 'leaveGroup' | undefined =>
  message.type === hubMessageType.invocation ? groupTypes[message.target] : undefined;
