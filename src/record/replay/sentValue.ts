import { MessagePackExtension } from '../../wire/message/messagePack';

/** The value has no form in the protocol of the replay; the message says what it is, behind "with". */
export class NotSendable extends Error {}

/**
 * An argument as it is sent again. Of a client that spoke MessagePack some are objects in the recording, see {@link
 * import('../recording').MessageEvent}. Bytes are base64 in JSON, as .NET writes and reads them.
 *
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

/** Undefined for an object of the application's own. */
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
