import assert from 'node:assert/strict';
import { messagePackCodec, type HubCodec } from '../../../../src/wire/message/hubCodec';
import { clientFrame, opcode } from '../../../../src/wire/socket/frame';
import { WebSocketConnection } from '../../../../src/wire/hub/webSocketConnection';
import { hubFrame, serverFrame } from '../../../fakes/frames';
import { agreement, startRawHub, type Peer, type RawHubOptions } from '../../../fakes/rawHub';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';

const limits = { maximumMessageBytes: 100_000, maximumUnsentBytes: 1024 * 1024 };
const ping = { type: 6 };
const closing = (code: number, reason = ''): Buffer =>
  serverFrame(
    opcode.close,
    Buffer.concat([Buffer.from([code >> 8, code & 255]), Buffer.from(reason)]),
  );
const text = (...parts: string[]): Buffer => serverFrame(opcode.text, Buffer.from(parts.join('')));

describe('WebSocketConnection', () => {
  const disposals: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const dispose of disposals.splice(0)) await dispose();
  });

  /** Opens a connection to a raw hub of its own. */
  async function dial(
    options: RawHubOptions = {},
    listener = new RecordingListener(),
    signal = new AbortController().signal,
    codec?: HubCodec,
  ): Promise<WebSocketConnection> {
    const hub = await startRawHub(options);
    disposals.push(hub.dispose);
    nextPeer = hub.nextPeer;
    const where = { url: new URL(hub.url), headers: {}, accessToken: 'tok' };
    const connection = await WebSocketConnection.open(where, {
      index: 3,
      endpoint: endpointOf(hub.url),
      listener,
      options: { ...limits, codec },
      signal,
    });
    disposals.push(async () => connection.destroy());
    return connection;
  }
  let nextPeer: () => Promise<Peer>;

  /** An open connection, and the hub's end of it. */
  async function connected(): Promise<{
    connection: WebSocketConnection;
    listener: RecordingListener;
    peer: Peer;
  }> {
    const listener = new RecordingListener();
    const connection = await dial({}, listener);
    return { connection, listener, peer: await nextPeer() };
  }

  it('opens, sends masked frames and receives messages', async () => {
    const { connection, listener, peer } = await connected();
    assert.ok(connection.isOpen);
    assert.match(peer.request, /^GET \/hub HTTP\/1\.1\r\n/);
    assert.match(peer.request, /^Authorization: Bearer tok$/m);
    assert.ok(connection.send(clientFrame(opcode.text, Buffer.from('{"type":6}\x1e'))));
    assert.equal((await peer.nextFrame()).payload.toString(), '{"type":6}\x1e');
    peer.socket.write(hubFrame(ping, ping));
    assert.equal(await listener.nextText(), '{"type":6}\x1e{"type":6}\x1e');
    assert.equal(listener.frameBytes[0], hubFrame(ping, ping).length);
    connection.close();
    const close = await peer.nextFrame();
    assert.deepEqual([close.code, [...close.payload]], [opcode.close, [0x03, 0xe8]]);
    await peer.closed;
    assert.deepEqual(listener.losses, []);
  });

  it('takes hub messages that came right behind the handshake answer', async () => {
    for (const answer of [
      text('{}\x1e{"type":6}\x1e'),
      Buffer.concat([agreement, hubFrame(ping)]),
    ]) {
      const listener = new RecordingListener();
      await dial({ answer }, listener);
      assert.equal(await listener.nextText(), '{"type":6}\x1e');
    }
  });

  it('takes frames that came right behind the head of the upgrade', async () => {
    const listener = new RecordingListener();
    const behindHead = Buffer.concat([agreement, hubFrame(ping).subarray(0, 5)]);
    await dial({ behindHead, answer: hubFrame(ping).subarray(5) }, listener);
    assert.equal(await listener.nextText(), '{"type":6}\x1e');
  });

  const openings: readonly (readonly [string, RawHubOptions, string, RegExp])[] = [
    ['a refusal', { answer: text('{"error":"no\\u0007json"}\x1e') }, 'handshake', /: no json$/],
    ['a handshake answer that is cut off', { answer: text('{}') }, 'protocol', /cut off/],
    ['a hub message', { answer: hubFrame(ping) }, 'protocol', /before its handshake answer/],
    ['garbage', { answer: Buffer.alloc(20, 0xff) }, 'protocol', /reserved bits/],
    ['another status', { head: () => 'HTTP/1.1 404 Not Found' }, 'notFound', /404 Not Found/],
    [
      'a head without end',
      { head: () => 'HTTP/1.1 101 x\r\n'.padEnd(70_000, 'x') },
      'protocol',
      /has no end/,
    ],
    ['a close', { answer: closing(1008, 'bad') }, 'closed', /code 1008: bad/],
  ];
  for (const [name, options, errorClass, message] of openings) {
    it(`fails to open with class ${errorClass} on ${name}`, async () => {
      const listener = new RecordingListener();
      await assert.rejects(dial(options, listener), {
        name: 'ConnectFailure',
        errorClass,
        message,
      });
      assert.deepEqual(listener.losses, []);
    });
  }

  it('fails to open with class timeout when the server stays silent', async () => {
    const silent = dial({ answer: Buffer.alloc(0) }, undefined, AbortSignal.timeout(100));
    await assert.rejects(silent, {
      errorClass: 'timeout',
      message: /hub in time, while handshaking$/,
    });
  });

  const shutDown = hubFrame({ type: 7, error: 'shut down' });
  const reason = /^the server closed the connection and allows no reconnect: shut down$/;
  const broken: readonly (readonly [string, Buffer, string, RegExp])[] = [
    [
      'a close frame with a reason',
      closing(1001, 'away'),
      'closed',
      /^closed with code 1001: away$/,
    ],
    ['one without a code', serverFrame(opcode.close, Buffer.alloc(0)), 'closed', /code 1005$/],
    ['a Close message and frame', Buffer.concat([shutDown, closing(1000)]), 'closed', reason],
    ['a Close message before the end', shutDown, 'closed', reason],
    ['being too slow', closing(1008, 'client is too slow'), 'slowConsumer', /too slow/],
    ['being too slow for Web PubSub', closing(1008, 'SlowClient'), 'slowConsumer', /SlowClient/],
    ['the middle of a frame', hubFrame(ping).subarray(0, 5), 'closed', /without a close frame/],
    ['a hub message that is none', text('{"type":1}\x1e'), 'protocol', /has no target/],
  ];
  for (const [name, bytes, errorClass, message] of broken) {
    it(`is lost once, with class ${errorClass}, by ${name}`, async () => {
      const { connection, listener, peer } = await connected();
      peer.socket.end(bytes);
      const loss = await listener.lostOnce;
      assert.equal(loss.errorClass, errorClass);
      assert.match(loss.text, message);
      assert.equal(connection.isOpen, false);
      await peer.closed;
      assert.equal(listener.losses.length, 1);
    });
  }

  it('closes what a Close message ends where the server goes on, and sends nothing more', async () => {
    for (const allowReconnect of [true, false, undefined]) {
      const { connection, listener, peer } = await connected();
      const close = { type: 7, ...(allowReconnect !== undefined && { allowReconnect }) };
      peer.socket.write(Buffer.concat([hubFrame(close), hubFrame(ping), hubFrame(ping)]));
      await listener.lostOnce;
      assert.deepEqual(
        [connection.isOpen, connection.mayReconnect, connection.sendMessage({ type: 6 })],
        [false, allowReconnect === true, 0],
      );
      const { code, payload } = await peer.nextFrame();
      assert.deepEqual([code, payload.readUInt16BE()], [opcode.close, 1000]);
      await peer.closed;
      assert.equal(listener.losses.length, 1);
      assert.equal(listener.texts.length, 1, 'nothing behind the Close message is read');
    }
  });

  it('is lost with class reset when the server resets it', async () => {
    const { listener, peer } = await connected();
    peer.socket.resetAndDestroy();
    assert.equal((await listener.lostOnce).errorClass, 'reset');
  });

  it('shakes hands in JSON, and speaks MessagePack from then on', async () => {
    const { encode } = messagePackCodec;
    const greeting = encode({ type: 1, target: 'OnConnected', arguments: ['id'] });
    const answer = serverFrame(opcode.binary, Buffer.concat([Buffer.from('{}\x1e'), greeting]));
    const listener = new RecordingListener();
    const connection = await dial({ answer }, listener, undefined, messagePackCodec);
    const peer = await nextPeer();
    const { code, payload } = peer.handshake!;
    assert.equal(code, opcode.binary);
    assert.equal(payload.toString(), '{"protocol":"messagepack","version":1}\x1e');
    assert.equal(await listener.nextText(), greeting.toString());
    connection.sendMessage({ type: 6 });
    const ping = await peer.nextFrame();
    assert.deepEqual([ping.code, ...ping.payload], [opcode.binary, 2, 0x91, 6]);
  });

  it('gives up a server that never reads, as blocked', async () => {
    const { connection, listener, peer } = await connected();
    peer.socket.pause();
    const frame = clientFrame(opcode.text, Buffer.alloc(256 * 1024));
    for (let count = 0; connection.isOpen; count++) {
      assert.ok(count < 1000, 'sent 250 MB to nobody');
      connection.send(frame);
      if (count % 8 === 0) await new Promise(setImmediate);
    }
    const { errorClass, text: why } = await listener.lostOnce;
    assert.equal(errorClass, 'blocked');
    assert.match(why, /^\d+ bytes were waiting/);
  });

  it('answers a flood of pings with no more than one pong for each read', async () => {
    const { connection, listener, peer } = await connected();
    const ping = serverFrame(opcode.ping, Buffer.alloc(125));
    const flood = Buffer.concat(Array<Buffer>(10_000).fill(ping));
    const last = serverFrame(opcode.ping, Buffer.from('last'));
    peer.socket.write(Buffer.concat([flood, last]));
    let pongs = 0;
    for (let payload = ''; payload !== 'last'; pongs++) {
      const pong = await peer.nextFrame();
      assert.equal(pong.code, opcode.pong);
      payload = pong.payload.toString();
    }
    // A read may bring little, but never as little as one ping.
    assert.ok(pongs < 1000, `${pongs} pongs`);
    assert.ok(connection.isOpen);
    assert.deepEqual(listener.losses, []);
  });
});
