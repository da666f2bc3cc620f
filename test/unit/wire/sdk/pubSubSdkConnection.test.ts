import assert from 'node:assert/strict';
import type { Duplex } from 'node:stream';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import { codecForProtocol, connectHub } from '../../../../src/wire/connect/connectHub';
import type { Endpoint } from '../../../../src/base/endpoint';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import type { HubMessage } from '../../../../src/wire/message/hubMessage';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { pubSubSdkOpener } from '../../../../src/wire/sdk/pubSubSdkConnection';
import { closeMessage } from '../../../../src/wire/webpubsub/webPubSubCodec';
import { endpointOf } from '../../../fakes/endpoint';
import { RecordingListener } from '../../../fakes/recordingListener';
import { until } from '../../../fakes/until';

class Listener extends RecordingListener {
  readonly messages: HubMessage[] = [];
  pings = 0;
  override message(
    connection: HubConnection,
    message: HubMessage,
    body: number,
    bytes: number,
  ): void {
    this.messages.push(message);
    super.message(connection, message, body, bytes);
  }
  pinged(): void {
    this.pings += 1;
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
    signal = new AbortController().signal,
    settings: Partial<Endpoint> = {},
  ): Promise<HubConnection> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/client/hubs/h`;
    const given = { accessToken: 'secret', skipNegotiation: true, query: { a: 'b' } };
    const endpoint = endpointOf(url, { ...given, ...settings });
    const options = { maximumMessageBytes: 1000, maximumUnsentBytes: 1e6 };
    connection = await connectHub(
      3,
      {
        ...{ endpoint, listener, agents: new SocketAgents(endpoint, 1) },
        options: { ...options, codec: codecForProtocol(protocol) },
        open: pubSubSdkOpener(keepAlive),
      },
      signal,
    );
    return connection;
  }

  const say = (target: string, args: readonly unknown[], ackId?: number): void => {
    const id = ackId === undefined ? {} : { invocationId: String(ackId) };
    const bytes = connection!.sendMessage({ type: 1, ...id, target, arguments: args });
    assert.ok(Number.isNaN(bytes));
  };

  it('sends by the methods of the client, and hears what it reports', async () => {
    const client = await open();
    assert.equal(client.connectionId, 'c 1');
    const [{ request, socket } = assert.fail()] = sockets;
    assert.equal(request.headers['sec-websocket-protocol'], 'json.webpubsub.azure.v1');
    assert.equal(request.url, '/client/hubs/h?a=b&access_token=secret');
    assert.ok(client.isOpen);
    say('JoinGroup', ['g'], 1);
    const payload = { dataType: 'json', data: { text: 'é ✓' } };
    say('SendToGroup', ['g', payload.data]);
    say('Echo', [payload.data], 9);
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
    ];
    for (const frame of frames) socket.send(frame);
    await until('the delivery', () => listener.messages.length === 5);
    socket.send('{"type":"system","event":"disconnected","message":"bye"}');
    await until('the farewell', () => listener.messages.length === 6);
    const byType = (type: number) => listener.messages.filter((message) => message.type === type);
    // The client has promises of different depth for them.
    const answers = byType(3).sort((a) => (a.type === 3 && a.invocationId === '1' ? -1 : 1));
    assert.deepEqual(answers, [
      { type: 3, invocationId: '1' },
      { type: 3, invocationId: '9', error: 'NotFound: none' },
    ]);
    assert.deepEqual(byType(1), [
      { type: 1, target: 'RecordLatency', arguments: [{ a: 1 }] },
      { type: 1, target: 'RecordLatency', arguments: [[2]] },
    ]);
    assert.deepEqual([byType(6).length, byType(7)], [1, [closeMessage('bye')]]);
    // Its sockets are its own.
    assert.ok(listener.frameBytes.every(Number.isNaN));
    const text = 'the server closed the connection: bye';
    assert.deepEqual(await listener.lostOnce, { errorClass: 'closed', text });
    await until('the end', () => socket.readyState === socket.CLOSED);
    assert.deepEqual([client.isOpen, client.mayReconnect, sockets.length], [false, true, 1]);
  });

  it('comes back for a lost socket, with what was sent meanwhile', async () => {
    const client = await open('webpubsubReliable');
    refusals.push(status('503 Later'));
    // Word of an end alone is none for a reliable client.
    sockets[0]!.socket.send('{"type":"system","event":"disconnected","message":"we move"}');
    await until('the word', () => listener.messages.length === 1);
    assert.ok(client.isOpen);
    sockets[0]!.socket.terminate();
    await until('the other side', () => refusals.length === 0);
    say('SendToGroup', ['g', { a: 1 }]);
    assert.ok(client.isOpen);
    await until('the sending', () => sent.length === 1);
    const query = new URL(sockets[1]!.request.url!, 'http://x').searchParams;
    assert.equal(query.get('awps_connection_id'), 'c 1');
    assert.equal(query.get('awps_reconnection_token'), 't+1');
    assert.deepEqual(listener.reported, ['interrupted closed']);
    sockets[1]!.socket.send(greeting!);
    await until('the greeting', () => listener.reported.length === 2);
    assert.deepEqual(listener.reported, ['interrupted closed', 'recovered']);
    assert.deepEqual(listener.losses, []);
    sockets[1]!.socket.send('{"type":"system","event":"disconnected","message":"no more"}');
    sockets[1]!.socket.close(1008, 'too late');
    const text = 'the connection is closed: no more';
    assert.deepEqual(await listener.lostOnce, { errorClass: 'closed', text });
  });

  it('takes a greeting for another socket where nothing was sent meanwhile', async () => {
    const client = await open('webpubsubReliable');
    sockets[0]!.socket.terminate();
    await until('another socket', () => sockets.length === 2);
    sockets[1]!.socket.send(greeting!);
    await until('the greeting', () => listener.reported.length === 2);
    assert.deepEqual(listener.reported, ['interrupted closed', 'recovered']);
    assert.ok(client.isOpen);
  });

  for (const [what, settings] of [
    ['headers', { headers: { 'X-Own': 'yes' } }],
    [
      'a proxy',
      { urls: ['http://hub.example/'], proxies: { http: 'http://127.0.0.1:1', except: [] } },
    ],
    ['certificates that nobody checks', { urls: ['https://hub.example/'], insecureTls: true }],
  ] as const)
    it(`says that it cannot take ${what}`, async () => {
      await assert.rejects(open('webpubsub', undefined, undefined, settings), {
        ...{ name: 'ConnectFailure', errorClass: 'other' },
        message: new RegExp(`no way to take ${what}: leave driver: sdk out$`),
      });
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
    [
      'a close frame',
      (socket) => socket.close(1001, 'away'),
      'closed',
      /^the connection is closed$/,
    ],
    ['a lost socket', (socket) => socket.terminate(), 'closed', /^the connection is closed$/],
    ['garbage', (socket) => socket.send('!'), 'protocol', /JSON/],
    [
      'a message that is too long',
      (socket) => socket.send('x'.repeat(1001)),
      'protocol',
      /longer than 1000$/,
    ],
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
    const held: Duplex[] = [];
    refusals.push((stream) => held.push(stream));
    const soon = () => AbortSignal.timeout(100);
    await assert.rejects(open('webpubsub', none, soon()), { errorClass: 'timeout' });
    // The client cannot give up a socket before it is open.
    held[0]!.destroy();
    greeting = undefined;
    // Not the reliable one: its client leaves a timer behind when it is never greeted.
    await assert.rejects(open('webpubsub', none, soon()), { errorClass: 'timeout' });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.close();
    server.closeAllConnections();
    const endpoint = endpointOf(url, { skipNegotiation: true });
    const context = { endpoint, listener, agents: new SocketAgents(endpoint, 1) };
    const options = { maximumMessageBytes: 1000, maximumUnsentBytes: 1000 };
    await assert.rejects(
      connectHub(
        0,
        {
          ...context,
          options: { ...options, codec: codecForProtocol('webpubsub') },
          open: pubSubSdkOpener(none),
        },
        new AbortController().signal,
      ),
      { errorClass: 'refused' },
    );
  });
});
