import { parseObject, skipSpace, readString, walk, type JsonObject } from '../message/jsonScan';
import {
  isDataType,
  jsonClientMessages,
  maxWireId,
  noData,
  readOrUndefined,
  wireId,
  type ClientMessage,
  type DataMessage,
  type MemberKinds,
  type Members,
  type Payload,
  type ServerMessage,
  type WireId,
} from './pubSubMessage';

/**
 * Frames of `json.webpubsub.azure.v1` and its reliable variant, as a service reads and writes them. Data stays
 * encoded: parsing would change numbers.
 */

export const readJsonClientMessage = (bytes: Buffer): ClientMessage | undefined =>
  readOrUndefined(() => messageIn(new JsonFrame(bytes)));

function messageIn(frame: JsonFrame): ClientMessage {
  const type = frame.text('type');
  const isStart = type === 'sendToGroup' && frame.has('stream');
  if (isStart || type === 'streamData' || type === 'streamEnd') {
    const { streamId } = isStart
      ? (frame.value('stream') as { streamId?: unknown })
      : { streamId: frame.text('streamId') };
    if (typeof streamId !== 'string') throw new SyntaxError('no stream id');
    return { type: 'stream', streamId };
  }
  if (!Object.hasOwn(jsonClientMessages, type)) throw new SyntaxError('unknown type');
  if (type === 'invoke' && frame.text('target') !== 'event')
    throw new SyntaxError('unknown target');
  const members: Members = jsonClientMessages[type as keyof typeof jsonClientMessages].members;
  const values = Object.entries(members).map(([name, [kind]]) => [name, frame.member(kind, name)]);
  return { type, ...Object.fromEntries(values) } as ClientMessage;
}

export class JsonFrame {
  private readonly members: JsonObject;

  constructor(private readonly bytes: Buffer) {
    const members = parseObject(bytes.toString('utf8'));
    if (members === undefined) throw new SyntaxError('no object');
    this.members = members;
  }

  has(key: string): boolean {
    return this.value(key) !== undefined;
  }

  value(key: string): unknown {
    return Object.hasOwn(this.members, key) ? (this.members[key] ?? undefined) : undefined;
  }

  member(kind: keyof MemberKinds, key: string): unknown {
    switch (kind) {
      case 'payload':
        return this.payload();
      case 'flag':
        return this.flag(key);
      case 'id':
      case 'id?': {
        const id = this.id(key);
        if (id === undefined && kind === 'id') throw new SyntaxError(`no id: ${key}`);
        return id;
      }
      default:
        return this.text(key);
    }
  }

  text(key: string): string {
    const value = this.value(key);
    if (typeof value !== 'string') throw new SyntaxError(`no text: ${key}`);
    return value;
  }

  /** False when it is missing. @throws SyntaxError */
  flag(key: string): boolean {
    const value = this.value(key) ?? false;
    if (typeof value !== 'boolean') throw new SyntaxError(`no boolean: ${key}`);
    return value;
  }

  /** Undefined when it is missing. @throws SyntaxError when it is no unsigned 64-bit number */
  id(key: string): WireId | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (typeof value !== 'number' || value < 0) throw new SyntaxError(`no id: ${key}`);
    if (Number.isSafeInteger(value)) return value;
    const digits = this.raw(key)?.toString('latin1') ?? '';
    if (!/^[0-9]{1,20}$/.test(digits) || BigInt(digits) > maxWireId) {
      throw new SyntaxError(`no id: ${key}`);
    }
    return wireId(BigInt(digits));
  }

  payload(): Payload {
    const dataType = this.value('dataType') ?? 'json';
    if (!isDataType(dataType)) throw new SyntaxError('no data type');
    if (dataType === 'json') {
      const bytes = this.raw('data');
      return bytes === undefined ? noData : { dataType, bytes };
    }
    const data = this.text('data');
    return { dataType, bytes: dataType === 'text' ? Buffer.from(data, 'utf8') : base64(data) };
  }

  /** The encoded value of a member; the last one counts, as for `JSON.parse`. */
  private raw(key: string): Buffer | undefined {
    const { bytes } = this;
    let found: Buffer | undefined;
    const end = walk(bytes, skipSpace(bytes, 0), bytes.length, (keyStart, keyEnd, from, to) => {
      if (readString(bytes, keyStart, keyEnd) === key) found = bytes.subarray(from, to);
    });
    if (end < 0) throw new SyntaxError('nested too deeply');
    return found;
  }
}

function base64(text: string): Buffer {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) {
    throw new SyntaxError('no base64');
  }
  return Buffer.from(text, 'base64');
}

export function writeJsonServerMessage(message: ServerMessage): Buffer {
  switch (message.type) {
    case 'connected': {
      const { type: event, connectionId, userId, reconnectionToken } = message;
      return text({ type: 'system', event, userId, connectionId, reconnectionToken });
    }
    case 'disconnected':
      return text({ type: 'system', event: message.type, message: message.message });
    case 'ack': {
      const error = message.error === undefined ? '' : `,"error":${JSON.stringify(message.error)}`;
      return Buffer.from(
        `{"type":"ack"${jsonId('ackId', message.ackId)},"success":${message.success}${error}}`,
      );
    }
    case 'message':
      return Buffer.concat([jsonDataHead(message.sequenceId), jsonDataTail(message)]);
    case 'invokeResponse': {
      const { payload, ...members } = message;
      if (payload === undefined) return text(members);
      const head = Buffer.from(`${JSON.stringify(members).slice(0, -1)},`);
      return Buffer.concat([head, ...jsonPayload(payload), Buffer.from('}')]);
    }
    case 'streamClosed':
    case 'pong':
      return text(message);
  }
}

const text = (members: object): Buffer => Buffer.from(JSON.stringify(members));

const plainHead = Buffer.from('{');

/** The part of a data message in which the copies for several receivers differ. */
export const jsonDataHead = (sequenceId: WireId | undefined): Buffer =>
  sequenceId === undefined ? plainHead : Buffer.from(`{"sequenceId":${sequenceId},`);

export function jsonDataTail({ from, group, fromUserId, payload }: DataMessage): Buffer {
  const members = [
    `"type":"message","from":"${from}"`,
    ...(fromUserId === undefined ? [] : [`"fromUserId":${JSON.stringify(fromUserId)}`]),
    ...(group === undefined ? [] : [`"group":${JSON.stringify(group)}`]),
  ];
  const head = Buffer.from(`${members.join(',')},`);
  return Buffer.concat([head, ...jsonPayload(payload), Buffer.from('}')]);
}

export function jsonPayload({ dataType, bytes }: Payload): Buffer[] {
  const head = Buffer.from(`"dataType":"${dataType}","data":`);
  if (dataType === 'json') return [head, bytes];
  const data = dataType === 'text' ? JSON.stringify(bytes.toString('utf8')) : quoted(bytes);
  return [head, Buffer.from(data)];
}

const quoted = (bytes: Buffer): string => `"${bytes.toString('base64')}"`;

export const jsonId = (key: string, id: WireId | undefined): string =>
  id === undefined ? '' : `,"${key}":${id}`;
