import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Direction } from '../recording';
import { cutOff, HubConversation, PubSubConversation, type Conversation } from './conversation';
import { FrameTap } from './frameTap';
import type { Recorder } from './recorder';

/** Both sockets of a web socket that goes through. */
export interface SocketPair {
  /** Calls back with what has been passed on. */
  onBytes(listener: (direction: Direction, chunk: Buffer) => void): void;
  onEnd(listener: () => void): void;
  start(): void;
  end(): void;
}

interface PairOptions {
  readonly client: Duplex;
  readonly server: Duplex;
  /** What was read with the requests of the upgrade. */
  readonly clientHead: Buffer;
  readonly serverHead: Buffer;
}

/** Passes on the bytes of two sockets as they come; who is slow slows only whom it listens to. */
export function passOn({ client, server, clientHead, serverHead }: PairOptions): SocketPair {
  let show: (direction: Direction, chunk: Buffer) => void = () => undefined;
  const endings: (() => void)[] = [];
  const end = (): void => {
    client.destroy();
    server.destroy();
    for (const ended of endings.splice(0)) ended();
  };
  const connect = (from: Duplex, to: Duplex, direction: Direction): void => {
    (from as Socket).setNoDelay(true);
    from.on('data', (chunk: Buffer) => {
      if (!to.write(chunk)) from.pause();
      show(direction, chunk);
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
  return {
    onBytes: (listener) => (show = listener),
    onEnd: (listener) => endings.push(listener),
    start: () => {
      if (clientHead.length > 0) client.unshift(clientHead);
      if (serverHead.length > 0) server.unshift(serverHead);
      connect(client, server, 'out');
      connect(server, client, 'in');
    },
    end,
  };
}

/** Reads aside what a client and its server say over a web socket. */
export function recordSocket(
  pair: SocketPair,
  request: IncomingMessage,
  answer: IncomingMessage,
  { url, recorder }: { readonly url: URL; readonly recorder: Recorder },
): void {
  const subprotocol = answer.headers['sec-websocket-protocol'];
  const isPubSub =
    /\/clients?\/[^/]+\/hubs\/|\/client\/hubs\//i.test(url.pathname) ||
    (subprotocol?.includes('webpubsub') ?? false);
  const client = recorder.client(request, url, 'WebSockets', isPubSub ? 'webpubsub' : 'signalr');
  const conversation: Conversation = isPubSub
    ? new PubSubConversation(client, subprotocol)
    : new HubConversation(client);
  let closing: { readonly code: number; readonly reason: string } | undefined;
  const tapOf = (direction: Direction): FrameTap =>
    new FrameTap({
      message: (payload, isText) => conversation.said(direction, payload, isText),
      tooLong: (bytes) => conversation.tooLong(direction, bytes),
      closed: (code, reason) => (closing ??= { code, reason }),
      broken: (why) => client.raw(direction, 0, why),
    });
  const taps = { out: tapOf('out'), in: tapOf('in') };
  pair.onBytes((direction, chunk) => recorder.readLater(taps[direction], chunk));
  pair.onEnd(() => {
    recorder.readWaiting();
    conversation.over();
    for (const direction of ['out', 'in'] as const) {
      const left = taps[direction].over();
      if (left > 0) client.raw(direction, left, cutOff);
    }
    client.closed(closing?.code, closing?.reason);
  });
}
