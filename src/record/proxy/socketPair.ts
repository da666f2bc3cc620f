import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Direction } from '../recording';
import { trafficReaderFor, cutOffReason } from './conversation';
import { FrameTap } from './frameTap';
import type { Recorder } from './recorder';

/** Reads aside what goes through a pair of sockets. */
export interface SocketTap {
  /** Gets what has been passed on. */
  bytes(direction: Direction, chunk: Buffer): void;
  ended(): void;
}

interface SocketPair {
  readonly client: Duplex;
  readonly server: Duplex;
  /** What was read with the requests of the upgrade. */
  readonly clientHead: Buffer;
  readonly serverHead: Buffer;
}

/**
 * Passes on the bytes of two sockets as they come; who is slow slows only whom it listens to.
 * @returns what ends both
 */
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
      // What the other side has not taken yet still goes out.
      if (to.destroyed || to.writableFinished) end();
      else to.end(end);
    });
  };
  connect(client, server, 'out', clientHead);
  connect(server, client, 'in', serverHead);
  return end;
}

/** What a client and its server say over a web socket goes to the recorder. */
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
