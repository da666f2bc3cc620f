import { MessagePackExtension } from '../../wire/message/messagePack';
import { firstMessageAckId } from '../../wire/message/messageLayout';
import type { RecordedPubSub } from '../recording';

/** The protocol of the replay has no form for the value. */
export class NotSendable extends Error {}

/**
 * An argument as it is sent again. MessagePack values may be objects in the recording, see {@link
 * import('../recording').MessageEvent}; JSON has bytes as base64, like .NET.
 * @throws NotSendable
 */
export function replayedValue(
  value: unknown,
  spoken: string,
  protocol: 'json' | 'messagepack',
): unknown {
  return spoken === 'messagepack' ? plain(value, protocol) : value;
}

function plain(value: unknown, protocol: 'json' | 'messagepack'): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => plain(item, protocol));
  const members = Object.entries(value);
  const [[name, content] = ['', undefined]] = members;
  if (members.length === 1 && name.startsWith('$')) {
    const special = specialOf(name, content, protocol);
    if (special !== undefined) return special;
  }
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member, protocol)]));
}

function specialOf(name: string, content: unknown, protocol: 'json' | 'messagepack'): unknown {
  const isJson = protocol === 'json';
  switch (name) {
    case '$bytes':
      if (typeof content !== 'string') return undefined;
      return isJson ? content : Buffer.from(content, 'base64');
    case '$integer':
      if (typeof content !== 'string' || !/^-?\d{1,20}$/.test(content)) return undefined;
      if (isJson) throw new NotSendable('a whole number above 2^53, which JSON loses');
      if (!isOf64Bits(BigInt(content))) throw new NotSendable('a whole number beyond 64 bits');
      return BigInt(content);
    case '$float':
      if (typeof content !== 'string') return undefined;
      if (isJson) throw new NotSendable(`${content}, for which JSON has no form`);
      return Number(content);
    case '$extension': {
      const [type, data] = Array.isArray(content) ? (content as unknown[]) : [];
      if (typeof type !== 'number' || typeof data !== 'string') return undefined;
      if (isJson)
        throw new NotSendable('a type of its own in MessagePack, for which JSON has no form');
      return new MessagePackExtension(type, Buffer.from(data, 'base64'));
    }
    default:
      return undefined;
  }
}

const isOf64Bits = (value: bigint): boolean =>
  value === (value < 0n ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value));

/** Each connection replaces it by a number of the same length. */
export const ackIdPlaceholder = String(firstMessageAckId);

interface PubSubFrame {
  readonly method: string;
  readonly bytes: Buffer;
  readonly payloadBytes: number;
}

/**
 * The ack id comes first, so that clients' data cannot be taken for it. Undefined for other types. Source: "Azure Web PubSub
 * supported JSON WebSocket subprotocol", heading "Requests".
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
