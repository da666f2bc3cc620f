import { jsonCodec, messagePackCodec, type HubCodec } from '../../wire/message/hubCodec';
import {
  HubMessageError,
  hubMessageType,
  readHandshakeAnswer,
  recordSeparator,
  readUtf8,
  type HubMessage,
} from '../../wire/message/hubMessage';
import { parseObject } from '../../wire/message/jsonScan';
import { bodyLengthAt, prefixBytes, MessagePackExtension } from '../../wire/message/messagePack';
import { shownText } from '../../wire/connectFailure';
import { PendingBytes } from '../../wire/socket/frameReader';
import {
  findSubprotocol,
  type Subprotocol,
  type Payload,
  type ProtobufClientMessage,
  type ProtobufServerMessage,
  type WireId,
} from '../../wire/webpubsub/pubSubMessage';
import {
  readProtobufClientMessage,
  readProtobufServerMessage,
} from '../../wire/webpubsub/protobufMessages';
import type { Direction, RecordedKind, RecordedMessage, RecordedPubSub } from '../recording';

/** Longest recorded message; the service takes no longer one either. */
export const maximumMessageBytes = 1024 * 1024;

export interface TrafficListener {
  opened(protocol: string): void;
  message(direction: Direction, message: RecordedMessage, bytes: number): void;
  raw(direction: Direction, bytes: number, why: string): void;
  /** The server's reason for ending the connection. */
  ending(reason: string): void;
}

/** Reads the messages of one client from the payloads of its transport. */
export interface TrafficReader {
  /** @param payload valid only during the call */
  said(direction: Direction, payload: Buffer, isText: boolean): void;
  tooLong(direction: Direction, bytes: number): void;
  over(): void;
}

export const trafficReaderFor = (
  kind: RecordedKind,
  listener: TrafficListener,
  subprotocol: string | undefined,
): TrafficReader =>
  kind === 'signalr' ? new HubTraffic(listener) : new PubSubTraffic(listener, subprotocol);

export const cutOffReason = 'cut off';
const tooLongToKeep = `longer than ${maximumMessageBytes / 1024 / 1024} MB`;
const noHub = 'no message of the SignalR hub protocol';
const noHandshake = 'no handshake of the SignalR hub protocol stands before it';
const noPubSub = 'no message of its subprotocol';
const maximumHandshakeBytes = 4096;

/** Source: SignalR hub protocol, "Overview". */
export class HubTraffic implements TrafficReader {
  private codec: HubCodec | undefined;
  private isOpen = false;
  private readonly out = new PendingBytes();
  private readonly in = new PendingBytes();
  private isAnswered = false;

  constructor(private readonly listener: TrafficListener) {}

  said(direction: Direction, payload: Buffer): void {
    if (this.isOpen && this.codec === undefined) {
      this.listener.raw(direction, payload.length, noHub);
      return;
    }
    const rest = this[direction];
    let bytes = payload;
    if (rest.length > 0) {
      rest.append(payload);
      bytes = rest.take();
    }
    const used = this.read(direction, bytes);
    const left = bytes.length - used;
    if (left > maximumMessageBytes) this.listener.raw(direction, left, tooLongToKeep);
    else if (left > 0) rest.append(bytes, used);
  }

  tooLong(direction: Direction, bytes: number): void {
    this.open('unknown');
    this[direction].take();
    this.listener.raw(direction, bytes, tooLongToKeep);
  }

  over(): void {
    this.open('unknown');
    for (const direction of ['out', 'in'] as const) {
      const left = this[direction].take().length;
      if (left > 0) this.listener.raw(direction, left, cutOffReason);
    }
  }

  private open(protocol: string): void {
    if (this.isOpen) return;
    this.isOpen = true;
    this.listener.opened(protocol);
  }

  /** @returns offset after the last whole message */
  private read(direction: Direction, bytes: Buffer): number {
    let at = direction === 'out' ? this.readHandshake(bytes) : this.readAnswer(bytes);
    const { codec } = this;
    if (codec === undefined) return at;
    while (at < bytes.length) {
      const span = spanOf(codec, bytes, at);
      if (span === 'incomplete') break;
      if (span === 'invalid') {
        this.listener.raw(direction, bytes.length - at, noHub);
        return bytes.length;
      }
      this.message(direction, codec, bytes, { at, ...span });
      at = span.next;
    }
    return at;
  }

  private message(
    direction: Direction,
    codec: HubCodec,
    bytes: Buffer,
    { at, start, end, next }: { at: number; start: number; end: number; next: number },
  ): void {
    try {
      const read = codec.read(bytes, start, end);
      if (read === undefined) {
        this.listener.raw(direction, next - at, 'a type of message that is not known here');
        return;
      }
      const message = codec === messagePackCodec ? recordedHubMessage(read) : read;
      this.listener.message(direction, message, next - at);
      if (direction === 'in' && message.type === hubMessageType.close)
        this.listener.ending(shownText(message.error ?? ''));
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      this.listener.raw(direction, next - at, error.message);
    }
  }

  private readHandshake(bytes: Buffer): number {
    if (this.isOpen) return 0;
    const end = bytes.indexOf(recordSeparator);
    if (end < 0 && bytes.length <= maximumHandshakeBytes) return 0;
    const fields = end < 0 ? undefined : parseObject(bytes.toString('utf8', 0, end));
    const protocol = fields?.['type'] === undefined ? fields?.['protocol'] : undefined;
    if (protocol === 'json') this.codec = jsonCodec;
    else if (protocol === 'messagepack') this.codec = messagePackCodec;
    this.open(
      typeof protocol === 'string' && /^[\w.-]{1,64}$/.test(protocol) ? protocol : 'unknown',
    );
    if (this.codec !== undefined) return end + 1;
    this.listener.raw('out', bytes.length, noHandshake);
    return bytes.length;
  }

  private readAnswer(bytes: Buffer): number {
    if (this.isAnswered) return 0;
    const end = bytes.indexOf(recordSeparator);
    if (end < 0) return 0;
    this.isAnswered = true;
    try {
      const refusal = readHandshakeAnswer(readUtf8(bytes, 0, end));
      if (refusal !== undefined) this.listener.ending(shownText(refusal));
    } catch (error) {
      if (!(error instanceof HubMessageError)) throw error;
      this.listener.raw('in', end + 1, error.message);
    }
    return end + 1;
  }
}

function spanOf(
  codec: HubCodec,
  bytes: Buffer,
  at: number,
): { start: number; end: number; next: number } | 'incomplete' | 'invalid' {
  if (codec === jsonCodec) {
    const end = bytes.indexOf(recordSeparator, at);
    return end < 0 ? 'incomplete' : { start: at, end, next: end + 1 };
  }
  const prefix = prefixBytes(bytes, at, bytes.length);
  if (typeof prefix === 'string') return prefix;
  const start = at + prefix;
  const end = start + bodyLengthAt(bytes, at, prefix);
  return end > bytes.length ? 'incomplete' : { start, end, next: end };
}

/** A web socket message is one message of the subprotocol. */
export class PubSubTraffic implements TrafficReader {
  private readonly subprotocol: Subprotocol | undefined;

  constructor(
    private readonly listener: TrafficListener,
    private readonly name: string | undefined,
  ) {
    this.subprotocol = name === undefined ? undefined : findSubprotocol(name);
    listener.opened(name ?? 'none');
  }

  said(direction: Direction, payload: Buffer, isText: boolean): void {
    const message = this.read(direction, payload, isText);
    if (message === undefined) {
      this.listener.raw(direction, payload.length, noPubSub);
      return;
    }
    this.listener.message(direction, message, payload.length);
    const { type, event, message: words } = message;
    if (type === 'system' && event === 'disconnected')
      this.listener.ending(typeof words === 'string' ? shownText(words) : '');
  }

  tooLong(direction: Direction, bytes: number): void {
    this.listener.raw(direction, bytes, tooLongToKeep);
  }

  over(): void {}

  private read(direction: Direction, payload: Buffer, isText: boolean): RecordedPubSub | undefined {
    const { subprotocol, name } = this;
    if (subprotocol?.format === 'json') return isText ? jsonMessage(payload) : undefined;
    if (subprotocol?.format === 'protobuf') {
      const read = direction === 'out' ? readProtobufClientMessage : readProtobufServerMessage;
      const message = isText ? undefined : read(payload);
      return message && recordedProtobuf(message);
    }
    // A subprotocol of the application, or of clients such as MQTT.
    if (name !== undefined) return undefined;
    const data = recordedPayload({ dataType: isText ? 'text' : 'binary', bytes: payload });
    return direction === 'out'
      ? { type: 'event', event: 'message', ...data }
      : { type: 'message', from: 'server', ...data };
  }
}

/** Without the token for reconnecting. */
function jsonMessage(payload: Buffer): RecordedPubSub | undefined {
  const fields = { ...parseObject(payload.toString('utf8')) };
  delete fields['reconnectionToken'];
  return typeof fields['type'] === 'string' ? (fields as unknown as RecordedPubSub) : undefined;
}

/** MessagePack as JSON, see {@link MessageEvent} of recordings. */
export function recordedValue(value: unknown): unknown {
  if (typeof value === 'bigint') return { $integer: String(value) };
  if (typeof value === 'number') return Number.isFinite(value) ? value : { $float: String(value) };
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return { $bytes: base64(value) };
  if (value instanceof MessagePackExtension)
    return { $extension: [value.type, base64(value.data)] };
  if (Array.isArray(value)) return value.map(recordedValue);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, recordedValue(member)]),
  );
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

export function recordedHubMessage(message: HubMessage): HubMessage {
  if ('arguments' in message)
    return { ...message, arguments: message.arguments.map(recordedValue) };
  if ('item' in message) return { ...message, item: recordedValue(message.item) };
  if ('result' in message) return { ...message, result: recordedValue(message.result) };
  return message;
}

export function recordedProtobuf(
  message: ProtobufClientMessage | ProtobufServerMessage,
): RecordedPubSub {
  const { type } = message;
  switch (type) {
    case 'connected': {
      const { userId } = message;
      return { type: 'system', event: type, ...(userId !== undefined && { userId }) };
    }
    case 'disconnected':
      return { type: 'system', event: type, message: message.message };
    default: {
      const { payload, ...members } = { payload: undefined, ...message };
      return { ...withIds(members), ...(payload !== undefined && recordedPayload(payload)) };
    }
  }
}

function withIds(members: Readonly<Record<string, unknown>> & { type: string }): RecordedPubSub {
  const kept = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, typeof value === 'bigint' ? String(value) : value]),
  ) as unknown as RecordedPubSub & Record<'ackId', WireId>;
}

function recordedPayload({ dataType, bytes }: Payload): Pick<RecordedPubSub, 'dataType' | 'data'> {
  switch (dataType) {
    case 'json':
      return { dataType, data: JSON.parse(bytes.toString('utf8')) as unknown };
    case 'text':
      return { dataType, data: bytes.toString('utf8') };
    default:
      return { dataType, data: bytes.toString('base64') };
  }
}
