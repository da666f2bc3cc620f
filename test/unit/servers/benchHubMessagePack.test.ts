import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as fc from 'fast-check';
import { WebSocket } from 'ws';
import { startBenchHub, type BenchHub } from '../../../src/servers/hub/benchHub';
import { type Span, messagePackCodec } from '../../../src/wire/message/hubCodec';
import type { HubMessage } from '../../../src/wire/message/hubMessage';
import { lengthPrefix, encodeText } from '../../../src/wire/message/messagePack';
import { RawClient } from './rawClient';

const { encode, handshake } = messagePackCodec;

/** A WebSocket that speaks MessagePack by hand. */
class PackClient {
  readonly messages: HubMessage[] = [];
  readonly closed: Promise<number>;
  id = '';
  private shaken = false;
  private wake: () => void = () => undefined;

  private constructor(readonly socket: WebSocket) {
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      assert.ok(isBinary);
      if (this.shaken) this.read(data);
      else assert.equal(data.toString(), '{}\x1e');
      this.shaken = true;
      this.wake();
    });
  }

  /** Opens, shakes hands with `behind` in the same WebSocket message, and takes `OnConnected`. */
  static async connect(url: string, behind: Uint8Array = Buffer.alloc(0)): Promise<PackClient> {
    const client = new PackClient(new WebSocket(url.replace('http', 'ws')));
    await once(client.socket, 'open');
    client.socket.send(Buffer.concat([handshake, behind]));
    const greeting = await client.next();
    assert.ok(greeting.type === 1 && greeting.target === 'OnConnected');
    client.id = String(greeting.arguments[0]);
    return client;
  }

  send(...messages: readonly HubMessage[]): void {
    this.socket.send(Buffer.concat(messages.map(encode)));
  }

  call(target: string, ...args: readonly unknown[]): void {
    this.send({ type: 1, target, arguments: args });
  }

  async next(): Promise<HubMessage> {
    while (this.messages.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.messages.shift()!;
  }

  /** An invocation's completion; callbacks that arrive before it are dropped. */
  async invoke(target: string, ...args: readonly unknown[]): Promise<HubMessage> {
    this.send({ type: 1, invocationId: 'x', target, arguments: args });
    for (;;) {
      const message = await this.next();
      if (message.type === 3) return message;
    }
  }

  private read(data: Buffer): void {
    const span: Span = { start: 0, end: 0, next: 0 };
    while (span.next < data.length) {
      messagePackCodec.find(data, span.next, data.length, span);
      this.messages.push(messagePackCodec.read(data, span.start, span.end)!);
    }
  }
}

const delivery = (payload: unknown): HubMessage => ({
  type: 1,
  target: 'RecordLatency',
  arguments: [payload],
});
const completed = (result: unknown): HubMessage => ({ type: 3, invocationId: 'x', result });
const failed = (error: string): HubMessage => ({ type: 3, invocationId: 'x', error });

describe('bench hub in MessagePack', () => {
  let hub: BenchHub;
  beforeEach(async () => (hub = await startBenchHub({ maxMessageBytes: 100_000 })));
  afterEach(() => hub.dispose());

  it('answers every method of the contract', async () => {
    const client = await PackClient.connect(hub.url);
    assert.deepEqual(await client.invoke('GetConnectionId'), completed(client.id));
    client.call('ConnectionId');
    const reported = { type: 1, target: 'ConnectionId', arguments: [client.id] };
    assert.deepEqual(await client.next(), reported);
    for (const name of ['JoinGroup', 'LeaveGroup', 'joingroup']) {
      client.call(name, 'g');
      const callback = name === 'joingroup' ? 'JoinGroup' : name;
      assert.deepEqual(await client.next(), { type: 1, target: callback, arguments: [] });
    }
    const bytes = new Uint8Array([0, 255, 128]);
    const payload = { a: 2n ** 63n, b: [1.5, null, bytes], 'information.GroupName': 'g' };
    const toItself = { ...payload, 'information.ConnectionId': client.id };
    for (const method of ['Echo', 'Broadcast', 'SendToGroup', 'SendToClient']) {
      client.call(method, toItself);
      assert.deepEqual(await client.next(), delivery(toItself), method);
    }
    assert.equal(hub.counts.deliveries, 4);
  });

  it('refuses calls in the words of ASP.NET Core', async () => {
    const client = await PackClient.connect(hub.url);
    const unbound = (name: string): HubMessage =>
      failed(`Failed to invoke '${name}' due to an error on the server.`);
    assert.deepEqual(await client.invoke('Echo'), unbound('Echo'));
    assert.deepEqual(await client.invoke('Echo', 'text'), unbound('Echo'));
    assert.deepEqual(await client.invoke('JoinGroup', 5), unbound('JoinGroup'));
    const thrown = "An unexpected error occurred invoking 'JoinGroup' on the server.";
    assert.deepEqual(await client.invoke('JoinGroup', null), failed(thrown));
    const unknown = await client.invoke('Nothing');
    assert.match(unknown.type === 3 ? (unknown.error ?? '') : '', /Method does not exist/);
    assert.deepEqual(await client.invoke('Echo', null), completed(null));
  });

  it('gives the items of StreamingEcho back, and completes behind them', async () => {
    const client = await PackClient.connect(hub.url);
    const items = [{ n: 1 }, { n: 2n ** 60n }, { n: 'x'.repeat(300) }];
    for (const delayMs of [0, 1]) {
      client.send(
        {
          type: 4,
          invocationId: 's',
          target: 'StreamingEcho',
          arguments: [delayMs],
          streamIds: ['u'],
        },
        ...items.map((item): HubMessage => ({ type: 2, invocationId: 'u', item })),
        { type: 3, invocationId: 'u' },
      );
      for (const item of items)
        assert.deepEqual(await client.next(), { type: 2, invocationId: 's', item });
      assert.deepEqual(await client.next(), { type: 3, invocationId: 's' });
    }
    client.send(
      { type: 4, invocationId: 's', target: 'StreamingEcho', arguments: [9], streamIds: ['u'] },
      { type: 2, invocationId: 'u', item: 5 },
    );
    assert.match(JSON.stringify(await client.next()), /Failed to bind Stream message/);
    client.send(
      { type: 4, invocationId: 's', target: 'StreamingEcho', arguments: [9], streamIds: ['u'] },
      { type: 5, invocationId: 's' },
    );
    assert.deepEqual(await client.next(), { type: 3, invocationId: 's' });
  });

  it('delivers to clients of both protocols what either sends', async () => {
    const packed = await PackClient.connect(hub.url);
    const other = await PackClient.connect(hub.url);
    const text = await RawClient.connect(hub.url);
    const payload = { a: 'ü\u{1f600}"', b: [1, -5, 1.5, true, null, { c: 1_800_000_000_000 }] };
    text.send('Broadcast', payload);
    packed.call('Broadcast', payload);
    for (let round = 0; round < 2; round++) {
      for (const client of [packed, other])
        assert.deepEqual(await client.next(), delivery(payload));
      assert.deepEqual(await text.message(), delivery(payload));
    }
    text.send('SendToClient', { 'information.ConnectionId': packed.id });
    assert.deepEqual(await packed.next(), delivery({ 'information.ConnectionId': packed.id }));
    packed.call('SendToClient', { 'information.ConnectionId': text.id, bytes: new Uint8Array(3) });
    const translated = { 'information.ConnectionId': text.id, bytes: 'AAAA' };
    assert.deepEqual(await text.message(), delivery(translated));
  });

  it('fails a call whose payload cannot be said in the protocol of a receiver', async () => {
    const packed = await PackClient.connect(hub.url);
    const text = await RawClient.connect(hub.url);
    // A map with the key true, which JSON has not.
    const payload = [
      [0x82, 0xc3, 0x01],
      encodeText('information.ConnectionId'),
      encodeText(text.id),
    ];
    const parts = [[0x96, 0x01, 0x80], encodeText('x'), encodeText('SendToClient'), [0x91]];
    const call = Buffer.concat([...parts, ...payload, [0x90]].map((part) => Buffer.from(part)));
    packed.socket.send(Buffer.concat([lengthPrefix(call.length), call]));
    assert.match(JSON.stringify(await packed.next()), /unexpected error/);
    assert.equal(hub.counts.deliveries, 0);
  });

  it('closes a connection whose argument cannot be read, says why, and serves the others', async () => {
    const others = await PackClient.connect(hub.url);
    const packed = await PackClient.connect(hub.url);
    // A draft whose author is a map with the key true, which no object has.
    const draft = [
      [0x82],
      encodeText('text'),
      encodeText('a'),
      encodeText('author'),
      [0x81, 0xc3, 1],
    ];
    const head = [[0x96, 0x01, 0x80, 0xa1, 0x31], encodeText('SendMessage'), [0x92]];
    const parts = [...head, encodeText('r'), ...draft, [0x90]].map((part) => Buffer.from(part));
    const call = Buffer.concat(parts);
    packed.socket.send(Buffer.concat([lengthPrefix(call.length), call]));
    assert.match(JSON.stringify(await packed.next()), /neither text nor a whole number/);
    assert.equal(await packed.closed, 1000);
    assert.equal(
      ((await others.invoke('GetConnectionId')) as { result?: unknown }).result,
      others.id,
    );
  });

  it('reads messages however they are cut over WebSocket messages', async () => {
    const cuts = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 8 });
    const sizes = fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 6 });
    const property = fc.asyncProperty(sizes, cuts, async (lengths, pieces) => {
      const list = lengths.map((length, n) => ({ n, blob: 'x'.repeat(length) }));
      const wire = Buffer.concat(
        list.map((item) => encode({ type: 1, target: 'Echo', arguments: [item] })),
      );
      const client = await PackClient.connect(hub.url, wire.subarray(0, 10));
      for (let at = 10, turn = 0; at < wire.length; turn++) {
        const length = pieces[turn % pieces.length]!;
        client.socket.send(wire.subarray(at, at + length));
        at += length;
      }
      for (const item of list) assert.deepEqual(await client.next(), delivery(item));
      client.socket.terminate();
    });
    await fc.assert(property, { numRuns: 25 });
  });

  const malformed: Readonly<Record<string, readonly number[]>> = {
    'a length that is none': [0xff, 0xff, 0xff, 0xff, 0xff],
    'a length above the limit': [0xff, 0xff, 0xff, 0x7f],
    'no bytes': [0],
    'no array': [1, 0xc0],
    'no type': [1, 0x90],
    'an array without end': [6, 0xdd, 0xff, 0xff, 0xff, 0xff, 1],
    'arguments without end': [11, 0x95, 1, 0x80, 0xc0, 0xa1, 0x45, 0xdd, 0xff, 0xff, 0xff, 0xff],
    'an id that is a number': [8, 0x95, 1, 0x80, 7, 0xa1, 0x45, 0x90, 0x90],
    'headers that are no map': [8, 0x96, 1, 0x90, 0xc0, 0xa1, 0x45, 0x90, 0x90],
    'an empty target': [7, 0x96, 1, 0x80, 0xc0, 0xa0, 0x90, 0x90],
    'a stream id that is a number': [9, 0x96, 1, 0x80, 0xc0, 0xa1, 0x45, 0x90, 0x91, 5],
    'a completion of no kind': [6, 0x94, 3, 0x80, 0xa1, 0x37, 9],
    'bytes behind the array': [3, 0x91, 6, 0xc0],
    'text of the other protocol': [...Buffer.from('{"type":6}\x1e'.repeat(12))],
  };
  it('closes a connection that sends what is no message', async () => {
    for (const [title, bytes] of Object.entries(malformed)) {
      const client = await PackClient.connect(hub.url);
      client.socket.send(Buffer.from(bytes));
      const tooLong = title.endsWith('above the limit');
      const error = `Connection closed with an error.${tooLong ? ' A message is longer than 100000 bytes.' : ''}`;
      assert.deepEqual(await client.next(), { type: 7, error, allowReconnect: true }, title);
      assert.equal(await client.closed, 1000, title);
    }
  });

  it('closes one that nests without end, and ignores types it does not know', async () => {
    const survivor = await PackClient.connect(hub.url);
    const client = await PackClient.connect(hub.url);
    client.socket.send(Buffer.concat([Buffer.from([0x90, 0xbf, 5]), Buffer.alloc(90_000, 0x91)]));
    await client.closed;
    survivor.socket.send(Buffer.from([3, 0x92, 99, 0xc0, 3, 0x92, 8, 1]));
    assert.deepEqual(await survivor.invoke('GetConnectionId'), completed(survivor.id));
  });

  it('sends pings and says goodbye in MessagePack', async () => {
    const pinging = await startBenchHub({ keepAliveMs: 1 });
    const client = await PackClient.connect(pinging.url);
    assert.deepEqual(await client.next(), { type: 6 });
    await pinging.dispose();
    const goodbye = client.messages.at(-1);
    assert.deepEqual(goodbye, { type: 7, allowReconnect: true });
  });
});
