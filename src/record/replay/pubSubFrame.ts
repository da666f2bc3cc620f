/** What a client of Azure Web PubSub has sent, as it is sent again: in JSON, whatever it was recorded in. */
import { firstMessageAckId } from '../../wire/message/messageLayout';
import type { RecordedPubSub } from '../recording';

/** Stands where each connection writes a number of its own, as long as this one. */
export const ackIdPlaceholder = String(firstMessageAckId);

interface PubSubFrame {
  /** What it counts as: its type, and of an event its name. */
  readonly method: string;
  readonly bytes: Buffer;
  /** Of the data. */
  readonly payloadBytes: number;
}

/**
 * The number that it is acknowledged by stands before all that the client wrote. Undefined for what is neither about a
 * group nor an event. Source: "Azure Web PubSub supported JSON WebSocket subprotocol", heading "Requests".
 */
export function pubSubFrame(message: RecordedPubSub): PubSubFrame | undefined {
  const { type, group, event, ackId, noEcho, dataType, data } = message;
  const start = `{"type":"${type}"${ackId === undefined ? '' : `,"ackId":${ackIdPlaceholder}`}`;
  const framed = (method: string, members: object, value?: unknown): PubSubFrame => {
    const written = value === undefined ? '' : JSON.stringify(value);
    const rest = JSON.stringify(members).slice(1, -1);
    const bytes = Buffer.from(`${start},${rest}${written === '' ? '' : `,"data":${written}`}}`);
    return { method, bytes, payloadBytes: Buffer.byteLength(written) };
  };
  switch (type) {
    case 'joinGroup':
    case 'leaveGroup':
      return framed(type, { group: String(group) });
    case 'sendToGroup':
      return framed(type, { group: String(group), ...(noEcho && { noEcho }), dataType }, data);
    case 'event':
      return framed(`event ${String(event)}`, { event: String(event), dataType }, data);
    default:
      return undefined;
  }
}
