import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';
import * as net from 'node:net';
import { connectHub } from '../../../../src/wire/connect/connectHub';
import type { Endpoint } from '../../../../src/base/endpoint';
import type { HubConnection } from '../../../../src/wire/hub/clientConnection';
import { SocketAgents } from '../../../../src/wire/socket/socket';
import { RestCalls } from '../../../../src/wire/rest/restCalls';
import { proxyFor } from '../../../../src/wire/socket/proxy';
import { startBenchHub } from '../../../../src/servers/hub/benchHub';
import { endpointOf } from '../../../fakes/endpoint';
import { hubFrame } from '../../../fakes/frames';
import { startProxy, type FakeProxy } from '../../../fakes/proxy';
import {
  certificate,
  certificateKey,
  startRawHub,
  tlsServerOptions,
  type RawHub,
} from '../../../fakes/rawHub';
import { RecordingListener } from '../../../fakes/recordingListener';
import { testServers } from '../../../fakes/testServers';

const options = { maximumMessageBytes: 1_000_000, maximumUnsentBytes: 1024 * 1024 };

/** The same address under a name that only the proxy knows. */
const named = (url: string): string => url.replace('127.0.0.1', 'hub.test');

describe('a way through a proxy', () => {
  const listen = testServers();
  const opened: { dispose: () => Promise<void> }[] = [];
  const listener = (): RecordingListener => new RecordingListener();
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.dispose();
  });

  async function hubAt(secure: boolean): Promise<RawHub> {
    const hub = await startRawHub({ secure });
    opened.push(hub);
    return hub;
  }
  /** A bench hub that may be reached under any name: what stands before it gives it the hub's own. */
  async function hubElsewhere(): Promise<{ readonly url: string }> {
    const hub = await startBenchHub();
    const { host, hostname, port, pathname } = new URL(hub.url);
    const server = http.createServer((request, response) => {
      const { method, url: path, headers } = request;
      const on = http.request({ hostname, port, method, path, headers: { ...headers, host } });
      on.on('response', (answer) => {
        response.writeHead(answer.statusCode ?? 0, answer.headers);
        answer.pipe(response);
      });
      on.on('error', () => response.destroy());
      response.on('close', () => on.destroy());
      request.pipe(on);
    });
    opened.push(hub);
    return { url: `http://127.0.0.1:${await listen(server)}${pathname}` };
  }
  async function proxyOf(settings: Parameters<typeof startProxy>[0] = {}): Promise<FakeProxy> {
    const proxy = await startProxy(settings);
    opened.push(proxy);
    return proxy;
  }
  async function open(
    url: string,
    changes: Partial<Endpoint>,
    to = listener(),
  ): Promise<HubConnection> {
    const endpoint = endpointOf(url, { skipNegotiation: true, insecureTls: true, ...changes });
    const agents = new SocketAgents(endpoint, 1);
    const context = { endpoint, agents, listener: to, options };
    try {
      return await connectHub(0, context, new AbortController().signal);
    } finally {
      agents.destroy();
    }
  }
  const through = (proxy: FakeProxy, url = proxy.url): Pick<Endpoint, 'proxies'> => ({
    proxies: { http: url, https: url, except: [] },
  });

  for (const secure of [false, true]) {
    it(`carries a WebSocket both ways, ${secure ? 'with' : 'without'} TLS inside`, async () => {
      const [hub, proxy, to] = [await hubAt(secure), await proxyOf(), listener()];
      const connection = await open(named(hub.url), through(proxy), to);
      const peer = await hub.nextPeer();
      assert.match(peer.request, /\r\nHost: hub\.test:\d+\r\n/);
      peer.socket.write(hubFrame({ type: 6 }));
      assert.equal(await to.nextText(), '{"type":6}\x1e');
      const long = { type: 1, target: 'x', arguments: ['y'.repeat(300_000)] };
      peer.socket.write(hubFrame(long));
      assert.equal(await to.nextText(), `${JSON.stringify(long)}\x1e`);
      connection.destroy();
      await peer.closed;
      assert.deepEqual(proxy.asked, [new URL(named(hub.url)).host]);
    });

    it(`carries negotiate, ${secure ? 'with' : 'without'} TLS inside`, async () => {
      const proxy = await proxyOf();
      const answer: http.RequestListener = (_, response) => response.end('{"error":"reached"}');
      const server = secure
        ? https.createServer(tlsServerOptions(), answer)
        : http.createServer(answer);
      const port = await listen(server);
      const url = `${secure ? 'https' : 'http'}://hub.test:${port}/hub`;
      await assert.rejects(open(url, { ...through(proxy), skipNegotiation: false }), /reached/);
      assert.deepEqual(proxy.asked, [`hub.test:${port}`]);
    });
  }

  for (const transport of ['ServerSentEvents', 'LongPolling'] as const) {
    it(`carries ${transport} both ways`, async () => {
      const [hub, proxy, to] = [await hubElsewhere(), await proxyOf(), listener()];
      const changes = { ...through(proxy), transport, skipNegotiation: false };
      const connection = await open(named(hub.url), changes, to);
      connection.sendMessage({ type: 1, target: 'Echo', arguments: [{ n: 1 }] });
      let text = '';
      while (!text.includes('RecordLatency')) text += await to.nextText();
      connection.destroy();
      // Negotiate, what comes in, what goes out.
      assert.deepEqual(proxy.asked, Array(3).fill(new URL(named(hub.url)).host));
    });
  }

  it('times requests out as the way without one does, and leaves no listeners behind', async () => {
    const server = http.createServer((request, response) => {
      if (request.url !== '/silent') response.end('{}');
    });
    // It takes connections, and never answers.
    const closes: Promise<unknown>[] = [];
    const mute = net.createServer((socket) => {
      closes.push(once(socket.resume(), 'close'));
    });
    const url = `http://127.0.0.1:${await listen(server)}`;
    const muteUrl = `http://127.0.0.1:${await listen(mute)}`;
    const listeners: number[] = [];
    for (const [way, to] of [
      [{}, url],
      [through(await proxyOf()), named(url)],
      [through(await proxyOf(), muteUrl), named(url)],
    ] as const) {
      const agents = new SocketAgents(endpointOf(to, way), 1);
      const request = (path: string): http.ClientRequest =>
        agents.request(new URL(to), { path, timeout: 10_000 }).end();
      if (way.proxies?.http !== muteUrl) {
        for (let count = 0; count < 15; count++) {
          const asking = request('/');
          const [response] = (await once(asking, 'response')) as [http.IncomingMessage];
          await once(response.resume(), 'end');
          if (count === 14) listeners.push(asking.socket!.listenerCount('timeout'));
        }
      }
      const bounds = { timeoutMs: 50, maximumBytes: 100 };
      const asking = agents.exchange(new URL(to), { path: '/silent', headers: {}, ...bounds });
      await assert.rejects(asking, { errorClass: 'timeout' });
      agents.destroy();
    }
    // Who gives up leaves the proxy, too.
    await Promise.all(closes);
    assert.equal(closes.length, 1);
    assert.equal(listeners[0], listeners[1]);
  });

  it('gives user and password to the proxy, and to nobody else', async () => {
    const [hub, proxy] = [await hubAt(false), await proxyOf({ password: 'p@ss: word' })];
    (await open(named(hub.url), through(proxy))).destroy();
    assert.doesNotMatch((await hub.nextPeer()).request, /proxy-authorization/i);
    const wrong = proxy.url.replace(/me:[^@]*/, 'me:S3cret');
    await assert.rejects(open(named(hub.url), through(proxy, wrong)), (error: Error) => {
      assert.match(error.message, /^the proxy 127\.0\.0\.1:\d+ answered 407 No to CONNECT hub/);
      assert.doesNotMatch(error.message, /S3cret/);
      return true;
    });
  });

  it('is refused with a class and the proxy named', async () => {
    const hub = await hubAt(true);
    for (const [status, errorClass] of [
      [403, 'unauthorized'],
      [502, 'unreachable'],
    ] as const) {
      const proxy = await proxyOf({ status });
      for (const skipNegotiation of [true, false]) {
        await assert.rejects(open(named(hub.url), { ...through(proxy), skipNegotiation }), {
          errorClass,
          message: new RegExp(`^(negotiate: )?the proxy 127\\.0\\.0\\.1:\\d+ answered ${status}`),
        });
      }
      for (const transport of ['ServerSentEvents', 'LongPolling'] as const)
        await assert.rejects(open(named(hub.url), { ...through(proxy), transport }), {
          errorClass,
          message: new RegExp(`^the proxy 127\\.0\\.0\\.1:\\d+ answered ${status}`),
        });
    }
    const gone = await startProxy();
    await gone.dispose();
    await assert.rejects(open(named(hub.url), through(gone)), {
      errorClass: 'refused',
      message: /^the proxy 127\.0\.0\.1:\d+: /,
    });
  });

  it('never leads to this machine, nor to exceptions', async () => {
    const [hub, proxy] = [await hubAt(false), await proxyOf()];
    (await open(hub.url, through(proxy))).destroy();
    assert.deepEqual(proxy.asked, []);
    const way = (url: string, ...except: string[]): boolean =>
      proxyFor(new URL(url), { http: 'http://p', https: 'http://p', except }) !== undefined;
    for (const url of [
      'http://localhost/',
      'http://a.localhost',
      'http://[::1]/',
      'http://127.9.9.9',
    ])
      assert.equal(way(url), false, url);
    for (const except of ['*', 'hub.test', '.test', '*.test', 'hub.test:443', 'test'])
      assert.equal(way('https://hub.test/', except), false, except);
    for (const except of ['ub.test', 'hub.test:80', 'x.hub.test', '', ':443'])
      assert.equal(way('https://hub.test/', except), true, except);
    assert.equal(way('http://[fd00::1]/', '[fd00::1]'), false);
    assert.equal(way('http://[fd00::1]:81/', 'fd00::1'), false);
    assert.equal(way('http://[fd00::1]:81/', '[fd00::1]:81'), false);
    assert.equal(way('http://[fd00::1]:81/', '[fd00::1]:82'), true);
    assert.equal(way('http://[fd00::]/', 'fd00:::80'), true);
    assert.equal(
      proxyFor(new URL('http://hub.test'), { https: 'http://p', except: [] }),
      undefined,
    );
  });
});

describe('a client certificate', () => {
  const listen = testServers();
  const clientCertificate = { cert: certificate, key: certificateKey };

  async function open(url: string, changes: Partial<Endpoint>): Promise<HubConnection> {
    const endpoint = endpointOf(url, { ca: certificate, skipNegotiation: true, ...changes });
    const agents = new SocketAgents(endpoint, 1);
    const context = { endpoint, agents, listener: new RecordingListener(), options };
    try {
      return await connectHub(0, context, new AbortController().signal);
    } finally {
      agents.destroy();
    }
  }

  it('is shown to a server that wants one, by WebSocket, negotiate and REST calls', async () => {
    const hub = await startRawHub({ secure: true, clientCertificate: true });
    const server = https.createServer(tlsServerOptions(true), (_, response) =>
      response.end('{"error":"reached"}'),
    );
    const url = `https://127.0.0.1:${await listen(server)}/hub`;
    try {
      (await open(hub.url, { clientCertificate })).destroy();
      await assert.rejects(open(hub.url, {}));
      await assert.rejects(open(url, { clientCertificate, skipNegotiation: false }), /reached/);
      for (const transport of ['ServerSentEvents', 'LongPolling'] as const) {
        const showing = { clientCertificate, transport };
        // The server answers, which is what it does only after the certificate.
        const answered = /answered with something else|the handshake answer is cut off/;
        await assert.rejects(open(url, showing), answered);
        await assert.rejects(open(url, { transport }), (error: Error) => {
          assert.doesNotMatch(error.message, answered);
          return true;
        });
      }
      const access = { kind: 'signalr', hub: 'h', audience: url, restUrl: url } as const;
      const health = (changes: Partial<Endpoint>): ReturnType<RestCalls['health']> => {
        const endpoint = endpointOf('', { ca: certificate, ...changes });
        const calls = new RestCalls(endpoint, { ...access, accessKey: 'k' });
        return calls.health().finally(() => calls.close());
      };
      assert.equal(await health({ clientCertificate }), undefined);
      assert.notEqual(await health({}), undefined);
      await assert.rejects(open(url, { skipNegotiation: false }), (error: Error) => {
        assert.doesNotMatch(error.message, /reached/);
        return true;
      });
    } finally {
      await hub.dispose();
    }
  });
});
