import * as net from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Random } from '../../src/base/random';

/**
 * What a link between client and server may do wrong, both ways. No package of npm does these things by itself: what is
 * there are clients of toxiproxy, a server that has to be had elsewhere, and proxies that pass bytes on.
 */
export interface Faults {
  /** Each piece arrives so much later. */
  readonly delayMs?: number;
  /** And by a random time up to this, in order all the same. */
  readonly jitterMs?: number;
  /** Each way of a connection carries so many. */
  readonly bytesPerSecond?: number;
  /** What comes at once is passed on in pieces: cut at random places, or byte by byte. */
  readonly pieces?: 'random' | 'bytes';
  /** What goes wrong with the chosen connections, after {@link afterMs}. */
  readonly then?: 'reset' | 'halfOpen' | 'cut';
  readonly afterMs?: number;
  /** Of all connections, 0…1. */
  readonly share?: number;
}

/** Bytes that are passed on one by one for each connection and way; beyond them pieces are larger, or a run would not end. */
const mostSingleBytes = 600;
/** Read from a socket and not passed on yet. */
const mostWaitingBytes = 1 << 20;

/** A way to a server on loopback that has faults. */
export interface FaultProxy {
  readonly port: number;
  /** How often the text went by whole on its way to clients, whatever it stood in. */
  passed(): number;
  /** Connections that are open on the client's side. */
  open(): number;
  dispose(): void;
}

/** @param text that is counted on its way to clients */
export async function startFaultProxy(
  port: number,
  faults: Faults,
  random: Random,
  text: string,
): Promise<FaultProxy> {
  const sockets = new Set<net.Socket>();
  const clients = new Set<net.Socket>();
  const links: Way[] = [];
  const server = net.createServer({ noDelay: true }, (client) => {
    const upstream = net.connect({ port, host: '127.0.0.1', noDelay: true });
    clients.add(client);
    client.once('close', () => clients.delete(client));
    const ways = [
      new Way(client, upstream, faults, random),
      new Way(upstream, client, faults, random, Buffer.from(text)),
    ];
    links.push(...ways);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => sockets.delete(socket));
    }
    if (faults.then === undefined || random.next() >= (faults.share ?? 1)) return;
    setTimeout(
      () => {
        if (faults.then === 'halfOpen') for (const way of ways) way.stop();
        else if (faults.then === 'reset') client.resetAndDestroy();
        else client.end();
        if (faults.then !== 'halfOpen') upstream.destroy();
      },
      (0.5 + random.next()) * (faults.afterMs ?? 0),
    ).unref();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    passed: () => links.reduce((sum, way) => sum + way.seen, 0),
    open: () => clients.size,
    dispose: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** One direction of a connection. */
class Way {
  seen = 0;
  private readonly waiting: { readonly piece: Buffer | undefined; readonly atMs: number }[] = [];
  private waitingBytes = 0;
  private singleBytes = 0;
  private freeAtMs = 0;
  private lastAtMs = 0;
  private tail = Buffer.alloc(0);
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly from: net.Socket,
    private readonly to: net.Socket,
    private readonly faults: Faults,
    private readonly random: Random,
    private readonly counted?: Buffer,
  ) {
    from.on('data', (chunk: Buffer) => {
      for (const piece of this.pieces(chunk)) this.add(piece);
      if (this.waitingBytes > mostWaitingBytes) from.pause();
      this.pass();
    });
    from.once('end', () => {
      this.add(undefined);
      this.pass();
    });
    from.once('close', (hadError) => {
      if (!this.isStopped && (hadError || !from.readableEnded)) to.destroy();
    });
  }

  /** Nothing arrives any more, and nobody hears of it. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private *pieces(chunk: Buffer): Generator<Buffer> {
    const { pieces } = this.faults;
    for (let at = 0; at < chunk.length;) {
      const isSingle = pieces === 'bytes' && this.singleBytes < mostSingleBytes;
      if (isSingle) this.singleBytes += 1;
      const length = isSingle
        ? 1
        : pieces === undefined
          ? chunk.length - at
          : 1 + this.random.below(Math.min(400, chunk.length - at));
      yield chunk.subarray(at, at + length);
      at += length;
    }
  }

  private add(piece: Buffer | undefined): void {
    const { delayMs = 0, jitterMs = 0, bytesPerSecond } = this.faults;
    const nowMs = performance.now();
    const bytes = piece?.length ?? 0;
    this.waitingBytes += bytes;
    if (bytesPerSecond !== undefined)
      this.freeAtMs = Math.max(nowMs, this.freeAtMs) + (bytes / bytesPerSecond) * 1000;
    const atMs = Math.max(nowMs, this.freeAtMs) + delayMs + jitterMs * this.random.next();
    this.lastAtMs = Math.max(this.lastAtMs, atMs);
    this.waiting.push({ piece, atMs: this.lastAtMs });
  }

  private readonly pass = (): void => {
    clearTimeout(this.timer);
    const { waiting, faults } = this;
    // Each piece is a write of its own: with no delay between them, one for each turn of the event loop.
    for (let next = waiting[0]; next !== undefined && !this.isStopped; next = waiting[0]) {
      const leftMs = next.atMs - performance.now();
      if (leftMs > 0) {
        this.timer = setTimeout(this.pass, leftMs);
        return;
      }
      waiting.shift();
      this.write(next.piece);
      if (faults.pieces === undefined || waiting.length === 0) continue;
      setImmediate(this.pass);
      return;
    }
  };

  private write(piece: Buffer | undefined): void {
    const { to, from } = this;
    if (piece === undefined) {
      to.end();
      return;
    }
    this.waitingBytes -= piece.length;
    if (from.isPaused() && this.waitingBytes < mostWaitingBytes / 2) from.resume();
    if (to.destroyed || !to.writable) return;
    this.count(piece);
    to.write(piece);
  }

  private count(piece: Buffer): void {
    const { counted } = this;
    if (counted === undefined) return;
    const bytes = Buffer.concat([this.tail, piece]);
    for (let at = bytes.indexOf(counted); at >= 0; at = bytes.indexOf(counted, at + 1))
      this.seen += 1;
    this.tail = bytes.subarray(Math.max(0, bytes.length - counted.length + 1));
  }
}
