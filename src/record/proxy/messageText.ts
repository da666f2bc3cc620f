import { isUtf8 } from 'node:buffer';
import { isAt } from '../../wire/message/hubCodec';
import { hubMessageType } from '../../wire/message/hubMessage';
import { stringAt, walk } from '../../wire/message/jsonScan';
import { isHubMessage, type RecordedMessage } from '../recording';

/**
 * A message that goes into the recording as the text it is: nothing of it is built but what people call it by.
 * Messages with members that are rare, or that do not belong in a recording, are read as a whole instead.
 */
export class MessageText {
  /**
   * @param json on one line
   * @param name see {@link nameOf}
   */
  constructor(
    readonly json: string,
    readonly name: string | undefined,
  ) {}

  whole(): RecordedMessage {
    return JSON.parse(this.json) as RecordedMessage;
  }
}

/** What people call the message by; undefined for answers and for what keeps a connection going. */
export function nameOf(message: RecordedMessage): string | undefined {
  if (isHubMessage(message)) {
    const { type } = message;
    return type === hubMessageType.invocation || type === hubMessageType.streamInvocation
      ? message.target
      : undefined;
  }
  const { type, event, group, from } = message;
  switch (type) {
    case 'event':
    case 'invoke':
      return `${type} ${event ?? ''}`;
    case 'sendToGroup':
    case 'joinGroup':
    case 'leaveGroup':
      return type;
    case 'message':
      return group === undefined ? `message from ${from ?? 'the server'}` : 'message of a group';
    default:
      return undefined;
  }
}

const quote = 0x22;
const openBracket = 0x5b;
const digit0 = 0x30;

/** A member that is not known, or stands there twice. */
const unusual = 1 << 30;

/** Where the members of the object at hand stand; nobody keeps it. */
const starts = new Int32Array(32);
const ends = new Int32Array(32);

/** @returns a set of the members that are there, as bits; undefined when the text is none of the usual ones */
function membersAt(
  bytes: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  known: readonly Buffer[],
): number | undefined {
  if (bytes[start] !== 0x7b) return undefined;
  let found = 0;
  const behind = walk(bytes, start, end, (keyStart, keyEnd, from, to) => {
    const length = keyEnd - keyStart;
    const at = known.findIndex((key) => key.length === length && isAt(bytes, keyStart, key));
    if (at < 0 || (found & (1 << at)) !== 0) {
      found |= unusual;
      return;
    }
    found |= 1 << at;
    starts[at] = from;
    ends[at] = to;
  });
  return (found & unusual) === 0 && behind === end ? found : undefined;
}

const keysOf = (...names: readonly string[]): Buffer[] =>
  names.map((name) => Buffer.from(`"${name}"`, 'latin1'));

const isText = (bytes: Buffer, at: number): boolean => bytes[starts[at]!] === quote;
const textAt = (bytes: Buffer, at: number): string => stringAt(bytes, starts[at]!, ends[at]!);

/** Undefined for what would not stand on one line, or is not UTF-8. */
function oneLine(bytes: Buffer, start: number, end: number): string | undefined {
  if (!isUtf8(bytes.subarray(start, end))) return undefined;
  const text = bytes.toString('utf8', start, end);
  return text.includes('\n') || text.includes('\r') ? undefined : text;
}

const hubKeys = keysOf('type', 'target', 'arguments', 'invocationId', 'item', 'result');
const [aType, aTarget, someArguments, anId, anItem, aResult] = hubKeys.map((_, at) => 1 << at);
const aCall = aType! | aTarget! | someArguments!;

/** A call, an item or an answer without error, in the members that every client writes; undefined for all else. */
export function hubMessageText(bytes: Buffer, start: number, end: number): MessageText | undefined {
  const found = membersAt(bytes, { start, end }, hubKeys);
  if (found === undefined || (found & aType!) === 0 || ends[0]! - starts[0]! !== 1)
    return undefined;
  if ((found & anId!) !== 0 && !isText(bytes, 3)) return undefined;
  const { invocation, streamInvocation, streamItem, completion } = hubMessageType;
  let name: string | undefined;
  switch (bytes[starts[0]!]! - digit0) {
    case invocation:
      if (found !== aCall && found !== (aCall | anId!)) return undefined;
      break;
    case streamInvocation:
      if (found !== (aCall | anId!)) return undefined;
      break;
    case streamItem:
      if (found !== (aType! | anId! | anItem!)) return undefined;
      break;
    case completion:
      if ((found | aResult!) !== (aType! | anId! | aResult!)) return undefined;
      break;
    default:
      return undefined;
  }
  if ((found & aTarget!) !== 0) {
    if (!isText(bytes, 1) || bytes[starts[2]!] !== openBracket) return undefined;
    name = textAt(bytes, 1);
  }
  const json = oneLine(bytes, start, end);
  return json === undefined ? undefined : new MessageText(json, name);
}

const pubSubKeys = keysOf(
  ...['type', 'event', 'group', 'from', 'fromUserId', 'ackId', 'sequenceId'],
  ...['success', 'noEcho', 'dataType', 'data'],
);

/** A message of a JSON subprotocol of Web PubSub that is none of the system; undefined for all else. */
export function pubSubMessageText(bytes: Buffer): MessageText | undefined {
  const { length } = bytes;
  const found = membersAt(bytes, { start: 0, end: length }, pubSubKeys);
  if (found === undefined || (found & 1) === 0) return undefined;
  const texts: (string | undefined)[] = [];
  for (let at = 0; at < 4; at++) {
    const isThere = (found & (1 << at)) !== 0;
    if (isThere && !isText(bytes, at)) return undefined;
    texts.push(isThere ? textAt(bytes, at) : undefined);
  }
  const [type, event, group, from] = texts;
  if (type === 'system') return undefined;
  const json = oneLine(bytes, 0, length);
  if (json === undefined) return undefined;
  const named = {
    ...(event !== undefined && { event }),
    ...(group !== undefined && { group }),
    ...(from !== undefined && { from }),
  };
  return new MessageText(json, nameOf({ type: type!, ...named }));
}
