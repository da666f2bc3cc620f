import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { connect, createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { HttpTransportType, HubConnectionBuilder, LogLevel } from '@microsoft/signalr';
import { WebPubSubClient, WebPubSubJsonReliableProtocol } from '@azure/web-pubsub-client';
import { MessagePackHubProtocol } from '@microsoft/signalr-protocol-msgpack';
import type { RecordedEvent, RecordedKind } from '../../../../src/record/recording';
import type { ExpectedError } from '../../../../src/base/expectedError';
import {
  RecordingProxy,
  type RecordingProxyOptions,
} from '../../../../src/record/proxy/recordingProxy';
import { startAzureSignalr } from '../../../../src/servers/azureSignalr/serviceEmulator';
import { startBenchHub, type BenchHub } from '../../../../src/servers/hub/benchHub';
import { startWebPubSubEmulator } from '../../../../src/servers/webpubsub/webPubSubEmulator';
import { EmulatorPeer } from '../../../fakes/emulatorPeer';
import { startFront, testCertificate } from '../../../fakes/loadFront';
import { everything, Peer } from '../../../fakes/pubSubPeer';
import { SeededRandom } from '../../../fakes/seededBytes';
import { hubClient, kinds, notesOf } from '../../servers/azureSignalr/hubClients';

type Recorded = RecordedEvent & { readonly kind: RecordedKind };

describe('the recording proxy', () => {
  const events: Recorded[] = [];
  const problems: string[] = [];
  const ends: (() => unknown)[] = [];
  let wake: () => void = () => undefined;

  async function record(target: string): Promise<RecordingProxy> {
    const proxy = await RecordingProxy.start({
      target: new URL(target),
      port: 0,
      way: { insecureTls: false },
      onEvent: (event, kind) => {
        // As it is in the file.
        events.push({ ...(JSON.parse(JSON.stringify(event)) as RecordedEvent), kind });
        wake();
      },
      onProblem: ({ message }) => problems.push(message),
    });
    ends.push(() => proxy.dispose());
    return proxy;
  }

  async function recorded(count: number, which: (event: Recorded) => boolean): Promise<Recorded[]> {
    for (;;) {
      const found = events.filter(which);
      if (found.length >= count) return found;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  }

  async function serving(server: Server): Promise<string> {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    ends.push(() => server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
    events.length = problems.length = 0;
  });

  const callsTo = (target: string) => (event: Recorded) =>
    'm' in event && 'target' in event.m && event.m.target === target;
  const summary = (event: Recorded): unknown =>
    'm' in event ? [event.ev, event.m] : [event.ev, 'raw' in event ? event.why : undefined];

  describe('before the embedded hub, with the official client', () => {
    let hub: BenchHub;
    before(async () => (hub = await startBenchHub()));
    after(() => hub.dispose());

    for (const { transport, protocol } of kinds) {
      const name = HttpTransportType[transport];
      it(`records each message over ${name} in ${protocol}`, async () => {
        const proxy = await record(hub.url);
        const builder = new HubConnectionBuilder()
          .withUrl(`${proxy.url}?tenant=7`, {
            transport,
            accessTokenFactory: () => 'a-secret-token',
            headers: { 'X-Api-Key': 'a-secret-token' },
          })
          .configureLogging(LogLevel.None);
        if (protocol === 'messagepack') builder.withHubProtocol(new MessagePackHubProtocol());
        const connection = builder.build();
        ends.push(() => connection.stop());
        const echoes: unknown[] = [];
        connection.on('RecordLatency', (value) => echoes.push(value));
        await connection.start();
        const payloads = Array.from({ length: 20 }, (_, number) => ({
          number,
          blob: 'ä"😀'.repeat(number * 30),
        }));
        for (const payload of payloads) await connection.invoke('Echo', payload);
        await assert.rejects(connection.invoke('Absent', 1));
        await connection.stop();
        const [closed] = await recorded(1, ({ ev }) => ev === 'close');
        assert.deepEqual(echoes, payloads);

        const [open, ...rest] = events;
        assert.ok(open?.ev === 'open');
        assert.deepEqual(
          [open.transport, open.protocol, open.path, open.kind, open.token, open.headers],
          [name, protocol, '/signalrbench', 'signalr', true, ['x-api-key']],
        );
        assert.ok(open.query.includes('tenant'));
        assert.equal(rest.at(-1), closed);
        const calls = rest.filter(callsTo('Echo'));
        assert.deepEqual(
          calls.map((event) => ('m' in event && 'arguments' in event.m ? event.m.arguments : [])),
          payloads.map((payload) => [payload]),
        );
        assert.equal(rest.filter(callsTo('RecordLatency')).length, payloads.length);
        const answers = rest.filter(
          (event) => event.ev === 'in' && 'm' in event && event.m.type === 3,
        );
        assert.equal(answers.length, payloads.length + 1);
        assert.ok(answers.some((event) => 'm' in event && 'error' in event.m));
        assert.ok(rest.every(({ client }) => client === 1));
        assert.ok(rest.every(({ t }, at) => at === 0 || t >= rest[at - 1]!.t));
        assert.equal(rest.filter((event) => 'raw' in event).length, 0);
        assert.doesNotMatch(JSON.stringify(events), /a-secret-token/);

        const { messages, calls: counted, clients, everSeen } = proxy.counts();
        assert.deepEqual([clients, everSeen], [0, 1]);
        assert.deepEqual(counted.find(({ name: each }) => each === 'Echo')?.count, 20);
        assert.equal(
          messages.out + messages.in,
          rest.filter(({ ev }) => ev === 'out' || ev === 'in').length,
        );
        assert.deepEqual(problems, []);
      });
    }

    it('numbers clients, and says when one leaves', async () => {
      const proxy = await record(hub.url);
      const all = await Promise.all(
        [0, 1, 2].map(async () => {
          const connection = new HubConnectionBuilder()
            .withUrl(proxy.url, {
              transport: HttpTransportType.WebSockets,
              skipNegotiation: true,
            })
            .configureLogging(LogLevel.None)
            .build();
          ends.push(() => connection.stop());
          await connection.start();
          return connection;
        }),
      );
      assert.equal(proxy.counts().clients, 3);
      await all[1]!.stop();
      await recorded(1, ({ ev }) => ev === 'close');
      assert.equal(proxy.counts().clients, 2);
      await Promise.all(all.map((connection) => connection.stop()));
      const closes = await recorded(3, ({ ev }) => ev === 'close');
      assert.deepEqual(new Set(closes.map(({ client }) => client)), new Set([1, 2, 3]));
    });
  });

  it('follows the redirect of Azure SignalR Service', async () => {
    const emulator = await startAzureSignalr();
    ends.push(() => emulator.dispose());
    const peer = new EmulatorPeer(emulator.connectionString);
    const token = await peer.token('/client/?hub=chat', { 'asrs.s.uid': 'ann' });
    const asked: string[] = [];
    const app = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ url: `${peer.url}/client/?hub=chat`, accessToken: token }));
    });
    const proxy = await record(`${await serving(app)}/chat`);
    // The other ways differ before the hub of an application in the same way.
    const some = [kinds[0], kinds.at(-1)!];
    for (const kind of some) {
      const client = await hubClient(peer, 'chat', kind, {}, proxy.url);
      ends.push(() => client.connection.stop());
      await client.connection.start();
      await peer.rest('POST', '/api/v1/hubs/chat', { target: 'note', arguments: ['hello', 1] });
      assert.deepEqual(await notesOf(client, 1), [['hello', 1]]);
      await client.connection.stop();
    }
    await recorded(some.length, ({ ev }) => ev === 'close');
    assert.deepEqual(
      asked,
      some.map(() => 'POST /chat/negotiate?negotiateVersion=1'),
    );
    const opened = events.filter((event) => event.ev === 'open');
    assert.deepEqual(
      opened.map(({ transport, protocol, path, token: hasToken }) => [
        transport,
        protocol,
        path,
        hasToken,
      ]),
      some.map(({ transport, protocol }) => [
        HttpTransportType[transport],
        protocol,
        '/client/',
        // That of the service is none of the application.
        undefined,
      ]),
    );
    const notes = events.filter(callsTo('note'));
    assert.deepEqual(
      notes.map(summary),
      some.map(() => ['in', { type: 1, target: 'note', arguments: ['hello', 1] }]),
    );
    assert.ok(!JSON.stringify(events).includes(token.slice(0, 30)));
  });

  it('leads clients of Web PubSub that an application sends on, with its official client', async () => {
    const protocol = WebPubSubJsonReliableProtocol();
    const emulator = await startWebPubSubEmulator();
    ends.push(() => emulator.dispose());
    const url = Peer.urlOf(emulator, { sub: 'ann', role: everything });
    const app = createServer((_request, response) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ url }));
    });
    const proxy = await record(`${await serving(app)}/negotiate`);
    const client = new WebPubSubClient(
      {
        getClientAccessUrl: async () => {
          const answer = (await (await fetch(proxy.url)).json()) as { url: string };
          assert.equal(new URL(answer.url).host, new URL(proxy.url).host);
          return answer.url;
        },
      },
      { protocol, messageRetryOptions: { maxRetries: 0 } },
    );
    ends.push(() => client.stop());
    const messages: unknown[] = [];
    client.on('group-message', ({ message }) => messages.push(message.data));
    const stopped = new Promise<void>((resolve) => client.on('stopped', () => resolve()));
    await client.start();
    await client.joinGroup('room');
    await client.sendToGroup('room', { text: 'hello' }, 'json');
    await recorded(1, (event) => 'm' in event && event.m.type === 'message');
    client.stop();
    await stopped;
    await recorded(1, ({ ev }) => ev === 'close');
    const [open] = events;
    assert.ok(open?.ev === 'open');
    assert.deepEqual(
      [open.kind, open.protocol, open.path],
      ['webpubsub', protocol.name, '/client/hubs/chat'],
    );
    const said = events.flatMap((event) => ('m' in event ? [[event.ev, event.m] as const] : []));
    const kindsOf = (direction: string): unknown[] =>
      said.filter(([each]) => each === direction).map(([, { type }]) => type);
    assert.deepEqual(
      kindsOf('out').filter((type) => type !== 'sequenceAck'),
      ['joinGroup', 'sendToGroup'],
    );
    const [, message] = said.find(([, { type }]) => type === 'message')!;
    assert.ok('group' in message && 'data' in message);
    assert.deepEqual([message.group, message.data], ['room', { text: 'hello' }]);
    assert.equal(events.filter((event) => 'raw' in event).length, 0);
    assert.doesNotMatch(JSON.stringify(events), /reconnectionToken|eyJ/);
  });

  describe('with bytes that nobody understands', () => {
    /** Accepts each upgrade and sends back what it gets; notes the requests. */
    async function echoServer(heads: string[]): Promise<string> {
      const server = createTcpServer((socket) => {
        let head = '';
        socket.on('error', () => undefined);
        socket.on('data', function first(chunk: Buffer) {
          head += chunk.toString('latin1');
          if (!head.includes('\r\n\r\n')) return;
          socket.off('data', first);
          heads.push(head.slice(0, head.indexOf('\r\n\r\n')));
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\nSet-Cookie: s=1; Domain=hub.example; Secure; SameSite=None; HttpOnly\r\n\r\n',
          );
          socket.pipe(socket);
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      ends.push(() => server.close());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`;
    }

    const upgrade = (host: string, more = ''): string =>
      `GET /chat?id=1&access_token=tok HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://${host}\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Extensions: permessage-deflate\r\nCookie: s=2\r\n${more}\r\n`;

    function opened(proxy: RecordingProxy, host?: string): Socket {
      const { port } = new URL(proxy.url);
      const socket = connect(Number(port), '127.0.0.1');
      socket.write(upgrade(host ?? `127.0.0.1:${port}`));
      return socket;
    }

    const rawEvents = (): unknown[] =>
      events.flatMap((event) => ('raw' in event ? [[event.ev, event.raw, event.why]] : []));

    it('passes them on unchanged in both directions', async () => {
      const heads: string[] = [];
      const target = await echoServer(heads);
      const proxy = await record(target);
      const socket = opened(proxy);
      const random = new SeededRandom();
      const sent = Buffer.from(Uint8Array.from({ length: 1_000_000 }, () => random.below(256)));
      // No frame begins so: it would claim an extension.
      sent[0] = 0xff;
      let received = '';
      const chunks: Buffer[] = [];
      let length = 0;
      const all = new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          if (!received.includes('\r\n\r\n')) {
            received += chunk.toString('latin1');
            const at = received.indexOf('\r\n\r\n') + 4;
            if (at < 4) return;
            chunk = Buffer.from(received.slice(at), 'latin1');
            received = received.slice(0, at);
          }
          chunks.push(chunk);
          length += chunk.length;
          if (length >= sent.length) resolve();
        });
      });
      socket.write(sent);
      await all;
      socket.destroy();
      assert.ok(Buffer.concat(chunks).equals(sent), `seed ${random.seed}`);
      assert.match(received, /^HTTP\/1\.1 101 /);
      assert.match(received, /Set-Cookie: s=1; SameSite=Lax; HttpOnly\r\n/);
      const host = new URL(target).host;
      assert.match(heads[0]!, new RegExp(`^Host: ${host}\\r$`, 'm'));
      assert.match(heads[0]!, new RegExp(`^Origin: http://${host}\\r$`, 'm'));
      assert.match(heads[0]!, /^GET \/chat\?id=1&access_token=tok HTTP/);
      assert.match(heads[0]!, /^Cookie: s=2\r$/m);
      assert.doesNotMatch(heads[0]!, /Extensions/);
      await recorded(1, ({ ev }) => ev === 'close');
      assert.ok(events.some((event) => 'raw' in event));
      assert.doesNotMatch(JSON.stringify(events), /tok"/);
    });

    it('keeps nothing of a message of 4 MB but its length', async () => {
      const socket = opened(await record(await echoServer([])));
      const bytes = 4 * 1024 * 1024;
      const head = Buffer.from([0x82, 127, 0, 0, 0, 0, 0, 0, 0, 0]);
      head.writeUInt32BE(bytes, 6);
      const piece = Buffer.alloc(1024 * 1024);
      let received = 0;
      const all = new Promise<void>((resolve) => {
        socket.on('data', (chunk: Buffer) => {
          received += chunk.length;
          if (received >= bytes + head.length) resolve();
        });
      });
      socket.write(head);
      for (let sent = 0; sent < bytes; sent += piece.length)
        if (!socket.write(piece)) await once(socket, 'drain');
      await all;
      socket.destroy();
      await recorded(2, (event) => 'raw' in event);
      const tooLong = (direction: string): unknown => [direction, bytes, 'longer than 1 MB'];
      assert.deepEqual(rawEvents(), [tooLong('out'), tooLong('in')]);
    });

    it('records a client that leaves in the middle of a message', async () => {
      const socket = opened(await record(await echoServer([])));
      const text = Buffer.from('{"protocol":"json","version":1}\x1e{"type":1,"target":"Half');
      socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
      await recorded(1, ({ ev }) => ev === 'open');
      socket.destroy();
      await recorded(1, ({ ev }) => ev === 'close');
      assert.deepEqual(summary(events.find(({ ev }) => ev === 'out')!), ['out', 'cut off']);
    });

    it('says what is left of a message whose frames did not all come', async () => {
      const socket = opened(await record(await echoServer([])));
      const frame = (first: number, text: string): Buffer =>
        Buffer.concat([Buffer.from([first, text.length]), Buffer.from(text)]);
      socket.write(frame(0x81, '{"protocol":"json","version":1}\x1e'));
      // A first fragment, and of the next one its head and a letter.
      socket.write(Buffer.concat([frame(0x01, '{"type":1,'), Buffer.from([0x80, 40, 0x22])]));
      await recorded(1, ({ ev }) => ev === 'open');
      socket.end();
      await recorded(1, ({ ev }) => ev === 'close');
      assert.deepEqual(rawEvents()[0], ['out', 13, 'cut off']);
    });

    it('lets no other host in', async () => {
      const heads: string[] = [];
      const proxy = await record(await echoServer(heads));
      const socket = opened(proxy, 'evil.example');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      assert.match(answer.toString('latin1'), /^HTTP\/1\.1 403 /);
      assert.deepEqual(heads, []);
    });
  });

  it('gives pages of this machine and of the hub leave to use it', async () => {
    const app = createServer((request, response) => {
      if (request.url === '/away') {
        response.writeHead(302, { Location: `${target}/chat`, 'X-Frame-Options': 'DENY' });
      } else {
        response.setHeader('Set-Cookie', [
          'a=1; Domain=x.example; Secure; Path=/',
          '__Host-b=2; Secure',
        ]);
        if (request.headers.origin === 'https://app.example')
          response.setHeader('Access-Control-Allow-Origin', 'https://app.example');
      }
      response.end(request.headers.origin ?? 'none');
    });
    const target = await serving(app);
    const proxy = await record(`${target}/chat`);
    const origins: Readonly<Record<string, readonly [string, string | null]>> = {
      'http://localhost:3000': ['http://localhost:3000', 'http://localhost:3000'],
      [target]: [target, target],
      'https://app.example': ['https://app.example', 'https://app.example'],
      'https://evil.example': ['https://evil.example', null],
      [new URL(proxy.url).origin]: [target, null],
    };
    for (const [Origin, [seen, allowed]] of Object.entries(origins)) {
      const answer = await fetch(proxy.url, { headers: { Origin } });
      assert.equal(await answer.text(), seen);
      assert.equal(answer.headers.get('access-control-allow-origin'), allowed);
      assert.deepEqual(answer.headers.getSetCookie(), ['a=1; Path=/', '__Host-b=2; Secure']);
    }
    const preflight = await fetch(`${proxy.url}/negotiate`, {
      method: 'OPTIONS',
      headers: {
        Origin: 'http://localhost:3000',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'x-signalr-user-agent',
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true');
    assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-signalr-user-agent');
    const { origin } = new URL(proxy.url);
    const away = await fetch(`${origin}/away`, { redirect: 'manual' });
    assert.equal(away.headers.get('location'), `${origin}/chat`);
  });

  it('has no problem with clients that still wait for an answer when the recording ends', async () => {
    const asked: string[] = [];
    // Nobody but who has upgraded a connection ends it.
    const upgraded: Duplex[] = [];
    const silent = createServer((request) => asked.push(request.url!)).on(
      'upgrade',
      (request, socket) => {
        asked.push(request.url!);
        upgraded.push(socket);
      },
    );
    const proxy = await record(await serving(silent));
    const { port } = new URL(proxy.url);
    const head = `HTTP/1.1\r\nHost: localhost:${port}\r\n`;
    const clients = ['', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'].map((more, at) => {
      const client = connect(Number(port), '127.0.0.1').on('error', () => undefined);
      client.resume().write(`GET /${at} ${head}${more}\r\n`);
      return once(client, 'close');
    });
    while (asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
    await proxy.dispose();
    await Promise.all(clients);
    for (const socket of upgraded) socket.destroy();
    assert.deepEqual(problems, []);
  });

  it('passes on a long answer that refuses an upgrade, and ends the connection, whatever its client does', async () => {
    const text = 'x'.repeat(8_000_000);
    const refusing = createServer((_request, response) => response.writeHead(404).end(text));
    const proxy = await record(await serving(refusing));
    const { port } = new URL(proxy.url);
    const client = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    let length = 0;
    client.on('data', (chunk: Buffer) => (length += chunk.length));
    client.write(
      `GET / HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    await once(client, 'end');
    assert.ok(length > text.length, `${length} bytes`);
    await proxy.dispose();
    client.destroy();
  });

  it('says that nobody answers, at once and later', async () => {
    const server = createServer((_request, response) => response.end());
    const target = await serving(server);
    const proxy = await record(target);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const answer = await fetch(proxy.url);
    assert.equal(answer.status, 502);
    assert.match(await answer.text(), /^Cannot connect to http:.*ECONNREFUSED/);
    assert.equal(problems.length, 1);
    await assert.rejects(record(target), { code: 'target-unreachable' });
  });

  it('takes a certificate that is not known once it is trusted, also while it goes on', async () => {
    const server = createServer((_request, response) => response.end('here'));
    const front = await startFront(await serving(server), { tls: true });
    ends.push(() => front.dispose());
    const found: ExpectedError[] = [];
    const options: RecordingProxyOptions = {
      ...{ target: new URL(front.url), port: 0, way: { insecureTls: false } },
      ...{ trustAdvice: 'Trust it.', onEvent: () => undefined },
      onProblem: (problem) => found.push(problem),
    };
    const isUnknown = {
      code: 'target-certificate',
      message: /^Cannot .*certificate.* Trust it\.$/,
    };
    await assert.rejects(RecordingProxy.start(options), isUnknown);

    const proxy = await RecordingProxy.start({ ...options, way: { insecureTls: true } });
    ends.push(() => proxy.dispose());
    proxy.trust({ insecureTls: false });
    const refused = await fetch(proxy.url);
    assert.equal(refused.status, 502);
    assert.equal(await refused.text(), found[0]?.message);
    assert.match(found[0]!.message, isUnknown.message);
    proxy.trust({ insecureTls: false, ca: testCertificate });
    assert.equal(await (await fetch(proxy.url)).text(), 'here');
    assert.equal(found.length, 1);
  });

  it('says of a port without TLS that it speaks none, and nothing of certificates', async () => {
    const server = createServer((_request, response) => response.end());
    const target = (await serving(server)).replace('http:', 'https:');
    await assert.rejects(record(target), {
      code: 'target-unreachable',
      message: /: the port does not speak TLS\.$/,
    });
  });
});
