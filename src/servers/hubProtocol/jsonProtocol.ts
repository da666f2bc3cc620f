import { callbacks } from '../../base/message';
import { encodeHubMessage, hubMessageType, recordSeparator } from '../../wire/message/hubMessage';
import { skipSpace, stringAt, stringMember, walk } from '../../wire/message/jsonScan';
import { MessagePackExtension } from '../../wire/message/messagePackReader';
import { itemDigits, itemKey } from '../../wire/message/messageLayout';
import type { ByteRest } from '../../wire/socket/byteRest';
import { opcode } from '../../wire/socket/frame';
import {
  emptyMessage,
  foundArgument,
  longError,
  maxErrorBytes,
  maxNameBytes,
  ServerProtocol,
  type HubMessage,
} from './serverProtocol';

const quote = 0x22;
const openBracket = 0x5b;
const openBrace = 0x7b;
const letterN = 0x6e;

const messageTail = Buffer.from('}\x1e');
const invocationHead = (target: string): Buffer =>
  Buffer.from(`{"type":1,"target":${JSON.stringify(target)},"arguments":`);
const recordLatencyHead = invocationHead(callbacks.recordLatency);
const measureHead = Buffer.concat([invocationHead(callbacks.measure), Buffer.from('[')]);

class JsonProtocol extends ServerProtocol {
  readonly name = 'json';

  messageEnd(_rest: ByteRest | undefined, data: Buffer, start: number): number | 'incomplete' {
    const separator = data.indexOf(recordSeparator, start);
    return separator < 0 ? 'incomplete' : separator + 1;
  }

  read(bytes: Buffer, start: number, end: number): HubMessage | undefined {
    return readHubMessage(bytes, start, end - 1);
  }

  isDictionary(bytes: Buffer, start: number): boolean {
    return bytes[start] === openBrace || this.isNull(bytes, start);
  }

  isNull(bytes: Buffer, start: number): boolean {
    return bytes[start] === letterN;
  }

  integer(bytes: Buffer, start: number, end: number): number | undefined {
    const text = bytes.toString('latin1', start, Math.min(end, start + 16));
    const value = Number(text);
    return /^-?[0-9]+$/.test(text) && value === (value | 0) ? value : undefined;
  }

  wideInteger(bytes: Buffer, start: number, end: number): bigint | undefined {
    const text = bytes.toString('latin1', start, Math.min(end, start + 24));
    const value = /^-?[0-9]{1,19}$/.test(text) ? BigInt(text) : undefined;
    return value === undefined || BigInt.asIntN(64, value) !== value ? undefined : value;
  }

  text(bytes: Buffer, start: number, end: number): string | undefined {
    return bytes[start] === quote ? stringAt(bytes, start, end) : undefined;
  }

  member(bytes: Buffer, start: number, end: number, key: string): string | undefined {
    return stringMember(bytes, start, end, key);
  }

  value(bytes: Buffer, start: number, end: number): unknown {
    return JSON.parse(bytes.toString('utf8', start, end));
  }

  encodeArguments(values: unknown): Buffer {
    return Buffer.from(jsonText(values), 'utf8');
  }

  numberedItem(dictionary: Buffer, number: number): Buffer {
    const digits = number.toString(16).padStart(itemDigits, '0');
    const comma = dictionary[skipSpace(dictionary, 1)] === 0x7d ? '' : ',';
    const head = Buffer.from(`{"${itemKey}":"${digits}"${comma}`, 'latin1');
    return Buffer.concat([head, dictionary.subarray(1)]);
  }

  invocationFrame(target: string, bytes: Buffer, start: number, end: number): Buffer {
    const head = target === callbacks.recordLatency ? recordLatencyHead : invocationHead(target);
    return this.carrying(head, bytes, start, end, messageTail);
  }

  measureFrame(bytes: Buffer, start: number, end: number): Buffer {
    return this.carrying(measureHead, bytes, start, end, messageTail);
  }

  streamItemFrame(invocationId: string, bytes: Buffer, start: number, end: number): Buffer {
    const head = Buffer.from(`{"type":2,"invocationId":${JSON.stringify(invocationId)},"item":`);
    return this.carrying(head, bytes, start, end, messageTail);
  }
}

export const jsonProtocol: ServerProtocol = new JsonProtocol(opcode.text, encodeHubMessage);

/**
 * JSON text of a value that came in MessagePack: bytes as base64, as .NET writes them, of an extension
 * its data; integers of any size digit by digit.
 */
export function jsonText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof MessagePackExtension) return jsonText(value.data);
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('base64'));
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`,
    );
    return `{${members.join(',')}}`;
  }
  return JSON.stringify(value);
}

/**
 * Reads the envelope of the hub message in `start`…`end` (without the record separator); members may
 * come in any order, unknown ones are skipped.
 * @returns undefined when it is no JSON object with a type and with what this type needs: target and
 * arguments, an id, an item; or when it completes with both a result and an error
 */
function readHubMessage(bytes: Buffer, start: number, end: number): HubMessage | undefined {
  const open = skipSpace(bytes, start);
  if (bytes[open] !== openBrace) return undefined;
  const message = emptyMessage(bytes, start, end);
  const members = { areValid: true };
  const behind = walk(bytes, open, end, (keyStart, keyEnd, valueStart, valueEnd) => {
    const key = bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 16));
    members.areValid &&= readMember(message, key, valueStart, valueEnd);
  });
  const isWhole = behind >= 0 && skipSpace(bytes, behind) === end;
  return isWhole && members.areValid && isComplete(message) ? message : undefined;
}

/** Takes over one member; false when it is not what the protocol says. */
function readMember(message: HubMessage, key: string, start: number, end: number): boolean {
  const { bytes } = message;
  switch (key) {
    case 'type':
      message.type = Number(bytes.toString('latin1', start, Math.min(end, start + 16)));
      return Number.isInteger(message.type);
    case 'target':
      message.target = nameAt(bytes, start, end) ?? '';
      return message.target !== '';
    case 'invocationId':
      message.invocationId = nameAt(bytes, start, end);
      return message.invocationId !== undefined;
    case 'arguments':
      if (bytes[start] !== openBracket) return false;
      message.argumentsStart = start;
      message.argumentsEnd = end;
      message.argumentCount = 0;
      walk(bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) =>
        foundArgument(message, valueStart, valueEnd),
      );
      return true;
    case 'streamIds':
      return readStreamIds(message, start, end);
    case 'item':
      message.itemStart = start;
      message.itemEnd = end;
      return true;
    case 'result':
      message.hasResult = true;
      return true;
    case 'error':
      if (bytes[start] !== quote) return false;
      message.error = end - start > maxErrorBytes ? longError : stringAt(bytes, start, end);
      return true;
    default:
      return true;
  }
}

const nameAt = (bytes: Buffer, start: number, end: number): string | undefined =>
  bytes[start] === quote && end - start <= maxNameBytes ? stringAt(bytes, start, end) : undefined;

function readStreamIds(message: HubMessage, start: number, end: number): boolean {
  const { bytes } = message;
  let isValid = bytes[start] === openBracket;
  if (!isValid) return false;
  walk(bytes, start, end, (_keyStart, _keyEnd, idStart, idEnd) => {
    const id = nameAt(bytes, idStart, idEnd);
    if (id === undefined) isValid = false;
    else if (message.streams++ === 0) message.streamId = id;
  });
  return isValid;
}

/** Whether it has what its type cannot do without. */
function isComplete(message: HubMessage): boolean {
  const hasId = message.invocationId !== undefined;
  const isCall = message.target !== '' && message.argumentsEnd > 0;
  switch (message.type) {
    case hubMessageType.invocation:
      return isCall;
    case hubMessageType.streamInvocation:
      return hasId && isCall;
    case hubMessageType.streamItem:
      return hasId && message.itemEnd > 0;
    case hubMessageType.completion:
      return hasId && !(message.hasResult && message.error !== undefined);
    case hubMessageType.cancelInvocation:
      return hasId;
    default:
      return !Number.isNaN(message.type);
  }
}
