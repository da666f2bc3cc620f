import { startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import { codecForProtocol, connectHub } from '../../../../src/wire/connect/connectHub';
import type { Span } from '../../../../src/wire/message/hubCodec';
import { clientFrame } from '../../../../src/wire/socket/frame';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../../src/wire/message/hubMessage';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { endpointOf } from '../../../fakes/endpoint';
import {
  ChatRooms,
  maxHistoryMessages,
  maxHistoryBytes,
} from '../../../../src/servers/hub/benchMethods';
import assert from 'node:assert/strict';
import fc from 'fast-check';

/** More than a number holds exactly. */
const ticks = 638_000_000_000_000_001n;

class Client {
  readonly messages: HubMessage[] = [];
  connection!: HubConnection;
  private wake: () => void = () => undefined;

  static async open(url: string, protocol: 'json' | 'messagepack'): Promise<Client> {
    const client = new Client();
    const endpoint = endpointOf(url);
    const agents = new SocketAgents(endpoint, 1);
    const options = {
      codec: codecForProtocol(protocol),
      maximumMessageBytes: 100_000,
      maximumUnsentBytes: 100_000,
    };
    const listener = {
      received: (connection: HubConnection, buffer: Buffer, start: number, end: number) => {
        const span: Span = { start, end, next: start };
        while (span.next < end) {
          connection.codec.find(buffer, span.next, end, span);
          // Numbers of JSON are read as text, to see every digit.
          const text = buffer.toString('latin1', span.start, span.end);
          const message = connection.codec.read(buffer, span.start, span.end)!;
          const exact = protocol === 'json' && text.includes(String(ticks));
          if (message.type === 1 && message.target === 'Measure')
            client.messages.push(
              exact ? { ...message, arguments: [ticks, message.arguments[1]] } : message,
            );
          else if (message.type === 3) client.messages.push(message);
        }
        client.wake();
      },
      lost: () => undefined,
    };
    const context = { endpoint, agents, listener, options };
    client.connection = await connectHub(0, context, new AbortController().signal);
    agents.destroy();
    return client;
  }

  /** Arguments of JSON are given as text. */
  call(target: string, args: readonly unknown[], invocationId?: string): void {
    const { codec } = this.connection;
    const id = invocationId === undefined ? {} : { invocationId };
    if (codec.protocol === 'messagepack') {
      this.connection.sendMessage({ type: 1, ...id, target, arguments: args });
      return;
    }
    const list = args.map((one) => (typeof one === 'bigint' ? String(one) : JSON.stringify(one)));
    const head = JSON.stringify({ type: 1, ...id, target }).slice(0, -1);
    const text = `${head},"arguments":[${list.join(',')}]}\x1e`;
    this.connection.send(clientFrame(codec.opcode, Buffer.from(text)));
  }

  async next(): Promise<HubMessage> {
    while (this.messages.length === 0) await new Promise<void>((resolve) => (this.wake = resolve));
    return this.messages.shift()!;
  }
}

describe('the methods of the newer contract', () => {
  let hub: BenchHub;
  let json: Client;
  let pack: Client;
  const measure = (payload: string): HubMessage => ({
    type: 1,
    target: 'Measure',
    arguments: [ticks, payload],
  });

  before(async () => {
    hub = await startBenchHub();
    json = await Client.open(hub.url, 'json');
    pack = await Client.open(hub.url, 'messagepack');
  });
  after(async () => {
    json.connection.close();
    pack.connection.close();
    await hub.dispose();
  });

  it('bring every digit of the ticks to either protocol', async () => {
    for (const [from, payload] of [
      [json, 'of json "ü"'],
      [pack, 'of pack "ü"'],
    ] as const) {
      from.call('Broadcast', [ticks, payload]);
      for (const to of [json, pack]) assert.deepEqual({ ...(await to.next()) }, measure(payload));
    }
  });

  it('go to whom they name', async () => {
    json.call('SendToConnection', [pack.connection.connectionId, ticks, 'to one']);
    assert.deepEqual({ ...(await pack.next()) }, measure('to one'));
    pack.call('JoinGroup', ['g'], '1');
    assert.equal((await pack.next()).type, 3);
    json.call('GroupBroadcast', ['g', ticks, 'to a group']);
    assert.deepEqual({ ...(await pack.next()) }, measure('to a group'));
    json.call('Echo', [ticks, 'to me']);
    assert.deepEqual({ ...(await json.next()) }, measure('to me'));
    assert.deepEqual([...json.messages, ...pack.messages], []);
  });

  it('refuse what does not bind', async () => {
    for (const [target, args] of [
      ['Echo', [1.5, 'x']],
      ['Echo', [ticks, 7]],
      ['GroupBroadcast', [1, ticks, 'x']],
      ['SendToConnection', ['x', ticks]],
    ] as const) {
      for (const client of [json, pack]) {
        client.call(target, args, '7');
        const message = await client.next();
        assert.ok(message.type === 3 && /Failed to invoke/.test(message.error ?? ''), target);
      }
    }
  });
});

describe('the rooms of the chat', () => {
  it('have the latest messages first in their history', () => {
    const rooms = new ChatRooms();
    for (let at = 0; at < maxHistoryMessages + 5; at++) rooms.post('a', at, `m${at}`, 20);
    rooms.post('b', 'x', 'other', 20);
    assert.deepEqual(
      rooms.history('a', 2).map(({ author, text }) => [author, text]),
      [
        [maxHistoryMessages + 4, `m${maxHistoryMessages + 4}`],
        [maxHistoryMessages + 3, `m${maxHistoryMessages + 3}`],
      ],
    );
    assert.equal(rooms.history('a', 1e9).length, maxHistoryMessages);
    assert.deepEqual([rooms.history('a', -1), rooms.history('c', 5)], [[], []]);
  });

  it('have no history of what is large, nor of authors that are no name or number', () => {
    const rooms = new ChatRooms();
    const author = 'x'.repeat(15_000_000);
    assert.equal(rooms.post('a', author, 'text', author.length).author, author);
    assert.deepEqual(rooms.post('a', { deep: [] }, 'text', 30).author, { deep: [] });
    assert.deepEqual(rooms.history('a', 10), []);
  });

  it('take no more memory than they may, whatever is said where; the room that was quiet for longest goes first', () => {
    const post = fc.record({
      room: fc.nat(2000).map((at) => `room ${at} ${'r'.repeat(1000)}`),
      bytes: fc.integer({ min: 1, max: 5000 }),
    });
    fc.assert(
      fc.property(fc.array(post, { minLength: 2000, maxLength: 6000 }), (posts) => {
        const rooms = new ChatRooms();
        for (const { room, bytes } of posts) rooms.post(room, 1, 't'.repeat(bytes), bytes);
        const names = [...new Set(posts.map(({ room }) => room))];
        const sizes = names.flatMap((name) =>
          rooms.history(name, maxHistoryMessages).map(({ text }) => text.length + name.length),
        );
        assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= maxHistoryBytes);
        const last = [...posts].reverse().find(({ bytes }) => bytes <= 4096);
        if (last !== undefined) assert.equal(rooms.history(last.room, 1).length, 1);
      }),
      { numRuns: 20 },
    );
  });

  it('forget whole rooms, the one that was written to last stays', () => {
    const rooms = new ChatRooms();
    const text = 't'.repeat(4000);
    rooms.post('first', 1, 'hello', 5);
    for (let at = 0; at < 5000; at++) rooms.post(`room ${at}`, 1, text, text.length);
    assert.deepEqual(rooms.history('first', 1), []);
    assert.equal(rooms.history('room 4999', 1).length, 1);
  });
});
