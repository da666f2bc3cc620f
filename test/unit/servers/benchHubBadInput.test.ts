import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';
import { until } from '../../fakes/until';
import { handshake, RawClient, separator } from './rawClient';

describe('bench hub given bad input', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startBenchHub({ maxUnreadBytes: 64 * 1024 })));
  afterEach(() => hub.dispose());

  const failed = {
    type: 7,
    error: 'Connection closed with an error.',
    allowReconnect: true,
  };

  async function untilCount(count: number): Promise<void> {
    while (hub.connectionCount !== count) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('refuses handshakes in the words of ASP.NET Core', async () => {
    const failure = 'An unexpected error occurred during connection handshake.';
    const cases: [string, string][] = [
      ['nonsense', failure],
      ['[]', failure],
      ['null', failure],
      ['{"protocol":"json"}', failure],
      ['{"protocol":"foo","version":1}', "The protocol 'foo' is not supported."],
      ['{"protocol":"blazorpack","version":1}', "The protocol 'blazorpack' is not supported."],
      [
        '{"protocol":"json","version":9}',
        "The server does not support version 9 of the 'json' protocol.",
      ],
      [
        '{"protocol":"messagepack","version":2}',
        "The server does not support version 2 of the 'messagepack' protocol.",
      ],
    ];
    for (const [text, error] of cases) {
      const client = await RawClient.open(hub.url);
      client.socket.send(text + separator);
      assert.deepEqual(await client.message(), { error });
      assert.equal(await client.closed, 1000);
    }
    assert.equal(hub.connectionCount, 0);
  });

  const malformed = [
    'garbage',
    '',
    '{}',
    '[]',
    '{"type":"1"}',
    '{"type":1.5}',
    '{"type":1,"target":"Echo"}',
    '{"type":1,"arguments":[]}',
    '{"type":1,"target":"Echo","arguments":{}}',
    '{"type":1,"target":"Echo","arguments":[{}}',
    '{"type":1,"target":"Echo","arguments":[{"a":}]}',
    '{"type":1,"target":"Echo","arguments":[{}]}x',
    '{"type":1,"invocationId":7,"target":"Echo","arguments":[{}]}',
    `{"type":1,"target":"${'x'.repeat(5000)}","arguments":[]}`,
    '{"type":1,"target":"Echo","arguments":[{}],"streamIds":5}',
    '{"type":4,"target":"StreamingEcho","arguments":[0],"streamIds":["s"]}',
    '{"type":4,"invocationId":"1","target":"StreamingEcho","arguments":[0],"streamIds":[5]}',
    '{"type":2,"item":{}}',
    '{"type":2,"invocationId":"s"}',
    '{"type":3}',
    '{"type":3,"invocationId":"s","error":5}',
    '{"type":3,"invocationId":"s","result":1,"error":"x"}',
    '{"type":5}',
    `{"type":1,"target":"Echo","arguments":${'['.repeat(100_000)}`,
    '{"type":1,"target":"Broadcast","arguments":[{"a":"\\x"}]}',
    '{"type":1,"target":"Broadcast","arguments":[{"a":"\\u12g4"}]}',
    '{"type":1,"target":"Broadcast","arguments":[{"a":"\u0001"}]}',
    '{"type":1,"target":"Broadcast","arguments":[{"a\n":1}]}',
  ];
  it('ends the connection with a Close message for what is no hub message', async () => {
    for (const text of malformed) {
      const client = await RawClient.connect(hub.url);
      client.socket.send(text + separator);
      assert.deepEqual(await client.message(), failed, text.slice(0, 50));
      assert.equal(await client.closed, 1000);
      assert.equal(hub.connectionCount, 0);
    }
  });

  it('ends a connection that sends bytes that are not a text', async () => {
    const client = await RawClient.connect(hub.url);
    client.socket.send(Buffer.from([0x7b, 0xff, 0xfe, 0x1e]), { binary: true });
    assert.deepEqual(await client.message(), failed);
  });

  it('bounds a WebSocket message, and a hub message that never ends', async () => {
    await hub.dispose();
    hub = await startBenchHub({ maxMessageBytes: 1024 * 1024 });
    const large = await RawClient.connect(hub.url);
    large.socket.send('x'.repeat(1024 * 1024 + 1));
    assert.equal(await large.closed, 1009);

    const endless = await RawClient.connect(hub.url);
    const timer = setInterval(() => endless.socket.send('x'.repeat(100_000)), 1);
    const error = `${failed.error} A message is longer than 1048576 bytes.`;
    assert.deepEqual(await endless.message(), { ...failed, error });
    clearInterval(timer);
    assert.equal(await endless.closed, 1000);
  });

  it('survives sockets that speak no HTTP, or vanish', async () => {
    const url = new URL(hub.url);
    const head =
      `GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n';
    const garbageFrame = Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    for (const bytes of ['\0\0\0\r\n\r\n', head.slice(0, 40), head, garbageFrame]) {
      const socket = connectTcp(Number(url.port), url.hostname);
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      if (typeof bytes === 'string') socket.write(bytes);
      else socket.write(Buffer.concat([Buffer.from(head), bytes]));
      await new Promise((resolve) => setTimeout(resolve, 10));
      socket.resetAndDestroy();
    }
    const client = await RawClient.connect(hub.url);
    assert.equal((await client.invoke('GetConnectionId')).result, client.id);
  });

  it('closes a client that does not read, and serves the others', async () => {
    const slow = await RawClient.connect(hub.url);
    const fast = await RawClient.connect(hub.url);
    slow.socket.pause();
    const payload = { blob: 'x'.repeat(100_000) };
    let sent = 0;
    while (hub.connectionCount === 2) {
      await fast.invoke('Broadcast', payload);
      assert.ok(++sent < 1000, 'the bound has no effect');
    }
    slow.socket.resume();
    assert.equal(await slow.closed, 1008);
    const last = JSON.parse(slow.texts.at(-1) ?? '') as { type: number; error: string };
    assert.equal(last.type, 7);
    assert.match(last.error, /more than 65536 bytes were waiting/);
    assert.equal((await fast.invoke('GetConnectionId')).result, fast.id);
  });

  it('lets a client leave a message of the largest size unread while more is sent', async () => {
    await hub.dispose();
    hub = await startBenchHub();
    const slow = await RawClient.connect(hub.url);
    const fast = await RawClient.connect(hub.url);
    slow.socket.pause();
    const blob = 'x'.repeat(16 * 1024 * 1024);
    await fast.invoke('Broadcast', { blob });
    await fast.invoke('Broadcast', { blob: 'next' });
    assert.equal(hub.connectionCount, 2);
    slow.socket.resume();
    const got = [await slow.message(), await slow.message()];
    const blobs = got.map(
      (message) => (message.arguments?.[0] as { blob: string } | undefined)?.blob.length,
    );
    assert.deepEqual(blobs, [blob.length, 4]);
  });

  it('closes a client that pings without end and does not read', async () => {
    const client = await RawClient.connect(hub.url);
    client.socket.pause();
    const payload = Buffer.alloc(125);
    const timer = setInterval(() => {
      for (let n = 0; n < 5000; n++) client.socket.ping(payload);
    }, 1);
    await untilCount(0);
    clearInterval(timer);
    client.socket.terminate();
  });

  it('answers an ordinary ping', async () => {
    const client = await RawClient.connect(hub.url);
    client.socket.ping('hello');
    const [data] = (await once(client.socket, 'pong')) as [Buffer];
    assert.equal(data.toString(), 'hello');
  });

  it('disposal leaves nothing open, whatever state connections are in', async () => {
    // Sockets and servers only: Node counts timers of its own too. A timer that is left would keep the
    // suite's process from ending, which the test script reports.
    const openNow = (): number =>
      process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
    const before = openNow();
    const own = await startBenchHub({ delayMs: 60_000, stall: { afterMs: 60_000, forMs: 1000 } });
    const [open, quiet, halfway] = await Promise.all([
      RawClient.connect(own.url),
      RawClient.connect(own.url),
      RawClient.open(own.url),
    ]);
    open.send('Echo', {});
    open.sendJson(
      { type: 4, invocationId: '1', target: 'StreamingEcho', arguments: [500], streamIds: ['s'] },
      { type: 2, invocationId: 's', item: {} },
    );
    quiet.socket.pause();
    halfway.socket.send(handshake.slice(0, 5));
    const plain = connectTcp(Number(new URL(own.url).port), '127.0.0.1');
    plain.on('error', () => undefined);
    await once(plain, 'connect');
    const upgrading = RawClient.open(own.url).catch(() => undefined);
    await Promise.all([own.dispose(), own.dispose()]);
    quiet.socket.terminate();
    plain.destroy();
    await upgrading;
    await Promise.all([open.closed, quiet.closed, halfway.closed]);
    const late = connectTcp(Number(new URL(own.url).port), '127.0.0.1');
    await assert.rejects(once(late, 'connect'), { code: 'ECONNREFUSED' });
    await until('the end of all sockets', () => openNow() <= before);
  });
});
