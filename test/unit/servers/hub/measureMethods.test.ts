import assert from 'node:assert/strict';
import { startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import type { Span } from '../../../../src/wire/message/hubCodec';
import { clientFrame } from '../../../../src/wire/socket/frame';
import { codecOf } from '../../../../src/wire/connect/codecOf';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../../src/wire/message/hubMessage';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { endpointOf } from '../../../fakes/endpoint';

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
      codec: codecOf(protocol),
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
