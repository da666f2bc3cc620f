/** What servers that lie are made of. */
import { createServer, type Socket } from 'node:net';
import { listenOnLoopback, rawPeer, type Peer } from '../fakes/loadPeers';

export interface Lie {
  readonly title: string;
  readonly open: () => Promise<Peer>;
  readonly config?: Readonly<Record<string, unknown>>;
  /** Exit code; of a flood the generator may be the bottleneck. */
  readonly codes: readonly number[];
  /** In what is printed, on one line. */
  readonly says: RegExp;
  /** From the start of the process to its end. */
  readonly mostS: number;
  /** Tried only where all are asked for, since another one is like it. */
  readonly isLong?: boolean;
}

/** Answers each request by itself, whatever it is; the socket stays. */
export const answering = (answer: (socket: Socket, head: string) => void): Promise<Peer> =>
  listenOnLoopback(
    createServer((socket) => {
      socket.on('error', () => undefined);
      let head = '';
      socket.on('data', (chunk: Buffer) => {
        head += chunk.toString('latin1');
        if (!head.includes('\r\n\r\n')) return;
        const whole = head;
        head = '';
        answer(socket, whole);
      });
    }),
  );

/** Sends it again and again, as fast as the other side reads. */
export function endlessly(socket: Socket, piece: Buffer | string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

/** Answers to whatever was asked. */
export const headersWithoutEnd =
  (status: string) =>
  (socket: Socket): void => {
    socket.write(`HTTP/1.1 ${status}\r\n`);
    endlessly(socket, `X-Header: ${'a'.repeat(1000)}\r\n`);
  };
export const bodyWithoutEnd = (socket: Socket): void => {
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n');
  endlessly(socket, '['.repeat(16_384));
};
export const cookiesOfMegabyte = (socket: Socket): void => {
  const cookie = (at: number): string => `Set-Cookie: c${at}=${'a'.repeat(3500)}\r\n`;
  const cookies = Array.from({ length: 300 }, (_, at) => cookie(at)).join('');
  socket.write(`HTTP/1.1 200 OK\r\n${cookies}Content-Length: 2\r\n\r\n{}`);
};
/** Its length is 2 to the 63rd, or to the 62nd. */
export const hugeFrame = (power: 62 | 63): Buffer =>
  Buffer.from([0x81, 127, power === 63 ? 0x80 : 0x40, 0, 0, 0, 0, 0, 0, 0, 0x20, 0x20]);

/** One byte now and then. */
export function drip(socket: Socket, text: string): void {
  let at = 0;
  const timer = setInterval(() => {
    if (socket.destroyed || at === text.length) clearInterval(timer);
    else socket.write(text[at++]!);
  }, 100);
}

export const afterHandshake = (frame: Buffer | (() => Buffer)): (() => Promise<Peer>) => {
  return () =>
    rawPeer((socket) => {
      setTimeout(() => socket.write(typeof frame === 'function' ? frame() : frame), 500);
    });
};

/** A frame of the server with that payload, of any length. */
export function longFrame(first: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head[0] = first;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

export const json = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

export const depth = 100_000;
export const nested = '['.repeat(depth) + ']'.repeat(depth);

export const lost =
  /incomplete; All 4 connections were lost|incomplete; .*connections? (was|were) lost/;
export const unreachable = /Could not connect: /;
