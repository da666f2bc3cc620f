import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import { clientFrame } from '../../../../src/wire/socket/frame';
import { codecOf } from '../../../../src/wire/hub/codecs';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../../src/wire/hub/hubMessage';
import { negotiateAgents } from '../../../../src/wire/connect/negotiate';
import { pubSubSdkOpener } from '../../../../src/wire/sdk/pubSubSdkConnection';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { until } from '../../../fakes/until';

/** Hears what comes, and losses of sockets too. */
class Listener extends RecordingListener {
  readonly messages: (HubMessage | undefined)[] = [];
  readonly told: string[] = [];
  pings = 0;
  override received(
    { codec }: HubConnection,
    buffer: Buffer,
    start: number,
    end: number,
    frameBytes: number,
  ): void {
    this.messages.push(codec.read(buffer, start, end));
    this.frameBytes.push(frameBytes);
  }
  pinged(): void {
    this.pings += 1;
  }
  interrupted(_: unknown, errorClass: string): void {
    this.told.push(`interrupted ${errorClass}`);
  }
  recovered(): void {
    this.told.push('recovered');
  }
}

describe('a connection of the official client of Web PubSub', () => {
  let server: Server;
  let listener: Listener;
  let connection: HubConnection | undefined;
  const sockets: { readonly request: IncomingMessage; readonly socket: WebSocket }[] = [];
  /** Everything the client has sent. */
  const sent: unknown[] = [];
  /** What happens to the next upgrades instead. */
  const refusals: ((stream: Duplex) => void)[] = [];
  let greeting: string | undefined;

  beforeEach(async () => {
    sockets.length = sent.length = refusals.length = 0;
    listener = new Listener();
    const connected = { type: 'system', event: 'connected', connectionId: 'c 1' };
    greeting = JSON.stringify({ ...connected, userId: 'u', reconnectionToken: 't+1' });
    server = createServer();
    const webSockets = new WebSocketServer({ noServer: true });
    server.on('upgrade', (request, stream, head) => {
      stream.on('error', () => undefined);
      const refuse = refusals.shift();
      if (refuse !== undefined) {
        refuse(stream);
        return;
      }
      webSockets.handleUpgrade(request, stream, head, (socket) => {
        socket.on('message', (bytes: Buffer) => sent.push(JSON.parse(bytes.toString())));
        socket.on('error', () => undefined);
        sockets.push({ request, socket });
        if (sockets.length === 1 && greeting !== undefined) socket.send(greeting);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    connection?.destroy();
    for (const { socket } of sockets) socket.terminate();
    server.close();
    server.closeAllConnections();
  });

  const status =
    (line: string) =>
    (stream: Duplex): void => {
      stream.end(`HTTP/1.1 ${line}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
    };

  /** @param keepAlive none unless the test waits for it: its timers outlive the connection */
  async function open(
    protocol: 'webpubsub' | 'webpubsubReliable' = 'webpubsub',
    keepAlive = { intervalMs: 0, timeoutMs: 0 },
    signal = AbortSignal.timeout(5000),
  ): Promise<HubConnection> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/hubs/h`;
    const given = { accessToken: 'secret', skipNegotiation: true, headers: { 'X-Own': 'yes' } };
    const endpoint = endpointOf(url, { ...given, query: { a: 'b' } });
    const options = { maximumMessageBytes: 1000, maximumUnsentBytes: 1e6 };
    connection = await connectHub(
      3,
      {
        ...{ endpoint, listener, agents: negotiateAgents(endpoint, 1) },
        options: { ...options, codec: codecOf(protocol) },
        open: pubSubSdkOpener(keepAlive),
      },
      signal,
    );
    return connection;
  }

  const say = (frame: object): void => {
    const bytes = Buffer.from(JSON.stringify(frame));
    assert.equal(connection!.send(clientFrame(connection!.codec.opcode, bytes)), true);
  };

  it('sends by the methods of the client, and hears what it tells', async () => {
    const client = await open();
    assert.equal(client.connectionId, 'c 1');
    const [{ request, socket } = assert.fail()] = sockets;
    assert.equal(request.headers['sec-websocket-protocol'], 'json.webpubsub.azure.v1');
    assert.equal(request.headers['x-own'], 'yes');
    assert.equal(request.url, '/client/hubs/h?a=b&access_token=secret');
    client.sendMessage(
      client.codec.encode({ type: 1, invocationId: '1', target: 'JoinGroup', arguments: ['g'] }),
    );
    const payload = { dataType: 'json', data: { text: 'é ✓' } };
    say({ type: 'sendToGroup', group: 'g', ...payload });
    say({ type: 'event', event: 'Echo', ackId: 9, ...payload });
    await until('the sending', () => sent.length === 3);
    assert.deepEqual(sent, [
      { type: 'joinGroup', group: 'g', ackId: 1 },
      { type: 'sendToGroup', group: 'g', ...payload, noEcho: false },
      { type: 'event', event: 'Echo', ackId: 9, ...payload },
    ]);
    // Blanks that nobody would write back.
    const frames = [
      '{ "type":"ack", "ackId":1, "success":true }',
      '{"type":"ack","ackId":9,"success":false,"error":{"name":"NotFound","message":"none"}}',
      '{ "type":"message", "from":"group", "group":"g", "dataType":"json", "data":{"a":1} }',
      '{"type":"message","from":"server","dataType":"json","data":[2]}',
      '{"type":"pong"}',
      '{"type":"unheard of"}',
      '{"type":"system","event":"disconnected","message":"bye"}',
    ];
    for (const frame of frames) socket.send(frame);
    await until('the delivery', () => listener.messages.length === 6);
    const byType = (type: number) => listener.messages.filter((message) => message?.type === type);
    // The client has promises of different depth for them.
    const answers = byType(3).sort((a) => (a?.type === 3 && a.invocationId === '1' ? -1 : 1));
    assert.deepEqual(answers, [
      { type: 3, invocationId: '1' },
      { type: 3, invocationId: '9', error: 'NotFound: none' },
    ]);
    assert.deepEqual(byType(1), [
      { type: 1, target: 'RecordLatency', arguments: [{ a: 1 }] },
      { type: 1, target: 'RecordLatency', arguments: [[2]] },
    ]);
    assert.deepEqual([byType(6).length, byType(7)], [1, [{ type: 7, error: 'bye' }]]);
    const heard = listener.messages.findIndex((message) => message?.type === 1);
    assert.equal(listener.frameBytes[heard], frames[2]!.length + 2);
  });

  it('comes back for a lost socket, with what was sent meanwhile', async () => {
    const client = await open('webpubsubReliable');
    refusals.push(status('503 Later'));
    sockets[0]!.socket.terminate();
    await until('the delivery', () => listener.told.length === 1);
    assert.ok(client.isOpen);
    say({ type: 'sendToGroup', group: 'g', dataType: 'json', data: 1 });
    await until('the sending', () => sent.length === 1);
    const query = new URL(sockets[1]!.request.url!, 'http://x').searchParams;
    assert.equal(query.get('awps_connection_id'), 'c 1');
    assert.equal(query.get('awps_reconnection_token'), 't+1');
    assert.deepEqual(listener.told, ['interrupted closed', 'recovered']);
    assert.deepEqual(listener.losses, []);
    sockets[1]!.socket.close(1008, 'too late');
    const { errorClass, text } = await listener.lostOnce;
    assert.equal(errorClass, 'closed');
    assert.match(text, /1008.*too late/);
  });

  it('pings, and is lost when the service falls silent', async () => {
    await open('webpubsub', { intervalMs: 20, timeoutMs: 150 });
    const { errorClass, text } = await listener.lostOnce;
    assert.deepEqual(
      [errorClass, text],
      ['timeout', 'the server sent nothing for 0.15 s, not even a pong'],
    );
    assert.ok(listener.pings > 1);
    assert.deepEqual(sent[0], { type: 'ping' });
  });

  for (const [name, act, errorClass, pattern] of [
    ['a close frame', (socket) => socket.close(1001, 'away'), 'closed', /code 1001: away$/],
    ['a lost socket', (socket) => socket.terminate(), 'closed', /without a close frame/],
    ['garbage', (socket) => socket.send('!'), 'protocol', /JSON/],
    ['a message that is too long', (socket) => socket.send('x'.repeat(1001)), 'protocol', /Max/],
  ] as readonly (readonly [string, (socket: WebSocket) => void, string, RegExp])[])
    it(`is lost once, with class ${errorClass}, by ${name}`, async () => {
      const client = await open();
      act(sockets[0]!.socket);
      const loss = await listener.lostOnce;
      assert.equal(loss.errorClass, errorClass, loss.text);
      assert.match(loss.text, pattern);
      await until('the close', () => sockets[0]!.socket.readyState === 3);
      assert.deepEqual([client.isOpen, listener.losses.length], [false, 1]);
    });

  for (const [line, errorClass] of [
    ['401 No', 'unauthorized'],
    ['404 Not Found', 'notFound'],
    ['429 Slow', 'throttled'],
    ['500 Oh', 'upgrade'],
  ] as const)
    it(`does not open with class ${errorClass} by ${line}`, async () => {
      refusals.push(status(line));
      await assert.rejects(open(), (error: { errorClass?: unknown; message?: unknown }) => {
        assert.equal(error.errorClass, errorClass);
        // The token stands in the query.
        assert.doesNotMatch(String(error.message), /secret/);
        return true;
      });
    });

  it('does not open by silence, before or after the upgrade, nor where nothing listens', async () => {
    const none = { intervalMs: 0, timeoutMs: 0 };
    refusals.push(() => undefined);
    const soon = () => AbortSignal.timeout(100);
    await assert.rejects(open('webpubsub', none, soon()), { errorClass: 'timeout' });
    greeting = undefined;
    await assert.rejects(open('webpubsubReliable', none, soon()), { errorClass: 'timeout' });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.close();
    server.closeAllConnections();
    const endpoint = endpointOf(url, { skipNegotiation: true });
    const context = { endpoint, listener, agents: negotiateAgents(endpoint, 1) };
    const options = { maximumMessageBytes: 1000, maximumUnsentBytes: 1000 };
    await assert.rejects(
      connectHub(
        0,
        {
          ...context,
          options: { ...options, codec: codecOf('webpubsub') },
          open: pubSubSdkOpener(none),
        },
        AbortSignal.timeout(5000),
      ),
      { errorClass: 'refused' },
    );
  });
});
