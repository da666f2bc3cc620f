import { hubMessageType } from '../../wire/hub/hubMessage';
import { skipSpace, stringAt, walk } from '../../wire/hub/jsonScan';

/**
 * The envelope of one hub message of either protocol; `arguments` and `item` stay where they are, as
 * positions in `bytes`.
 */
export interface HubMessage {
  readonly bytes: Buffer;
  /** The message itself, without what marks its end or its length. */
  readonly start: number;
  readonly end: number;
  type: number;
  /** Empty when absent. */
  target: string;
  /**
   * Of a stream for stream items and their completion; undefined when nobody waits for an answer.
   */
  invocationId: string | undefined;
  /** The whole array including its brackets; both 0 when absent. */
  argumentsStart: number;
  argumentsEnd: number;
  argumentCount: number;
  firstStart: number;
  firstEnd: number;
  secondStart: number;
  secondEnd: number;
  thirdStart: number;
  thirdEnd: number;
  /** How many stream ids there are, and the first of them. */
  streams: number;
  streamId: string;
  /** Both 0 when absent. */
  itemStart: number;
  itemEnd: number;
  hasResult: boolean;
  error: string | undefined;
}

/** Longest method name and invocation id that are read. */
export const maxNameBytes = 512;
/** Longest error text that is kept; {@link longError} stands for longer ones. */
export const maxErrorBytes = 4096;
export const longError = 'The error text is too long to be repeated.';
const quote = 0x22;
const bracket = 0x5b;

/** Notes where the next argument stands; no method takes more than three. */
export function foundArgument(message: HubMessage, start: number, end: number): void {
  switch (message.argumentCount++) {
    case 0:
      message.firstStart = start;
      message.firstEnd = end;
      break;
    case 1:
      message.secondStart = start;
      message.secondEnd = end;
      break;
    case 2:
      message.thirdStart = start;
      message.thirdEnd = end;
  }
}

function readArguments(message: HubMessage, start: number, end: number): boolean {
  if (message.bytes[start] !== bracket) return false;
  message.argumentsStart = start;
  message.argumentsEnd = end;
  message.argumentCount = 0;
  walk(message.bytes, start, end, (_keyStart, _keyEnd, valueStart, valueEnd) => {
    foundArgument(message, valueStart, valueEnd);
  });
  return true;
}

function readStreamIds(message: HubMessage, start: number, end: number): boolean {
  const { bytes } = message;
  if (bytes[start] !== bracket) return false;
  let valid = true;
  walk(bytes, start, end, (_keyStart, _keyEnd, idStart, idEnd) => {
    const isName = bytes[idStart] === quote && idEnd - idStart <= maxNameBytes;
    const id = isName ? stringAt(bytes, idStart, idEnd) : undefined;
    if (id === undefined) valid = false;
    else if (message.streams++ === 0) message.streamId = id;
  });
  return valid;
}

function readError(message: HubMessage, start: number, end: number): boolean {
  if (message.bytes[start] !== quote) return false;
  const isLong = end - start > maxErrorBytes;
  message.error = isLong ? longError : stringAt(message.bytes, start, end);
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
      message.target = isName ? stringAt(bytes, start, end) : '';
      return message.target !== '';
    case 'invocationId':
      message.invocationId = isName ? stringAt(bytes, start, end) : undefined;
      return message.invocationId !== undefined;
    case 'arguments':
      return readArguments(message, start, end);
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
      return readError(message, start, end);
    default:
      return true;
  }
}

/** A message of which nothing has been read yet. */
export function emptyMessage(bytes: Buffer, start: number, end: number): HubMessage {
  return {
    bytes,
    start,
    end,
    type: NaN,
    target: '',
    invocationId: undefined,
    argumentsStart: 0,
    argumentsEnd: 0,
    argumentCount: 0,
    firstStart: 0,
    firstEnd: 0,
    secondStart: 0,
    secondEnd: 0,
    thirdStart: 0,
    thirdEnd: 0,
    streams: 0,
    streamId: '',
    itemStart: 0,
    itemEnd: 0,
    hasResult: false,
    error: undefined,
  };
}

/** Whether it has what its type cannot do without. */
function isComplete(message: HubMessage): boolean {
  const hasId = message.invocationId !== undefined;
  switch (message.type) {
    case hubMessageType.invocation:
      return message.target !== '' && message.argumentsEnd > 0;
    case hubMessageType.streamInvocation:
      return hasId && message.target !== '' && message.argumentsEnd > 0;
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

/** Whether the value that starts at `at` binds to a dictionary in .NET: an object, or null. */
export function isDictionaryAt(bytes: Buffer, at: number): boolean {
  return bytes[at] === 0x7b || bytes[at] === 0x6e;
}

/**
 * Reads the envelope of the hub message in `start`…`end` (without the record separator); members may
 * come in any order, unknown ones are skipped.
 * @returns undefined when it is no JSON object with a type and with what this type needs: target and
 * arguments, an id, an item; or when it completes with both a result and an error
 */
export function readHubMessage(bytes: Buffer, start: number, end: number): HubMessage | undefined {
  const message = emptyMessage(bytes, start, end);
  const members = { valid: true };
  const open = skipSpace(bytes, start);
  if (bytes[open] !== 0x7b) return undefined;
  const behind = walk(bytes, open, end, (keyStart, keyEnd, valueStart, valueEnd) => {
    const key = bytes.toString('latin1', keyStart + 1, Math.min(keyEnd - 1, keyStart + 16));
    members.valid &&= readMember(message, key, valueStart, valueEnd);
  });
  const isWhole = behind >= 0 && skipSpace(bytes, behind) === end;
  return isWhole && members.valid && isComplete(message) ? message : undefined;
}
