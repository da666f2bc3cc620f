import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import * as net from 'node:net';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { opcode } from '../../../src/wire/socket/frame';
import { serverFrame } from '../../../src/servers/hubProtocol/serverProtocol';
import {
  ConnectionServer,
  maximumFragments,
  refuse,
  type UpgradeRequest,
} from '../../../src/servers/http/loopbackServer';
import { WebSocketTransport } from '../../../src/servers/http/transports';
import { WebSocketConnection } from '../../../src/wire/hub/webSocketConnection';
import type { HubListener } from '../../../src/wire/hub/clientConnection';
import { codecForProtocol } from '../../../src/wire/connect/connectHub';
import { endpointOf } from '../../fakes/endpoint';
import { startRawHub, type Peer, type RawHub } from '../../fakes/rawHub';
import { piecesOfCase, webSocketCases, type WebSocketCase } from '../../fakes/webSocketCases';

const latin1 = (buffer: Buffer, start = 0, end = buffer.length): string =>
  buffer.toString('latin1', start, end);

/** Whether it ends by what the peer has done wrong. */
const isViolation = ({ code, number }: WebSocketCase): boolean =>
  [1002, 1007].includes(code) && !number.startsWith('7.7.');

const maximumBytes = 1024 * 1024;

describe('the WebSocket client in the cases of Autobahn', () => {
  let hub: RawHub;

  before(async () => {
    hub = await startRawHub();
  });

  after(() => hub.dispose());

  async function opened(): Promise<{ peer: Peer; messages: string[]; lost: Promise<string> }> {
    const messages: string[] = [];
    let tellLoss: (errorClass: string) => void;
    const lost = new Promise<string>((resolve) => (tellLoss = resolve));
    const listener: HubListener = {
      received: (_connection, buffer, start, stop, frameBytes) => {
        if (frameBytes > 0) messages.push(latin1(buffer, start, stop));
      },
      lost: (_connection, errorClass) => tellLoss(errorClass),
    };
    await WebSocketConnection.open(
      { url: new URL(hub.url), headers: {} },
      {
        index: 0,
        endpoint: endpointOf(hub.url),
        listener,
        options: { maximumMessageBytes: maximumBytes, maximumUnsentBytes: maximumBytes },
        signal: AbortSignal.timeout(60_000),
      },
    );
    return { peer: await hub.nextPeer(), messages, lost };
  }

  for (const each of webSocketCases)
    it(`${each.number} ${each.what}`, async () => {
      const { peer, messages, lost } = await opened();
      for (const piece of piecesOfCase(each)) peer.socket.write(piece);
      const answered: string[] = [];
      let last = await peer.nextFrame();
      for (; last.code === opcode.pong; last = await peer.nextFrame())
        answered.push(latin1(last.payload));
      const code = last.payload.length === 0 ? 1005 : last.payload.readUInt16BE(0);
      assert.deepEqual([last.code, code], [opcode.close, each.code]);
      // Of the pings of one read the newest is answered (RFC 6455, 5.5.3).
      assert.equal(answered.at(-1), each.pings.at(-1));
      assert.deepEqual(
        answered,
        each.pings.filter((ping) => answered.includes(ping)),
      );
      assert.equal(await lost, isViolation(each) ? 'protocol' : 'closed');
      await peer.closed;
      assert.deepEqual(messages, each.messages);
      assert.equal(peer.frames.length, 0);
    });

  for (const size of [maximumBytes + 1, 2 ** 40])
    it(`closes with 1009 at a frame that claims ${size} bytes, above its limit`, async () => {
      const { peer, lost } = await opened();
      const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
      head.writeBigUInt64BE(BigInt(size), 2);
      peer.socket.write(head);
      assert.equal((await peer.nextFrame()).payload.readUInt16BE(0), 1009);
      assert.equal(await lost, 'protocol');
    });

  it('offers no extension, so that 12 and 13 have nothing to try', async () => {
    const { peer } = await opened();
    assert.doesNotMatch(peer.request, /sec-websocket-extensions/i);
    peer.socket.destroy();
  });

  it('checks as UTF-8 every hub message that is parsed, whatever came before', () => {
    for (const protocol of ['json', 'webpubsub'] as const) {
      const bytes = Buffer.from('{"type":1,"target":"x","arguments":["\xff"]}', 'latin1');
      assert.throws(() => codecForProtocol(protocol).read(bytes, 0, bytes.length), {
        closeCode: 1007,
        message: /not UTF-8 text/,
      });
    }
  });
});

/** Sends every message back, over what all embedded servers have for WebSockets. */
class EchoServer extends ConnectionServer<WebSocketTransport> {
  protected answer(_request: IncomingMessage, response: ServerResponse): void {
    refuse(response, { status: 404, text: '' });
  }
  protected upgrade({ request, socket, head }: UpgradeRequest): void {
    this.sockets.handleUpgrade(request, socket, head, (accepted) => {
      const transport = new WebSocketTransport(accepted, socket);
      this.add(transport);
      transport.attach({
        onData: (data, isBinary) =>
          transport.write(serverFrame(isBinary ? opcode.binary : opcode.text, data)),
        onFault: () => undefined,
        hasRoom: () => true,
        onClosed: () => this.remove(transport),
      });
    });
  }
  protected tick(): void {}
  protected sayGoodbye(): void {}
}

/** What a server sends, frame by frame. */
class RawSocket {
  head = '';
  private bytes = Buffer.alloc(0);
  private wake: () => void = () => undefined;

  private constructor(readonly socket: net.Socket) {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      this.bytes = Buffer.concat([this.bytes, chunk]);
      this.wake();
    });
  }

  static async open(port: number, extensions = ''): Promise<RawSocket> {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
    const raw = new RawSocket(socket);
    socket.write(
      `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n${extensions}\r\n`,
    );
    const end = await raw.headEnd();
    raw.head = latin1(raw.bytes, 0, end);
    raw.bytes = raw.bytes.subarray(end + 4);
    return raw;
  }

  private async headEnd(): Promise<number> {
    for (;;) {
      const end = this.bytes.indexOf('\r\n\r\n');
      if (end >= 0) return end;
      await this.more();
    }
  }

  async next(): Promise<{ code: number; payload: Buffer }> {
    await this.atLeast(2);
    const marker = this.bytes[1]!;
    const start = marker < 126 ? 2 : marker === 126 ? 4 : 10;
    await this.atLeast(start);
    const { bytes } = this;
    const length =
      marker < 126
        ? marker
        : marker === 126
          ? bytes.readUInt16BE(2)
          : Number(bytes.readBigUInt64BE(2));
    await this.atLeast(start + length);
    const payload = this.bytes.subarray(start, start + length);
    const frame = { code: this.bytes[0]! & 0x0f, payload };
    this.bytes = this.bytes.subarray(start + length);
    return frame;
  }

  private async atLeast(count: number): Promise<void> {
    while (this.bytes.length < count) await this.more();
  }

  private more(): Promise<void> {
    return new Promise((resolve) => (this.wake = resolve));
  }
}

describe('the WebSockets of embedded servers in the cases of Autobahn', () => {
  let server: EchoServer;

  before(async () => {
    server = new EchoServer(maximumBytes);
    await server.listen();
  });

  after(() => server.dispose());

  for (const each of webSocketCases)
    it(`${each.number} ${each.what}`, async () => {
      const client = await RawSocket.open(server.port);
      const ended = once(client.socket, 'end');
      for (const piece of piecesOfCase(each, Buffer.from([0x12, 0x80, 0xff, 0x03])))
        client.socket.write(piece);
      const [messages, pongs]: [string[], string[]] = [[], []];
      let last = await client.next();
      for (; last.code !== opcode.close; last = await client.next())
        (last.code === opcode.pong ? pongs : messages).push(latin1(last.payload));
      const code = last.payload.length === 0 ? 1005 : last.payload.readUInt16BE(0);
      const isBeyond = each.frames.length - 1 > maximumFragments && each.messages.length === 1;
      assert.equal(code, isBeyond ? 1008 : each.code);
      assert.deepEqual(messages, isBeyond ? [] : each.messages);
      assert.deepEqual(pongs, each.pings);
      // Ending the connection is the part of the server (RFC 6455, 7.1.1), here when both have said goodbye.
      if (isViolation(each) || isBeyond) client.socket.destroy();
      else await ended;
    });

  it('agree to no extension that is offered', async () => {
    const offers = 'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n';
    const client = await RawSocket.open(server.port, offers);
    assert.match(client.head, /^HTTP\/1\.1 101/);
    assert.doesNotMatch(client.head, /sec-websocket-extensions/i);
    client.socket.destroy();
  });
});

describe('the table of cases in docs/evidence/reliability.md', () => {
  it('has each of them', () => {
    const page = readFileSync('docs/evidence/reliability.md', 'utf8').replace(/ +/g, ' ');
    const rows = webSocketCases.map(({ number, what, pings, frames, messages }) => {
      const client = pings.length > 1 ? 'pass; the newest ping of a read' : 'pass';
      const isBeyond = frames.length - 1 > maximumFragments && messages.length === 1;
      return `| ${number} | ${what} | ${client} | ${isBeyond ? '1008: too many fragments' : 'pass'} |\n`;
    });
    const missing = rows.filter((row) => !page.includes(row));
    assert.deepEqual(missing, [], `to be added:\n${missing.join('')}`);
    assert.equal(webSocketCases.length, 301);
    assert.equal(new Set(webSocketCases.map(({ number }) => number)).size, 301);
  });
});
