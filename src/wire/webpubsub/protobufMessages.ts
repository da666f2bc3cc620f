import { isUtf8 } from 'node:buffer';
import { isJson } from '../message/jsonScan';
import {
  clientMessages,
  dataTypes,
  noData,
  serverMessages,
  readOrUndefined,
  wireId,
  type DataMessage,
  type DataType,
  type MemberKinds,
  type Members,
  type MessageError,
  type MessageIn,
  type Messages,
  type Payload,
  type ProtobufClientMessage,
  type ProtobufServerMessage,
  type WireId,
} from './pubSubMessage';

/**
 * Frames of `protobuf.webpubsub.azure.v1` and its reliable variant: one `UpstreamMessage` or `DownstreamMessage` per
 * binary frame. Source: "Azure Web PubSub supported protobuf WebSocket subprotocol".
 */

export const readProtobufClientMessage = (bytes: Buffer): ProtobufClientMessage | undefined =>
  readOrUndefined(() => messageIn(clientMessages, bytes));

export const readProtobufServerMessage = (bytes: Buffer): ProtobufServerMessage | undefined =>
  readOrUndefined(() => messageIn(serverMessages, bytes));

function messageIn<Of extends Messages>(
  messages: Of,
  bytes: Buffer,
  path: readonly number[] = [],
): MessageIn<Of> | undefined {
  let message: MessageIn<Of> | undefined;
  visitFields(bytes, (number, value) => {
    const here = [...path, number];
    const found = Object.entries(messages).find(([, kind]) =>
      here.every((each, depth) => each === kind.path[depth]),
    );
    if (found === undefined) return;
    const [type, kind] = found;
    const body = bytesIn(value);
    if (kind.path.length > here.length) message = messageIn(messages, body, here) ?? message;
    else message = { type, ...decoded(kind.members, body) } as MessageIn<Of>;
  });
  return message;
}

export const writeProtobufClientMessage = (message: ProtobufClientMessage): Buffer =>
  encodedMessage(clientMessages[message.type], message);

export const writeProtobufServerMessage = (message: ProtobufServerMessage): Buffer =>
  encodedMessage(serverMessages[message.type], message);

const encodedMessage = ({ path, members }: Messages[string], message: object): Buffer =>
  path.reduceRight((body, number) => field(number, body), encoded(members, { ...message }));

const { sequenceId: sequencePart, ...tailMembers } = serverMessages.message.members;

/** The part of a data message in which the copies for several receivers differ. */
export function protobufDataHead(sequenceId: WireId | undefined, tailBytes: number): Buffer {
  const number = field(sequencePart[1], sequenceId);
  return Buffer.concat([
    bytesHead(serverMessages.message.path[0], number.length + tailBytes),
    number,
  ]);
}

export const protobufDataTail = (message: DataMessage): Buffer =>
  encoded(tailMembers, { ...message });

interface Form<Value> {
  readonly absent: () => Value;
  readonly read: (value: WireId | Buffer) => Value;
  readonly write?: (value: Value) => WireId | Buffer | undefined;
}
const forms: { readonly [Kind in keyof MemberKinds]: Form<MemberKinds[Kind]> } = {
  text: { absent: () => '', read: textIn },
  'text?': { absent: () => undefined, read: textIn },
  sender: { absent: () => senderIn(Buffer.alloc(0)), read: senderIn },
  id: { absent: () => 0, read: idIn },
  'id?': { absent: () => undefined, read: idIn },
  flag: {
    absent: () => false,
    read: (value) => idIn(value) !== 0,
    write: (value) => (value ? 1 : undefined),
  },
  payload: { absent: () => noData, read: payloadIn, write: payloadField },
  'error?': {
    absent: () => undefined,
    read: (value) => decoded(errorMembers, bytesIn(value)) as unknown as MessageError,
    write: (value) => value && encoded(errorMembers, { ...value }),
  },
};
const errorMembers = { name: ['text', 1], message: ['text', 2] } as const;

function decoded(members: Members, body: Buffer): Record<string, unknown> {
  const named = Object.entries(members);
  const values: Record<string, unknown> = {};
  visitFields(body, (number, value) => {
    for (const [name, [kind, field]] of named)
      if (field === number) values[name] = forms[kind].read(value);
  });
  for (const [name, [kind]] of named) values[name] ??= forms[kind].absent();
  return values;
}

function encoded(members: Members, values: Readonly<Record<string, unknown>>): Buffer {
  const pieces = Object.entries(members).map(([name, [kind, number]]) => {
    const { write } = forms[kind] as Form<unknown>;
    const value = values[name];
    return number === 0
      ? Buffer.alloc(0)
      : field(number, write === undefined ? (value as WireId | string) : write(value));
  });
  return Buffer.concat(pieces);
}

const dataFields: Readonly<Record<DataType, number>> = {
  text: 1,
  binary: 2,
  protobuf: 3,
  json: 4,
};

function payloadIn(value: WireId | Buffer): Payload {
  let payload = noData;
  visitFields(bytesIn(value), (number, content) => {
    const dataType = dataTypes.find((each) => dataFields[each] === number);
    if (dataType === undefined) return;
    const bytes = dataType === 'text' ? utf8In(content) : bytesIn(content);
    // It goes into JSON frames as it is.
    if (dataType === 'json' && !isJson(bytes)) throw new SyntaxError('no JSON');
    payload = { dataType, bytes };
  });
  return payload;
}

function payloadField({ dataType, bytes }: Payload): Buffer {
  return field(dataFields[dataType], bytes);
}

function senderIn(value: WireId | Buffer): 'group' | 'server' {
  const from = textIn(value);
  if (from !== 'group' && from !== 'server') throw new SyntaxError('unknown sender');
  return from;
}

function textIn(value: WireId | Buffer): string {
  return utf8In(value).toString('utf8');
}

function utf8In(value: WireId | Buffer): Buffer {
  const bytes = bytesIn(value);
  if (!isUtf8(bytes)) throw new SyntaxError('no text');
  return bytes;
}

function bytesIn(value: WireId | Buffer): Buffer {
  if (!Buffer.isBuffer(value)) throw new SyntaxError('no bytes');
  return value;
}

function idIn(value: WireId | Buffer): WireId {
  if (Buffer.isBuffer(value)) throw new SyntaxError('no number');
  return value;
}

const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const maxVarintBytes = 10;

/**
 * Iterates over fields; those of fixed width are skipped. Throws SyntaxError for malformed bytes. Source:
 * protobuf.dev, "Encoding".
 */
class Fields {
  number = 0;
  /** Of a varint; undefined for a field with bytes, which are `start`…{@link at}. */
  value: WireId | undefined;
  start = 0;

  constructor(
    private readonly bytes: Buffer,
    public at: number,
    private readonly end: number,
  ) {}

  next(): boolean {
    while (this.at < this.end) {
      const tag = this.varint();
      if (typeof tag === 'bigint' || tag < 8 || tag > 0xffff_ffff) throw new SyntaxError('bad tag');
      this.number = Math.floor(tag / 8);
      this.value = undefined;
      switch (tag % 8) {
        case wireType.varint:
          this.value = this.varint();
          return true;
        case wireType.bytes:
          this.skip(this.varint());
          return true;
        case wireType.fixed64:
          this.skip(8);
          break;
        case wireType.fixed32:
          this.skip(4);
          break;
        default:
          throw new SyntaxError('bad wire type');
      }
    }
    return false;
  }

  private skip(length: WireId): void {
    if (length > this.end - this.at) throw new SyntaxError('cut off');
    this.start = this.at;
    this.at += Number(length);
  }

  private varint(): WireId {
    let value = 0;
    let wide = 0n;
    for (let count = 0; count < maxVarintBytes; count++) {
      if (this.at >= this.end) throw new SyntaxError('cut off');
      const byte = this.bytes[this.at++]!;
      // 7 bytes fit into a number.
      if (count < 7) value += (byte & 0x7f) * 2 ** (7 * count);
      else wide |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte < 0x80) return count < 7 ? value : wireId(BigInt.asUintN(64, wide | BigInt(value)));
    }
    throw new SyntaxError('varint too long');
  }
}

function visitFields(bytes: Buffer, visit: (field: number, value: WireId | Buffer) => void): void {
  const fields = new Fields(bytes, 0, bytes.length);
  while (fields.next())
    visit(fields.number, fields.value ?? bytes.subarray(fields.start, fields.at));
}

/**
 * A number in field `inner` of the message in a frame's first field `outer`. @returns 0 when it is missing, too
 * large, or the frame begins with another field or is cut off
 */
export function nestedVarint(
  bytes: Buffer,
  start: number,
  end: number,
  outer: number,
  inner: number,
): number {
  try {
    const frame = new Fields(bytes, start, end);
    if (!frame.next() || frame.number !== outer || frame.value !== undefined) return 0;
    const message = new Fields(bytes, frame.start, frame.at);
    while (message.next())
      if (message.number === inner && message.value !== undefined)
        return typeof message.value === 'number' ? message.value : 0;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return 0;
}

function varint(value: WireId): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    if (typeof rest === 'bigint') {
      bytes.push(Number(rest & 0x7fn) | 0x80);
      rest = wireId(rest >> 7n);
    } else {
      bytes.push((rest % 128) | 0x80);
      rest = Math.floor(rest / 128);
    }
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export const bytesHead = (field: number, length: number): Buffer =>
  Buffer.concat([varint(field * 8 + wireType.bytes), varint(length)]);

export const varintHead = (field: number): Buffer => varint(field * 8 + wireType.varint);

export function field(number: number, value: WireId | string | Buffer | undefined): Buffer {
  if (value === undefined) return Buffer.alloc(0);
  if (typeof value === 'number' || typeof value === 'bigint') {
    return Buffer.concat([varintHead(number), varint(value)]);
  }
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([bytesHead(number, bytes.length), bytes]);
}
