import { opcode } from '../../wire/socket/frame';
import {
  wireId,
  type WireId,
  type DataMessage,
  type Subprotocol,
} from '../../wire/webpubsub/pubSubMessage';
import { jsonDataHead, jsonDataTail } from '../../wire/webpubsub/jsonMessages';
import { protobufDataHead, protobufDataTail } from '../../wire/webpubsub/protobufMessages';
import { serverFrame, serverHeader } from '../hubProtocol/serverFrame';

/** Encoded once for each form that a receiver wants, and written to every socket without a copy. */
export class Delivery {
  private readonly message: DataMessage;
  private simple: Buffer | undefined;
  private readonly plain: { json?: Buffer; protobuf?: Buffer } = {};
  private readonly tails: { json?: Buffer; protobuf?: Buffer } = {};

  /** @param expiresMs of `performance.now()`: later, nobody gets it; undefined is never */
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

  /** The frame for clients whose messages have no number; undefined is a client without a subprotocol. */
  frame(subprotocol: Subprotocol | undefined): Buffer {
    if (subprotocol === undefined) return (this.simple ??= this.simpleFrame());
    const { format } = subprotocol;
    return (this.plain[format] ??= this.plainFrame(subprotocol));
  }

  numbered({ format }: Subprotocol, sequenceId: number): [head: Buffer, tail: Buffer] {
    const tail = this.tail(format);
    const head =
      format === 'json' ? jsonDataHead(sequenceId) : protobufDataHead(sequenceId, tail.length);
    const header = serverHeader(opcodes[format], head.length + tail.length);
    return [Buffer.concat([header, head]), tail];
  }

  private plainFrame({ format }: Subprotocol): Buffer {
    const tail = this.tail(format);
    const head =
      format === 'json' ? jsonDataHead(undefined) : protobufDataHead(undefined, tail.length);
    return serverFrame(opcodes[format], Buffer.concat([head, tail]));
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

export const opcodes = { json: opcode.text, protobuf: opcode.binary } as const;

/** Bounds of the service; a client that lags further behind is closed for good. */
const maxMessages = 1000;
const maxBytes = 16 * 1024 * 1024;

export class UnackedMessages {
  private deliveries: Delivery[] = [];
  private head = 0;
  private bytes = 0;
  private lastId = 0;

  add(delivery: Delivery): boolean {
    const bytes = this.bytes + delivery.payloadBytes;
    if (this.deliveries.length - this.head >= maxMessages || bytes > maxBytes) return false;
    this.bytes = bytes;
    this.deliveries.push(delivery);
    this.lastId++;
    return true;
  }

  acknowledge(sequenceId: WireId): void {
    while (this.firstId <= sequenceId && this.head < this.deliveries.length) {
      this.bytes -= this.deliveries[this.head++]!.payloadBytes;
    }
    // Cut the used part off only when it is the larger one: constant cost per message.
    if (this.head * 2 > this.deliveries.length) {
      this.deliveries = this.deliveries.slice(this.head);
      this.head = 0;
    }
  }

  at(sequenceId: number): Delivery | undefined {
    return this.deliveries[this.head + sequenceId - this.firstId];
  }

  get firstId(): number {
    return this.lastId - (this.deliveries.length - this.head) + 1;
  }
}

const maxRemembered = 1000;

interface Range {
  readonly first: WireId;
  next: WireId;
}

/** The ack ids one client has used. Clients count up, so that a few ranges hold nearly all of them. */
export class AckIds {
  private readonly ranges: Range[] = [];

  /** Whether the id is new; it is known from then on. */
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

export class EventQueue {
  private readonly waiting: { readonly bytes: number; readonly handle: () => Promise<void> }[] = [];
  private bytes = 0;
  private isBusy = false;

  /** @param onFull called when nothing more should come, and when it may again */
  constructor(private readonly onFull: (isFull: boolean) => void) {}

  add(bytes: number, handle: () => Promise<void>): void {
    this.waiting.push({ bytes, handle });
    this.bytes += bytes;
    if (this.isFull) this.onFull(true);
    if (!this.isBusy) void this.work();
  }

  private get isFull(): boolean {
    return this.waiting.length >= maxWaiting || this.bytes > maxWaitingBytes;
  }

  private async work(): Promise<void> {
    this.isBusy = true;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      await next.handle();
      const wasFull = this.bytes > maxWaitingBytes || this.waiting.length + 1 >= maxWaiting;
      this.bytes -= next.bytes;
      if (wasFull && !this.isFull) this.onFull(false);
    }
    this.isBusy = false;
  }
}
