/**
 * Translates the hub protocol of ASP.NET SignalR to that of ASP.NET Core. A frame is one JSON object: a list of calls
 * from the hub, or one completion. Source: the clients and the server of SignalR/SignalR, `HubInvocation`,
 * `HubResult`, `HubResponse` and `PersistentResponse`.
 */
import { opcode } from '../socket/frame';
import {
  startsWithAt,
  jsonCodec,
  type ArgumentsAt,
  type HubCodec,
  type Span,
} from '../message/hubCodec';
import {
  HubMessageError,
  hubMessageType,
  parseJsonObject,
  readUtf8,
  type Completion,
  type HubMessage,
} from '../message/hubMessage';
import { skipSpace, skipValue, readString, walk, type JsonObject } from '../message/jsonScan';
import {
  holeDigits,
  JsonLayoutBuilder,
  type HoleLengths,
  type MessageLayout,
  type MessageShape,
} from '../message/messageLayout';
import { stampLength } from '../message/stamp';

const comma = 0x2c;
const quote = 0x22;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const backslash = 0x5c;

/** How servers begin a frame with messages, up to its cursor, and what usually follows. */
const cursorStart = Buffer.from('{"C":"', 'latin1');
const messagesStart = Buffer.from('","M":[', 'latin1');

// How servers write a completion: a result stands before the id, an error behind it.
const idStart = Buffer.from('{"I":"', 'latin1');
const resultStart = Buffer.from('{"R":', 'latin1');
const idBehindResult = Buffer.from(',"I":"', 'latin1');
const answerEnd = Buffer.from('"}', 'latin1');
const resultBehindId = Buffer.from('","R":', 'latin1');

const hubName = Buffer.from('"H"', 'latin1');
const callName = Buffer.from('"I"', 'latin1');
/** The hub's name follows in the server's own case. */
const callStart = Buffer.from('{"H":"', 'latin1');

const unreadable = (): HubMessageError => new HubMessageError('a frame is not a JSON object');

export function usualCursorEnd(buffer: Buffer, start: number, end: number): number {
  if (end - start < cursorStart.length || !startsWithAt(buffer, start, cursorStart)) return -1;
  for (let at = start + cursorStart.length; at < end; at++) {
    const byte = buffer[at]!;
    if (byte === quote) return at;
    if (byte === backslash || byte < 0x20) return -1;
  }
  return -1;
}

export const usualCursorAt = cursorStart.length;

/** Whether a frame whose cursor ends there holds messages and nothing else. */
export const hasMessagesOnly = (buffer: Buffer, cursorEnd: number, end: number): boolean =>
  cursorEnd >= 0 &&
  cursorEnd + messagesStart.length + 2 <= end &&
  startsWithAt(buffer, cursorEnd, messagesStart) &&
  buffer[end - 1] === closeBrace &&
  buffer[end - 2] === closeBracket;

/** Whether a frame is a completion: `{"I"` or `{"R"`. */
export const isAnswer = (buffer: Buffer, start: number): boolean =>
  buffer[start] === openBrace &&
  buffer[start + 1] === quote &&
  (buffer[start + 2] === 0x49 || buffer[start + 2] === 0x52) &&
  buffer[start + 3] === quote;

function firstIn(buffer: Buffer, list: number, end: number): number {
  if (list < 0) return -1;
  const first = skipSpace(buffer, list + 1);
  return first < end && buffer[first] === closeBracket ? -1 : first;
}

/** Where the list of messages begins; −1 where the frame has none, or is a completion. @throws HubMessageError */
function listIn(buffer: Buffer, start: number, end: number): number {
  const found = { list: -1, answers: false };
  const behind = walkFrame(buffer, start, end, (key, from) => {
    if (key === 'I') found.answers = true;
    else if (key === 'M' && buffer[from] === openBracket) found.list = from;
  });
  if (behind < 0) throw unreadable();
  return found.answers ? -1 : found.list;
}

export function walkFrame(
  buffer: Buffer,
  start: number,
  end: number,
  visit: (key: string, from: number, to: number) => void,
): number {
  if (start >= end || buffer[start] !== openBrace) return -1;
  const behind = walk(buffer, start, end, (keyStart, keyEnd, from, to) => {
    visit(readString(buffer, keyStart, keyEnd), from, to);
  });
  return behind >= 0 && skipSpace(buffer, behind) >= end ? behind : -1;
}

/**
 * Whether a call in a usual frame is its only message: each begins with a brace, and has `"H"`, or `"I"` for
 * progress. So a long one need not be scanned byte by byte.
 */
function isAlone(buffer: Buffer, start: number, end: number): boolean {
  if (!startsWithAt(buffer, start, callStart)) return false;
  // Not cut to the frame, since a view costs more than reading on; the next frame has a brace, too.
  const brace = buffer.indexOf(openBrace, start + 1);
  if (brace < 0 || brace >= end) return true;
  const rest = buffer.subarray(brace, end);
  return rest.indexOf(hubName) < 0 && rest.indexOf(callName) < 0;
}

/**
 * Goes from message to message; a frame without any is one span. A span that is not the last of its frame is followed
 * by a comma, and no frame begins with one: {@link ClassicState.note} has checked that.
 */
function find(buffer: Buffer, at: number, end: number, span: Span): void {
  const isInside = buffer[at] === comma;
  const start = skipSpace(buffer, isInside ? at + 1 : at);
  let first = start;
  if (!isInside && (isAnswer(buffer, start) || buffer[start + 1] === closeBrace)) first = -1;
  else if (!isInside) {
    const cursorEnd = usualCursorEnd(buffer, start, end);
    const isUsual = hasMessagesOnly(buffer, cursorEnd, end);
    const list = isUsual ? cursorEnd + messagesStart.length - 1 : listIn(buffer, start, end);
    first = firstIn(buffer, list, end);
    if (isUsual && first >= 0 && isAlone(buffer, first, end)) {
      span.start = first;
      span.end = end - 2;
      span.next = end;
      return;
    }
  }
  if (first < 0) {
    span.start = start;
    span.end = span.next = end;
    return;
  }
  const behind = buffer[first] === openBrace ? skipValue(buffer, first, end) : -1;
  if (behind < 0) throw new HubMessageError('a hub message is not a JSON object');
  const next = skipSpace(buffer, behind);
  if (next >= end || (buffer[next] !== comma && buffer[next] !== closeBracket))
    throw new HubMessageError('a list of hub messages is cut off');
  span.start = first;
  span.end = behind;
  span.next = buffer[next] === comma ? next : end;
}

function answeredStamp(buffer: Buffer, start: number, end: number): number {
  const { length } = idStart;
  if (end - start < length + stampLength + answerEnd.length) return -1;
  if (startsWithAt(buffer, start, idStart)) {
    const behind = start + length + stampLength;
    const isOver = behind + answerEnd.length === end && startsWithAt(buffer, behind, answerEnd);
    const hasResult =
      behind + resultBehindId.length < end && startsWithAt(buffer, behind, resultBehindId);
    return isOver || hasResult ? start + length : -1;
  }
  const at = end - answerEnd.length - stampLength;
  const before = at - idBehindResult.length;
  return before > start + resultStart.length &&
    startsWithAt(buffer, start, resultStart) &&
    startsWithAt(buffer, before, idBehindResult) &&
    startsWithAt(buffer, end - answerEnd.length, answerEnd)
    ? at
    : -1;
}

const unaskedLength = idStart.length + holeDigits.sequence + answerEnd.length;

function isUnasked(buffer: Buffer, start: number, end: number): boolean {
  if (end - start !== unaskedLength || !startsWithAt(buffer, start, idStart)) return false;
  for (let at = start + idStart.length; at < end - answerEnd.length; at++)
    if (buffer[at]! < 0x30 || buffer[at]! > 0x39) return false;
  return true;
}

function idOf({ I: id }: JsonObject): string | undefined {
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' ? id : undefined;
}

function completionIn(fields: JsonObject, invocationId: string): Completion {
  const { R: result, E: error } = fields;
  const type = hubMessageType.completion;
  if (error !== undefined && error !== null)
    return { type, invocationId, error: typeof error === 'string' ? error : JSON.stringify(error) };
  return { type, invocationId, ...(result !== undefined && { result }) };
}

function messageOf(fields: JsonObject): HubMessage | undefined {
  const { H: hub, M: method, A: args, P: progress } = fields;
  const id = idOf(fields);
  if (progress !== undefined && progress !== null) return undefined;
  if (id !== undefined) return completionIn(fields, id);
  if (hub === undefined && method === undefined) {
    return Object.keys(fields).length === 0 ? { type: hubMessageType.ping } : undefined;
  }
  if (Array.isArray(method)) return undefined;
  if (typeof hub !== 'string' || typeof method !== 'string')
    throw new HubMessageError('a call of the hub has no method');
  if (!Array.isArray(args)) throw new HubMessageError('a call of the hub has no arguments');
  return { type: hubMessageType.invocation, target: method, arguments: args };
}

function layoutFor(hub: string, shape: MessageShape, lengths: HoleLengths): MessageLayout {
  const pieces = new JsonLayoutBuilder(lengths);
  pieces.raw(`{"H":${JSON.stringify(hub)},"M":${JSON.stringify(shape.method)},"A":[`);
  pieces.list(shape.arguments);
  pieces.raw('],"I":"');
  pieces.hole(shape.answered === true ? 'stamp' : 'sequence', 'text');
  pieces.raw('"}');
  return pieces.layout();
}

function encodeFor(hub: string, message: HubMessage): Buffer {
  if (message.type !== hubMessageType.invocation)
    throw new Error(`ASP.NET SignalR has no frame for a hub message of type ${message.type}`);
  const { target, arguments: args, invocationId = '0' } = message;
  return Buffer.from(JSON.stringify({ H: hub, M: target, A: args, I: invocationId }), 'utf8');
}

/** Only what surrounds the hub's name is always the same. */
function argumentsAt(target: string): ArgumentsAt {
  const behindHub = Buffer.from(`","M":${JSON.stringify(target)},"A":[`, 'utf8');
  return (buffer, start, end) => {
    if (!startsWithAt(buffer, start, callStart)) return -1;
    let at = start + callStart.length;
    while (at < end && buffer[at] !== quote) at++;
    const from = at + behindHub.length;
    return from <= end && startsWithAt(buffer, at, behindHub) ? from : -1;
  };
}

export const classicCodec = (hub: string): HubCodec => ({
  protocol: 'classic',
  opcode: opcode.text,
  // The request that opens a socket says all, and the server speaks first.
  handshake: Buffer.alloc(0),
  needsNoHandshake: true,
  callStart: () => callStart,
  argumentsAt,
  stampInCompletion: answeredStamp,
  find,
  read: (buffer, start, end) =>
    isUnasked(buffer, start, end)
      ? undefined
      : messageOf(parseJsonObject(readUtf8(buffer, start, end))),
  encode: (message) => encodeFor(hub, message),
  textBytes: jsonCodec.textBytes,
  layout: (shape, lengths) => layoutFor(hub, shape, lengths),
});
