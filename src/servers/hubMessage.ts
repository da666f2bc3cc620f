import { skipSpace, stringAt, walk } from './jsonScan';

/** Message types of the hub protocol that the bench hub tells apart. */
export const messageType = { invocation: 1, streamInvocation: 4, ping: 6, close: 7 } as const;

/** The envelope of one hub message; `arguments` stay where they are, as positions in `bytes`. */
export interface HubMessage {
  readonly bytes: Buffer;
  type: number;
  /** Empty when absent. */
  target: string;
  /** The JSON text of the invocation id with its quotes; undefined when nobody waits for an answer. */
  invocationId: string | undefined;
  /** The whole array including its brackets; both 0 when absent. */
  argumentsStart: number;
  argumentsEnd: number;
  argumentCount: number;
  firstStart: number;
  firstEnd: number;
  streams: number;
}

/** Longest method name and invocation id that are read. */
const maxNameBytes = 512;
const quote = 0x22;
const bracket = 0x5b;

function readArguments(message: HubMessage, start: number, end: number): boolean {
  if (message.bytes[start] !== bracket) return false;
  message.argumentsStart = start;
  message.argumentsEnd = end;
  message.argumentCount = 0;
  walk(message.bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) => {
    if (message.argumentCount++ > 0) return;
    message.firstStart = valueStart;
    message.firstEnd = valueEnd;
  });
  return true;
}

/** Takes over one member; false when it is not what the protocol says. */
function readMember(message: HubMessage, key: string, start: number, end: number): boolean {
  const { bytes } = message;
  const isName = bytes[start] === quote && end - start <= maxNameBytes;
  switch (key) {
    case 'type':
      message.type = Number(bytes.toString('latin1', start, Math.min(end, start + 16)));
      return Number.isInteger(message.type);
    case 'target':
      message.target = isName ? (stringAt(bytes, start, end) ?? '') : '';
      return message.target !== '';
    case 'invocationId':
      if (!isName || stringAt(bytes, start, end) === undefined) return false;
      message.invocationId = bytes.toString('utf8', start, end);
      return true;
    case 'arguments':
      return readArguments(message, start, end);
    case 'streamIds':
      if (bytes[start] !== bracket) return false;
      walk(bytes, start, end, () => message.streams++);
      return true;
    default:
      return true;
  }
}

/**
 * Reads the envelope of the hub message in `start`…`end` (without the record separator); members may
 * come in any order, unknown ones are skipped.
 * @returns undefined when it is no JSON object with a type, or an invocation without target or arguments
 */
export function readHubMessage(bytes: Buffer, start: number, end: number): HubMessage | undefined {
  const message: HubMessage = {
    bytes,
    type: NaN,
    target: '',
    invocationId: undefined,
    argumentsStart: 0,
    argumentsEnd: 0,
    argumentCount: 0,
    firstStart: 0,
    firstEnd: 0,
    streams: 0,
  };
  const members = { valid: true };
  const open = skipSpace(bytes, start);
  if (bytes[open] !== 0x7b) return undefined;
  const behind = walk(bytes, open, end, (keyStart, keyEnd, valueStart, valueEnd) => {
    const key = bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 16));
    members.valid &&= readMember(message, key, valueStart, valueEnd);
  });
  if (
    !members.valid ||
    behind < 0 ||
    skipSpace(bytes, behind) !== end ||
    Number.isNaN(message.type)
  ) {
    return undefined;
  }
  const calls =
    message.type === messageType.invocation || message.type === messageType.streamInvocation;
  if (calls && (message.target === '' || message.argumentsEnd === 0)) return undefined;
  return message;
}
