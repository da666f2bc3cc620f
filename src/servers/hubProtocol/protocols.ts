import {
  Envelope,
  maxNameBytes,
  encodeHubMessage,
  HubMessageError,
  hubMessageType,
  recordSeparator,
} from '../../wire/message/hubMessage';
import {
  skipSpace,
  skipValue,
  readString,
  stringMember,
  walk,
  parseObject,
} from '../../wire/message/jsonScan';
import {
  MessagePackExtension,
  bodyLengthAt,
  lengthPrefix,
  maximumPrefixBytes,
  prefixBytes,
  readInteger,
  readMapHead,
  readText,
  readValue,
  skipValue as skipPacked,
  type Cursor,
  arrayHead,
  encodeText,
  encodeValue,
  mapHead,
} from '../../wire/message/messagePack';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import type { PendingBytes } from '../../wire/socket/frameReader';
import { opcode } from '../../wire/socket/frame';
import { toInt64, ServerProtocol } from './serverProtocol';
import {
  encodeMessagePackMessage,
  readMessagePackEnvelope,
} from '../../wire/message/messagePackMessage';

const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;
const letterN = 0x6e;

const messageTail = Buffer.from('}\x1e');

export class JsonProtocol extends ServerProtocol {
  readonly name = 'json';

  messageEnd(_rest: PendingBytes | undefined, data: Buffer, start: number): number | 'incomplete' {
    const separator = data.indexOf(recordSeparator, start);
    return separator < 0 ? 'incomplete' : separator + 1;
  }

  /** Unknown members are skipped; a result beside an error is invalid. */
  read(bytes: Buffer, start: number, behind: number): Envelope | undefined {
    const end = behind - 1;
    const open = skipSpace(bytes, start);
    if (bytes[open] !== openBrace) return undefined;
    const message = new Envelope(bytes, start, end);
    const members = { areValid: true };
    const visit: Visit = (keyStart, keyEnd, valueStart, valueEnd) => {
      const key = bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 16));
      members.areValid &&= readMember(message, key, valueStart, valueEnd);
    };
    const skip: Skip = (_bytes, at, _end, depth, keyStart, keyEnd) => {
      if (bytes[at] !== openBracket || !isArguments(bytes, keyStart, keyEnd))
        return skipValue(bytes, at, end, depth);
      message.beginArguments(at);
      return walk(bytes, at, end, (_k, _e, from, to) => message.foundArgument(from, to), depth);
    };
    const walked = walk(bytes, open, end, visit, 1, skip);
    const isWhole = walked >= 0 && skipSpace(bytes, walked) === end;
    return isWhole && members.areValid && isComplete(message) ? message : undefined;
  }

  isDictionary(value: Buffer): boolean {
    return value[0] === openBrace || this.isNull(value);
  }

  isNull(value: Buffer): boolean {
    return value[0] === letterN;
  }

  wideInteger(value: Buffer): bigint | undefined {
    const text = value.toString('latin1', 0, 24);
    return /^-?[0-9]{1,19}$/.test(text) ? toInt64(BigInt(text)) : undefined;
  }

  text(value: Buffer): string | undefined {
    return value[0] === quote ? readString(value, 0, value.length) : undefined;
  }

  textMember(dictionary: Buffer, key: string): string | undefined {
    return stringMember(dictionary, key);
  }

  value(bytes: Buffer): unknown {
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch {
      throw new HubMessageError('an argument is not valid JSON');
    }
  }

  encodeArguments(values: unknown): Buffer {
    return Buffer.from(toJson(values), 'utf8');
  }

  numberedItem(dictionary: Buffer, number: number): Buffer {
    const digits = number.toString(16).padStart(itemDigits, '0');
    const comma = dictionary[skipSpace(dictionary, 1)] === 0x7d ? '' : ',';
    const head = Buffer.from(`{"${itemKey}":"${digits}"${comma}`, 'latin1');
    return Buffer.concat([head, dictionary.subarray(1)]);
  }
}

export const jsonProtocol: ServerProtocol = new JsonProtocol(opcode.text, encodeHubMessage, {
  invocationHead: (target) =>
    Buffer.from(`{"type":1,"target":${JSON.stringify(target)},"arguments":`),
  pairHead: Buffer.from('['),
  invocationTail: messageTail,
  itemHead: (id) => Buffer.from(`{"type":2,"invocationId":${JSON.stringify(id)},"item":`),
  itemTail: messageTail,
});

/** MessagePack values as .NET writes them: bytes as base64, integers exactly. */
export function toJson(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof MessagePackExtension) return toJson(value.data);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}:${toJson(member)}`,
    );
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

type Visit = Parameters<typeof walk>[3];
type Skip = NonNullable<Parameters<typeof walk>[5]>;

const argumentsKey = Buffer.from('"arguments"');

const isArguments = (bytes: Buffer, start: number, end: number): boolean =>
  end - start === argumentsKey.length && argumentsKey.compare(bytes, start, end) === 0;

function readMember(message: Envelope, key: string, start: number, end: number): boolean {
  const { bytes } = message;
  switch (key) {
    case 'type':
      message.type = end - start > 16 ? NaN : Number(bytes.toString('latin1', start, end));
      return Number.isInteger(message.type);
    case 'target':
      message.target = nameAt(bytes, start, end) ?? '';
      return message.target !== '';
    case 'invocationId':
      message.invocationId = nameAt(bytes, start, end);
      return message.invocationId !== undefined;
    case 'arguments':
      message.argumentsEnd = end;
      return bytes[start] === openBracket;
    case 'streamIds':
      return readStreamIds(message, start, end);
    case 'item':
      message.item = bytes.subarray(start, end);
      return true;
    case 'result':
      message.result = bytes.subarray(start, end);
      return true;
    case 'error':
      if (bytes[start] !== quote) return false;
      message.error = readString(bytes, start, end);
      return true;
    default:
      return true;
  }
}

const nameAt = (bytes: Buffer, start: number, end: number): string | undefined =>
  bytes[start] === quote && end - start <= maxNameBytes ? readString(bytes, start, end) : undefined;

function readStreamIds(message: Envelope, start: number, end: number): boolean {
  const { bytes } = message;
  if (bytes[start] !== openBracket) return false;
  const ids: (string | undefined)[] = [];
  walk(bytes, start, end, (_keyStart, _keyEnd, idStart, idEnd) =>
    ids.push(nameAt(bytes, idStart, idEnd)),
  );
  message.streamIds = ids.filter((id) => id !== undefined);
  return message.streamIds.length === ids.length;
}

function isComplete(message: Envelope): boolean {
  const hasId = message.invocationId !== undefined;
  const isCall = message.target !== '' && message.argumentsEnd > 0;
  switch (message.type) {
    case hubMessageType.invocation:
      return isCall;
    case hubMessageType.streamInvocation:
      return hasId && isCall;
    case hubMessageType.streamItem:
      return hasId && message.item !== undefined;
    case hubMessageType.completion:
      return hasId && (message.result === undefined || message.error === undefined);
    case hubMessageType.cancelInvocation:
      return hasId;
    default:
      return !Number.isNaN(message.type);
  }
}

const nothing = Buffer.alloc(0);
const nil = 0xc0;

class MessagePackProtocol extends ServerProtocol {
  readonly name = 'messagepack';

  messageEnd(
    rest: PendingBytes | undefined,
    data: Buffer,
    start: number,
    maxBytes: number,
  ): number | 'incomplete' | 'invalid' | 'tooLong' {
    const kept = rest?.length ?? 0;
    const beginning = beginningOf(rest?.first(maximumPrefixBytes) ?? nothing, data, start);
    const prefix = prefixBytes(beginning, 0, beginning.length);
    if (typeof prefix === 'string') return prefix;
    const length = prefix + bodyLengthAt(beginning, 0, prefix);
    if (length > maxBytes) return 'tooLong';
    const end = start + length - kept;
    return end <= data.length ? end : 'incomplete';
  }

  read(bytes: Buffer, start: number, end: number): Envelope | undefined {
    const prefix = prefixBytes(bytes, start, end);
    if (typeof prefix === 'string') return undefined;
    try {
      return readMessagePackEnvelope(bytes, start + prefix, end);
    } catch (error) {
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  }

  isDictionary(value: Buffer): boolean {
    return this.isNull(value) || isMap(value[0]!);
  }

  isNull(value: Buffer): boolean {
    return value[0] === nil;
  }

  wideInteger(value: Buffer): bigint | undefined {
    const read = readInteger(cursorIn(value));
    return read === undefined ? undefined : toInt64(BigInt(read));
  }

  text(value: Buffer): string | undefined {
    return readText(cursorIn(value));
  }

  textMember(dictionary: Buffer, wanted: string): string | undefined {
    if (!isMap(dictionary[0]!)) return undefined;
    const cursor = cursorIn(dictionary);
    let found: string | undefined;
    for (let left = readMapHead(cursor); left > 0; left--) {
      const key = readText(cursor);
      if (key === undefined) skipPacked(cursor);
      const text = key === wanted ? readText(cursor) : undefined;
      if (text === undefined) skipPacked(cursor);
      if (key === wanted) found = text;
    }
    return found;
  }

  value(bytes: Buffer): unknown {
    return readValue(cursorIn(bytes));
  }

  encodeArguments(values: unknown): Buffer {
    return encodeValue(values);
  }

  numberedItem(dictionary: Buffer, number: number): Buffer {
    const cursor = cursorIn(dictionary);
    const pairs = readMapHead(cursor);
    const digits = encodeText(number.toString(16).padStart(itemDigits, '0'));
    const head = [mapHead(pairs + 1), encodeText(itemKey), digits];
    return Buffer.concat([...head, dictionary.subarray(cursor.at)]);
  }

  protected override frameAround(head: Buffer, content: Buffer, tail: Buffer): Buffer {
    const prefix = lengthPrefix(head.length + content.length + tail.length);
    return super.frameAround(Buffer.concat([prefix, head]), content, tail);
  }
}

export const messagePackProtocol: ServerProtocol = new MessagePackProtocol(
  opcode.binary,
  encodeMessagePackMessage,
  {
    // [1, {}, nil, target, …
    invocationHead: (target) =>
      Buffer.concat([Buffer.from([0x96, 0x01, 0x80, nil]), encodeText(target)]),
    pairHead: arrayHead(2),
    invocationTail: arrayHead(0),
    itemHead: (id) => Buffer.concat([Buffer.from([0x94, 0x02, 0x80]), encodeText(id)]),
    itemTail: nothing,
  },
);

function beginningOf(rest: Buffer, data: Buffer, start: number): Buffer {
  const missing = maximumPrefixBytes - rest.length;
  if (rest.length === 0) return data.subarray(start, start + missing);
  return Buffer.concat([rest, data.subarray(start, start + Math.max(0, missing))]);
}

const cursorIn = (bytes: Buffer): Cursor => ({ bytes, at: 0, end: bytes.length });

const isMap = (first: number): boolean =>
  (first & 0xf0) === 0x80 || first === 0xde || first === 0xdf;

export const serverProtocols: readonly ServerProtocol[] = [jsonProtocol, messagePackProtocol];

export const findProtocol = (wanted: string): ServerProtocol | undefined =>
  serverProtocols.find(({ name }) => name === wanted);

export const handshakeFailed = 'An unexpected error occurred during connection handshake.';
export const handshakeTimedOut = 'Handshake was canceled.';

const maxShown = 64;

/** @returns the protocol, or the refusal in the words of ASP.NET Core */
export function negotiateProtocol(text: string, carriesBinary: boolean): ServerProtocol | string {
  const { protocol, version } = parseObject(text) ?? {};
  if (typeof protocol !== 'string' || !Number.isInteger(version)) return handshakeFailed;
  const shown = protocol.slice(0, maxShown);
  const spoken = findProtocol(protocol.toLowerCase());
  if (spoken === undefined) return `The protocol '${shown}' is not supported.`;
  // Version 2 is stateful reconnect, which is not offered.
  if (Number(version) > 1)
    return `The server does not support version ${Number(version)} of the '${shown}' protocol.`;
  return spoken.isText || carriesBinary
    ? spoken
    : `Cannot use the '${spoken.name}' protocol on the current transport. The transport does not support 'Binary' transfer format.`;
}

/** JSON in every protocol. */
export const handshakeErrorFrame = (error: string): Buffer =>
  jsonProtocol.frame(Buffer.from(`${JSON.stringify({ error })}\x1e`, 'utf8'));

export interface FrameSource {
  forProtocol(protocolName: string): Buffer | undefined;
}

export function encodeOncePerProtocol(
  frameIn: (protocolName: string) => Buffer | undefined,
): FrameSource {
  const frames = new Map<string, Buffer | undefined>();
  return {
    forProtocol: (name) => {
      if (!frames.has(name)) frames.set(name, frameIn(name));
      return frames.get(name);
    },
  };
}

export function invocationFrames(sent: ServerProtocol, target: string, args: Buffer): FrameSource {
  return encodeOncePerProtocol((name) => {
    if (name === sent.name) return sent.invocationFrame(target, args);
    const protocol = findProtocol(name);
    if (protocol === undefined) return undefined;
    try {
      return protocol.invocationFrame(target, protocol.encodeArguments(sent.value(args)));
    } catch (error) {
      // JSON cannot express every map of MessagePack.
      if (error instanceof HubMessageError) return undefined;
      throw error;
    }
  });
}
