import { inBackground } from '../../base/async';
import { faultReason } from '../http/loopbackServer';
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import {
  type ClientMessage,
  type Payload,
  type ProtobufServerMessage,
  type ServerMessage,
  type Subprotocol,
  wireId,
  type WireId,
  type DataMessage,
} from '../../wire/webpubsub/pubSubMessage';
import {
  readJsonClientMessage,
  writeJsonServerMessage,
  jsonDataHead,
  jsonDataTail,
} from '../../wire/webpubsub/jsonMessages';
import {
  readProtobufClientMessage,
  writeProtobufServerMessage,
  protobufDataHead,
  protobufDataTail,
} from '../../wire/webpubsub/protobufMessages';
import type { HubClients, HubMember } from '../hub/hubGroups';
import { serverFrame, serverHeader } from '../hubProtocol/serverProtocol';
import type { WebSocketTransport } from '../http/transports';
import type { RestHost } from '../service/rest';
import { Permissions } from './permissions';
import type { PubSubUpstream } from './pubSubUpstream';
import { opcode } from '../../wire/socket/frame';

export interface Admission {
  readonly userId: string | undefined;
  readonly roles: readonly string[];
  readonly groups: readonly string[];
  /** The answer to `Sec-WebSocket-Protocol`, which may be none of the service's. */
  readonly protocolName: string | undefined;
  readonly subprotocol: Subprotocol | undefined;
  readonly connectionState: string | undefined;
}

export interface PubSubHost extends RestHost<PubSubHub> {
  readonly tickMs: number;
  readonly upstream: PubSubUpstream;
  readonly allowAnonymous: boolean;
  onMessage(client: PubSubClient, message: ClientMessage): void;
  onRawFrame(client: PubSubClient, payload: Payload): void;
  countDelivered(count: number): void;
  onEnd(client: PubSubClient, reason: string): void;
}

const maxUnreadBytes = 1024 * 1024;
const flowingBytes = 256 * 1024;
/** Default of the service; a client may miss two pings. */
const keepAliveMs = 20_000;
const silenceMs = 50_000;
const recoveryMs = 30_000;

/** Close codes of an orderly end (RFC 6455, 7.4.1). */
const orderlyCodes = [1000, 1005];
/** Tells reliable clients not to recover. */
const goneForGood = 1008;

export type PubSubHub = HubClients<PubSubClient>;

/** One client; reliable ones outlive their socket for 30 s. */
export class PubSubClient implements HubMember {
  groups: Set<string> | undefined;
  readonly userId: string | undefined;
  /** Undefined for a simple client, whose frames are its messages. */
  readonly subprotocol: Subprotocol | undefined;
  permissions: Permissions;
  connectionState: string | undefined;
  private socket: WebSocketTransport | undefined;
  private isOver = false;
  private ackIds: AckIds | undefined;
  private readonly unacked: UnackedMessages | undefined;
  private nextSent = 1;
  private reconnectionToken: Buffer | undefined;
  private events: EventQueue | undefined;
  private lastSeenMs: number;
  private nextPingMs: number;

  constructor(
    readonly hub: PubSubHub,
    readonly id: string,
    { userId, subprotocol, roles, connectionState }: Admission,
    private readonly host: PubSubHost,
  ) {
    this.userId = userId;
    this.subprotocol = subprotocol;
    this.permissions = Permissions.fromRoles(roles);
    this.connectionState = connectionState;
    this.unacked = subprotocol?.isReliable === true ? new UnackedMessages() : undefined;
    this.lastSeenMs = host.tickMs;
    this.nextPingMs = host.tickMs + keepAliveMs;
  }

  get isConnected(): boolean {
    return this.socket !== undefined;
  }

  attach(socket: WebSocketTransport): void {
    this.socket?.terminate();
    this.socket = socket;
    this.seen();
    socket.attach({
      onData: (data, isBinary) => this.arrived(socket, data, isBinary),
      onFault: (reason) => this.end(reason, 1007),
      onSignOfLife: () => this.seen(),
      hasRoom: () => socket === this.socket && !this.isOver && this.hasRoom(),
      onClosed: (code) => this.gone(socket, code),
    });
    if (this.unacked !== undefined) this.reconnectionToken = randomBytes(24);
    const { id: connectionId, userId } = this;
    const reconnectionToken = this.reconnectionToken?.toString('base64url');
    this.send({ type: 'connected', connectionId, userId, reconnectionToken });
    if (this.unacked === undefined) return;
    this.nextSent = this.unacked.firstId;
    socket.onDrain(() => this.sendUnacked());
    this.sendUnacked();
  }

  canRecover(token: string, subprotocol: Subprotocol | undefined): boolean {
    const given = Buffer.from(token, 'base64url');
    const own = this.reconnectionToken;
    return (
      own !== undefined &&
      given.length === own.length &&
      timingSafeEqual(given, own) &&
      subprotocol === this.subprotocol
    );
  }

  isNewAck(id: number | bigint): boolean {
    return (this.ackIds ??= new AckIds()).add(id);
  }

  acknowledge(sequenceId: number | bigint): void {
    this.unacked?.acknowledge(sequenceId);
  }

  deliver(delivery: Delivery): void {
    if (this.isOver) return;
    if (this.unacked === undefined) {
      if (this.hasRoom()) this.socket?.write(delivery.frame(this.subprotocol));
      return;
    }
    if (this.unacked.add(delivery)) this.sendUnacked();
    else this.end('Too many messages are waiting to be acknowledged by this client.', goneForGood);
  }

  send(message: ServerMessage): void {
    if (this.isOver || this.subprotocol === undefined || !this.hasRoom()) return;
    const { format } = this.subprotocol;
    const payload =
      format === 'json'
        ? writeJsonServerMessage(message)
        : // A client of this form cannot ask for what the form has no answer to.
          writeProtobufServerMessage(message as ProtobufServerMessage);
    this.socket?.write(serverFrame(opcodes[format], payload));
  }

  enqueueEvent(bytes: number, handle: () => Promise<void>): void {
    this.events ??= new EventQueue((isFull) => {
      if (isFull) this.socket?.pause();
      else this.socket?.resume();
    });
    this.events.add(bytes, handle);
  }

  end(reason: string, code = 1000): void {
    if (this.isOver || !this.hasRoom()) return;
    this.send({ type: 'disconnected', message: reason });
    this.isOver = true;
    this.socket?.close(this.unacked !== undefined && code === 1000 ? goneForGood : code, reason);
    this.leaveHub(reason);
  }

  tick(nowMs: number): void {
    const silentMs = nowMs - this.lastSeenMs;
    if (this.socket === undefined) {
      if (silentMs > recoveryMs) this.end('The client has not come back in time.', goneForGood);
    } else if (silentMs > silenceMs) {
      this.socket.terminate();
    } else if (nowMs >= this.nextPingMs) {
      this.nextPingMs = nowMs + keepAliveMs;
      this.socket.ping();
    }
  }

  terminate(): void {
    this.socket?.terminate();
  }

  private seen(): void {
    this.lastSeenMs = this.host.tickMs;
  }

  private arrived(socket: WebSocketTransport, data: Buffer, isBinary: boolean): void {
    this.seen();
    if (this.isOver || socket !== this.socket) return;
    if (this.subprotocol === undefined) {
      const dataType = isBinary ? 'binary' : 'text';
      this.host.onRawFrame(this, { dataType, bytes: data });
      return;
    }
    const { format } = this.subprotocol;
    const read = format === 'json' ? readJsonClientMessage : readProtobufClientMessage;
    const message = isBinary === (format === 'protobuf') ? read(data) : undefined;
    if (message === undefined) {
      this.end(`The client has sent a frame that is not valid in ${this.subprotocol.name}.`, 1007);
    } else {
      this.host.onMessage(this, message);
    }
  }

  private gone(socket: WebSocketTransport, code: number | undefined): void {
    if (socket !== this.socket) return;
    this.socket = undefined;
    if (this.isOver) return;
    this.seen();
    if (this.unacked !== undefined && !orderlyCodes.some((each) => each === code)) return;
    this.isOver = true;
    this.leaveHub(code === 1006 ? 'The connection was lost.' : '');
  }

  private sendUnacked(): void {
    const { unacked, socket, subprotocol } = this;
    if (unacked === undefined || socket === undefined || subprotocol === undefined) return;
    this.nextSent = Math.max(this.nextSent, unacked.firstId);
    while (socket.isWritable && socket.unreadBytes <= flowingBytes) {
      const delivery = unacked.at(this.nextSent);
      if (delivery === undefined) return;
      const sequenceId = this.nextSent++;
      if (delivery.expiresMs !== undefined && delivery.expiresMs <= performance.now()) continue;
      socket.writeTwo(...delivery.numbered(subprotocol, sequenceId));
    }
  }

  private leaveHub(reason: string): void {
    this.hub.remove(this);
    this.host.onEnd(this, reason);
  }

  private hasRoom(): boolean {
    // Reliable messages wait elsewhere; one large one may be under way.
    const allowedBytes = this.unacked === undefined ? maxUnreadBytes : 3 * maxUnreadBytes;
    if (this.socket === undefined || this.socket.unreadBytes <= allowedBytes) return true;
    this.isOver = true;
    this.socket.close(goneForGood, 'SlowClient');
    this.leaveHub('SlowClient');
    return false;
  }
}

type Choice = (client: PubSubClient) => boolean;

export function deliverTo(
  all: Iterable<PubSubClient>,
  delivery: Delivery,
  isWanted?: Choice,
): number {
  let count = 0;
  for (const client of all) {
    if (isWanted?.(client) === false) continue;
    client.deliver(delivery);
    count++;
  }
  return count;
}

/** A message, encoded once per format for all receivers. */
export class Delivery {
  private readonly message: DataMessage;
  private simple: Buffer | undefined;
  private readonly plain: { json?: Buffer; protobuf?: Buffer } = {};
  private readonly tails: { json?: Buffer; protobuf?: Buffer } = {};

  /** @param expiresMs of `performance.now()`; undefined is never */
  constructor(
    {
      from,
      group,
      fromUserId,
      payload,
    }: Pick<DataMessage, 'from' | 'group' | 'payload'> & Partial<DataMessage>,
    readonly expiresMs?: number,
  ) {
    this.message = { type: 'message', from, group, fromUserId, sequenceId: undefined, payload };
  }

  get payloadBytes(): number {
    return this.message.payload.bytes.length;
  }

  frame(subprotocol: Subprotocol | undefined): Buffer {
    if (subprotocol === undefined) return (this.simple ??= this.simpleFrame());
    const { format } = subprotocol;
    return (this.plain[format] ??= this.plainFrame(subprotocol));
  }

  numbered({ format }: Subprotocol, sequenceId: number): [head: Buffer, tail: Buffer] {
    const tail = this.tail(format);
    const head = dataHead(format, tail, sequenceId);
    const header = serverHeader(opcodes[format], head.length + tail.length);
    return [Buffer.concat([header, head]), tail];
  }

  private plainFrame({ format }: Subprotocol): Buffer {
    const tail = this.tail(format);
    return serverFrame(opcodes[format], Buffer.concat([dataHead(format, tail), tail]));
  }

  private tail(format: Subprotocol['format']): Buffer {
    return (this.tails[format] ??=
      format === 'json' ? jsonDataTail(this.message) : protobufDataTail(this.message));
  }

  private simpleFrame(): Buffer {
    const { dataType, bytes } = this.message.payload;
    const isText = dataType === 'text' || dataType === 'json';
    return serverFrame(isText ? opcode.text : opcode.binary, bytes);
  }
}

const dataHead = (format: Subprotocol['format'], tail: Buffer, sequenceId?: number): Buffer =>
  format === 'json' ? jsonDataHead(sequenceId) : protobufDataHead(sequenceId, tail.length);

const opcodes = { json: opcode.text, protobuf: opcode.binary } as const;

/** Limits of the service; a client that lags further is closed. */
const maxMessages = 1000;
const maxBytes = 16 * 1024 * 1024;

export class UnackedMessages {
  private readonly deliveries: Delivery[] = [];
  private bytes = 0;
  firstId = 1;

  add(delivery: Delivery): boolean {
    const bytes = this.bytes + delivery.payloadBytes;
    if (this.deliveries.length >= maxMessages || bytes > maxBytes) return false;
    this.bytes = bytes;
    this.deliveries.push(delivery);
    return true;
  }

  acknowledge(sequenceId: WireId): void {
    for (; this.firstId <= sequenceId && this.deliveries.length > 0; this.firstId++)
      this.bytes -= this.deliveries.shift()!.payloadBytes;
  }

  at(sequenceId: number): Delivery | undefined {
    return this.deliveries[sequenceId - this.firstId];
  }
}

const maxRemembered = 1000;

interface Range {
  readonly first: WireId;
  next: WireId;
}

/** The ack ids of one client, as ranges, since clients count up. */
export class AckIds {
  private readonly ranges: Range[] = [];

  add(id: WireId): boolean {
    const { ranges } = this;
    const next = idAfter(id);
    let before: Range | undefined;
    let behind = -1;
    for (let at = ranges.length - 1; at >= 0; at--) {
      const range = ranges[at]!;
      if (range.next === id) before = range;
      else if (range.first === next) behind = at;
      else if (id >= range.first && id < range.next) return false;
    }
    const joined = ranges[behind];
    if (joined !== undefined) ranges.splice(behind, 1);
    if (before !== undefined) before.next = joined?.next ?? next;
    else ranges.push({ first: id, next: joined?.next ?? next });
    if (ranges.length > maxRemembered) ranges.shift();
    return true;
  }
}

const idAfter = (id: WireId): WireId =>
  typeof id === 'number' && id < Number.MAX_SAFE_INTEGER ? id + 1 : wireId(BigInt(id) + 1n);

const maxWaiting = 32;
const maxWaitingBytes = 1024 * 1024;

class EventQueue {
  private readonly waiting: { readonly bytes: number; readonly handle: () => Promise<void> }[] = [];
  private bytes = 0;
  private isBusy = false;

  /** @param onFull whether reading should stop */
  constructor(private readonly onFull: (isFull: boolean) => void) {}

  add(bytes: number, handle: () => Promise<void>): void {
    this.waiting.push({ bytes, handle });
    this.bytes += bytes;
    if (this.isFull) this.onFull(true);
    if (!this.isBusy) inBackground(this.work());
  }

  private get isFull(): boolean {
    return this.waiting.length >= maxWaiting || this.bytes > maxWaitingBytes;
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      await next.handle().catch(faultReason);
      const wasFull = this.bytes > maxWaitingBytes || this.waiting.length + 1 >= maxWaiting;
      this.bytes -= next.bytes;
      if (wasFull && !this.isFull) this.onFull(false);
    }
    this.isBusy = false;
  }
}
