import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import path from 'node:path';
import * as tls from 'node:tls';
import { opcode } from '../../src/wire/socket/frame';
import { serverFrame, takeClientFrame, type ClientFrame } from './frames';

// Wherever the tests run.
const inFixtures = (name: string): string =>
  readFileSync(path.resolve(__dirname, '../../../test/fixtures/tls', name), 'utf8');
/** Of nobody but these tests, for localhost and 127.0.0.1. */
export const certificate = inFixtures('localhost.crt');
export const certificateKey = inFixtures('localhost.key');

/** Options of a TLS server that may ask for a certificate of the client. */
export const tlsServerOptions = (clientCertificate = false): tls.TlsOptions => ({
  cert: certificate,
  key: certificateKey,
  ...(clientCertificate ? { ca: certificate, requestCert: true, rejectUnauthorized: true } : {}),
});

export interface RawHubOptions {
  readonly secure?: boolean;
  /** Only clients with the same certificate are let in. */
  readonly clientCertificate?: boolean;
  /** Head of the answer to the upgrade, without its empty line; the right one when absent. */
  readonly head?: (accept: string) => string;
  /** What is sent in one go with the head. */
  readonly behindHead?: Buffer;
  /** What is sent after the client's handshake; an agreement when absent. */
  readonly answer?: Buffer;
}

/** One client of a raw hub. */
export class Peer {
  /** Head of the client's request. */
  request = '';
  /** The first frame of the client. */
  handshake: ClientFrame | undefined;
  readonly frames: ClientFrame[] = [];
  readonly closed: Promise<unknown>;
  private bytes = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  constructor(
    readonly socket: net.Socket,
    private readonly options: RawHubOptions,
  ) {
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('data', (chunk) => {
      this.bytes = Buffer.concat([this.bytes, chunk]);
      this.read();
    });
  }

  /** The next frame of the client, its handshake not counted. */
  async nextFrame(): Promise<ClientFrame> {
    while (this.frames.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.frames.shift()!;
  }

  private read(): void {
    if (this.request === '') {
      const end = this.bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.request = this.bytes.toString('latin1', 0, end);
      this.bytes = this.bytes.subarray(end + 4);
      const accept = acceptOf(this.request);
      const head = this.options.head?.(accept) ?? upgraded(accept);
      const bytes = Buffer.from(`${head}\r\n\r\n`, 'latin1');
      this.socket.write(Buffer.concat([bytes, this.options.behindHead ?? Buffer.alloc(0)]));
    }
    for (let taken = takeClientFrame(this.bytes); taken; taken = takeClientFrame(this.bytes)) {
      this.bytes = taken.rest as Buffer<ArrayBuffer>;
      if (this.handshake === undefined) {
        this.handshake = taken.frame;
        this.socket.write(this.options.answer ?? agreement);
      } else {
        this.frames.push(taken.frame);
      }
      this.wake();
    }
  }
}

export const agreement = serverFrame(opcode.text, Buffer.from('{}\x1e'));

/** Head of an accepted upgrade. */
export function upgraded(accept: string): string {
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}`;
}

export function acceptOf(request: string): string {
  const key = /^Sec-WebSocket-Key: (.*)$/im.exec(request)?.[1] ?? '';
  return createHash('sha1')
    .update(`${key.trim()}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64');
}

export interface RawHub {
  readonly url: string;
  /** The next client that connects. */
  readonly nextPeer: () => Promise<Peer>;
  readonly dispose: () => Promise<void>;
}

/** A server on 127.0.0.1 that speaks just enough of the protocols and can break them on request. */
export async function startRawHub(options: RawHubOptions = {}): Promise<RawHub> {
  const waiting: Peer[] = [];
  const sockets = new Set<net.Socket>();
  let wake: () => void = () => undefined;
  const accept = (socket: net.Socket): void => {
    waiting.push(new Peer(socket, options));
    wake();
  };
  const server =
    options.secure === true
      ? tls.createServer({ ...tlsServerOptions(options.clientCertificate), noDelay: true }, accept)
      : net.createServer({ noDelay: true }, accept);
  server.on('connection', (socket: net.Socket) => sockets.add(socket));
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `${options.secure === true ? 'https' : 'http'}://127.0.0.1:${port}/hub`,
    nextPeer: async () => {
      while (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      return waiting.shift()!;
    },
    dispose: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** One that serves each of its clients in that way. */
export async function startHubServing(
  serve: (peer: Peer) => Promise<void>,
): Promise<Pick<RawHub, 'url' | 'dispose'>> {
  const hub = await startRawHub();
  const serveAll = async (): Promise<void> => {
    for (;;) void serve(await hub.nextPeer());
  };
  void serveAll();
  return hub;
}
