import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Direction } from '../recording';
import { trafficReaderFor, cutOffReason, maximumMessageBytes } from './traffic';
import type { Recorder } from './recorder';
import { isValidCloseCode, noCloseCode, opcode } from '../../wire/socket/frame';
import { PendingBytes } from '../../wire/socket/frameReader';

export interface SocketTap {
  bytes(direction: Direction, chunk: Buffer): void;
  ended(): void;
}

interface SocketPair {
  readonly client: Duplex;
  readonly server: Duplex;
  readonly clientHead: Buffer;
  readonly serverHead: Buffer;
}

/** Backpressure holds for each direction alone. @returns what closes both */
export function forwardSockets(
  { client, server, clientHead, serverHead }: SocketPair,
  tap: SocketTap,
): () => void {
  let isOver = false;
  const end = (): void => {
    client.destroy();
    server.destroy();
    if (!isOver) tap.ended();
    isOver = true;
  };
  const connect = (from: Duplex, to: Duplex, direction: Direction, head: Buffer): void => {
    if (head.length > 0) from.unshift(head);
    (from as Socket).setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      if (!to.write(chunk)) from.pause();
      tap.bytes(direction, chunk);
    });
    to.on('drain', () => from.resume());
    from.on('end', () => to.end());
    from.on('error', end);
    from.on('close', () => {
      // Pending bytes still go out.
      if (to.destroyed || to.writableFinished) end();
      else to.end(end);
    });
  };
  connect(client, server, 'out', clientHead);
  connect(server, client, 'in', serverHead);
  return end;
}

export function tapWebSocket(
  request: IncomingMessage,
  answer: IncomingMessage,
  { url, recorder }: { readonly url: URL; readonly recorder: Recorder },
): SocketTap {
  const subprotocol = answer.headers['sec-websocket-protocol'];
  const isPubSub =
    /\/clients?\/[^/]+\/hubs\/|\/client\/hubs\//i.test(url.pathname) ||
    (subprotocol?.includes('webpubsub') ?? false);
  const kind = isPubSub ? 'webpubsub' : 'signalr';
  const client = recorder.client(request, url, 'WebSockets', kind);
  const conversation = trafficReaderFor(kind, client, subprotocol);
  let closing: { readonly code: number; readonly reason: string } | undefined;
  const tapOf = (direction: Direction): FrameTap =>
    new FrameTap({
      message: (payload, isText) => conversation.said(direction, payload, isText),
      tooLong: (bytes) => conversation.tooLong(direction, bytes),
      closed: (code, reason) => (closing ??= { code, reason }),
      broken: (why) => client.raw(direction, 0, why),
    });
  const taps = { out: tapOf('out'), in: tapOf('in') };
  return {
    bytes: (direction, chunk) => taps[direction].read(chunk),
    ended: () => {
      conversation.over();
      for (const direction of ['out', 'in'] as const) {
        const unread = taps[direction].over();
        if (unread > 0) client.raw(direction, unread, cutOffReason);
      }
      client.closed(closing?.code, closing?.reason);
    },
  };
}

export interface FrameTapListener {
  /** The payload is valid only during the call. */
  message(payload: Buffer, isText: boolean): void;
  tooLong(bytes: number): void;
  closed(code: number, reason: string): void;
  broken(why: string): void;
}

/**
 * Reads frames of a passing web socket (RFC 6455, 5.2), masked or not. Skips long messages, stops reading at an error, and
 * leaves the chunks unchanged.
 */
export class FrameTap {
  private readonly rest = new PendingBytes();
  private wanted = 0;
  private skipping = 0;
  private parts: Buffer[] = [];
  private partsBytes = 0;
  private isText = false;
  private isInside = false;
  private isOver = false;

  constructor(
    private readonly listener: FrameTapListener,
    private readonly maximumBytes = maximumMessageBytes,
  ) {}

  read(chunk: Buffer): void {
    let bytes = chunk;
    if (this.rest.length > 0) {
      this.rest.append(chunk);
      if (this.rest.length < this.wanted) return;
      bytes = this.rest.take();
    }
    let at = Math.min(this.skipping, bytes.length);
    this.skipping -= at;
    while (at < bytes.length && !this.isOver) {
      const head = headAt(bytes, at);
      const isKept = typeof head === 'object' && head.length <= this.maximumBytes;
      this.wanted = typeof head === 'number' ? head : head.start + (isKept ? head.length : 0);
      if (typeof head === 'number' || at + this.wanted > bytes.length) {
        this.rest.append(bytes, at);
        return;
      }
      const start = at + head.start;
      at = start + head.length;
      this.frame(head, isKept ? bytes.subarray(start, at) : undefined);
      this.skipping = Math.max(0, at - bytes.length);
    }
  }

  over(): number {
    return this.isOver ? 0 : this.rest.length + (this.isInside ? this.partsBytes : 0);
  }

  private frame(head: FrameHead, payload: Buffer | undefined): void {
    const problem = problemOf(head, this.isInside);
    if (problem !== undefined) {
      this.isOver = true;
      this.listener.broken(problem);
      return;
    }
    const bytes = payload && unmasked(payload, head.mask);
    if (head.code < opcode.close) {
      this.part(head, bytes);
    } else if (head.code === opcode.close && bytes !== undefined) {
      const code = bytes.length < 2 ? noCloseCode : bytes.readUInt16BE(0);
      this.listener.closed(isValidCloseCode(code) ? code : noCloseCode, bytes.toString('utf8', 2));
    }
  }

  private part({ isLast, code, length }: FrameHead, bytes: Buffer | undefined): void {
    if (code !== opcode.continuation) {
      this.isText = code === opcode.text;
      this.partsBytes = 0;
    }
    this.partsBytes += length;
    this.isInside = !isLast;
    if (bytes === undefined || this.partsBytes > this.maximumBytes) this.parts = [];
    else this.parts.push(bytes);
    if (!isLast) return;
    const { parts, partsBytes } = this;
    this.parts = [];
    if (partsBytes > this.maximumBytes) this.listener.tooLong(partsBytes);
    else this.listener.message(parts.length === 1 ? parts[0]! : Buffer.concat(parts), this.isText);
  }
}

interface FrameHead {
  readonly isLast: boolean;
  readonly isExtended: boolean;
  readonly code: number;
  readonly length: number;
  readonly start: number;
  readonly mask: Buffer | undefined;
}

/** A number: how many bytes are needed. */
function headAt(bytes: Buffer, at: number): FrameHead | number {
  const there = bytes.length - at;
  if (there < 2) return 2;
  const [first, second] = [bytes[at]!, bytes[at + 1]!];
  const marker = second & 0x7f;
  const maskAt = marker < 126 ? 2 : marker === 126 ? 4 : 10;
  const isMasked = (second & 0x80) !== 0;
  const start = isMasked ? maskAt + 4 : maskAt;
  if (there < start) return start;
  // Rounding above 2^53 does not matter: it is beyond every limit.
  const length =
    marker < 126
      ? marker
      : marker === 126
        ? bytes.readUInt16BE(at + 2)
        : Number(bytes.readBigUInt64BE(at + 2));
  return {
    isLast: (first & 0x80) !== 0,
    isExtended: (first & 0x70) !== 0,
    code: first & 0x0f,
    length,
    start,
    mask: isMasked ? bytes.subarray(at + maskAt, at + start) : undefined,
  };
}

function problemOf({ isLast, isExtended, code, length }: FrameHead, isInside: boolean) {
  if (isExtended) return 'a frame uses an extension that was not agreed';
  const isControl = code >= opcode.close;
  if (code > opcode.pong || (code > opcode.binary && !isControl))
    return `a frame has the unknown opcode ${code}`;
  if (isControl)
    return length > 125 || !isLast ? 'a control frame is too long or fragmented' : undefined;
  return (code === opcode.continuation) === isInside ? undefined : 'fragments are out of order';
}

/** Unmasks a copy: the bytes are still being sent. */
function unmasked(payload: Buffer, mask: Buffer | undefined): Buffer {
  if (mask === undefined) return payload;
  const copy = Buffer.from(payload);
  for (let at = 0; at < copy.length; at++) copy[at]! ^= mask[at & 3]!;
  return copy;
}
