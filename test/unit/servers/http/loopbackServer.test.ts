import { once } from 'node:events';
import { RecordingProxy } from '../../../../src/record/proxy/recordingProxy';
import { startAppServer } from '../../../../src/servers/appServer/appServer';
import { startAzureSignalr } from '../../../../src/servers/azureSignalr/serviceEmulator';
import { startClassicHub } from '../../../../src/servers/classic/classicHub';
import { startBenchHub } from '../../../../src/servers/hub/benchHub';
import {
  defectWarning,
  guardAsync,
  listenOnLoopback,
  loopbackServer,
  stopServer,
} from '../../../../src/servers/http/loopbackServer';
import { foreignRequestRefusal } from '../../../../src/servers/http/ownRequests';
import { upstreamHandler } from '../../../../src/servers/upstream/upstreamHandler';
import { startWebPubSubEmulator } from '../../../../src/servers/webpubsub/webPubSubEmulator';
import { serveMetrics } from '../../../../src/run/export/liveOutputs';
import { endpointOf } from '../../../fakes/endpoint';
import assert from 'node:assert/strict';
import * as http from 'node:http';

interface Served {
  readonly port: number;
  readonly path: string;
  readonly dispose: () => Promise<void>;
}

const portOf = (text: string): number =>
  Number(/Port=(\d+)/.exec(text)?.[1] ?? /:(\d+)/.exec(text)?.[1]);

const service = {
  kind: 'signalr',
  hub: 'h',
  audience: 'http://127.0.0.1',
  restUrl: 'http://127.0.0.1:1',
  accessKey: 'key',
} as const;

/** Every server that we embed. */
const servers: Readonly<Record<string, () => Promise<Served>>> = {
  hub: async () => {
    const hub = await startBenchHub();
    return { port: portOf(hub.url), path: '/signalrbench/negotiate', dispose: () => hub.dispose() };
  },
  'azure-signalr': async () => {
    const emulator = await startAzureSignalr();
    const { connectionString } = emulator;
    const dispose = (): Promise<void> => emulator.dispose();
    return { port: portOf(connectionString), path: '/client/negotiate?hub=h', dispose };
  },
  'web-pubsub': async () => {
    const emulator = await startWebPubSubEmulator();
    const dispose = (): Promise<void> => emulator.dispose();
    return { port: portOf(emulator.connectionString), path: '/client/hubs/h', dispose };
  },
  'app server': async () => {
    const emulator = await startAzureSignalr();
    const { connectionString } = emulator;
    const url = `http://127.0.0.1:${portOf(connectionString)}`;
    const accessKey = /AccessKey=([^;]+)/.exec(connectionString)![1]!;
    const app = await startAppServer({
      hub: 'h',
      service: {
        audience: 'http://127.0.0.1',
        clientEndpoint: url,
        serverEndpoint: url,
        accessKey,
      },
    });
    const dispose = (): Promise<void> => app.dispose().then(() => emulator.dispose());
    return { port: portOf(app.url), path: '/signalrbench/negotiate', dispose };
  },
  'classic hub': async () => {
    const hub = await startClassicHub();
    return { port: portOf(hub.url), path: '/signalr/negotiate', dispose: () => hub.dispose() };
  },
  'metrics port': async () => {
    const { url, close } = await serveMetrics(0, () => []);
    const dispose = (): Promise<void> => {
      close();
      return Promise.resolve();
    };
    return { port: portOf(url), path: '/metrics', dispose };
  },
  recorder: async () => {
    const hub = await startBenchHub();
    const proxy = await RecordingProxy.start({
      target: new URL(hub.url),
      way: { insecureTls: false },
      port: 0,
      onEvent: () => undefined,
      onProblem: () => undefined,
    });
    const dispose = (): Promise<void> => proxy.dispose().then(() => hub.dispose());
    return { port: portOf(proxy.url), path: '/signalrbench/negotiate', dispose };
  },
  'upstream handler': async () => {
    const endpoint = endpointOf('http://127.0.0.1:1/');
    const settings = { endpoint, service, publicHost: 'a.b' };
    const handler = await upstreamHandler(settings, 0, () => undefined);
    return { port: portOf(handler.url), path: '/', dispose: () => handler.dispose() };
  },
};

/** Status of the answer to a request; an upgrade that is accepted is 101. */
async function statusOf(
  { port, path }: Served,
  method: string,
  headers: Readonly<Record<string, string>>,
): Promise<number> {
  const request = http.request({ host: '127.0.0.1', port, path, method, headers });
  const answered = new Promise<number>((resolve, reject) => {
    request.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on('error', reject);
  });
  request.end();
  return answered;
}

const upgrading = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  'Sec-WebSocket-Version': '13',
};

describe('servers on loopback', () => {
  const listed = (text: string): string[] => text.trim().split(/ +/);
  const ownHosts = listed(
    `
    localhost LOCALHOST:1 localhost. localhost.:80 a.localhost 127.0.0.1:5050 127.0.0.1
    127.8.9.10:1 [::1] [::1]:8080 [::ffff:127.0.0.1]:1 127.0.0.1.`.replaceAll('\n', ' '),
  );
  const otherHosts = listed(
    `
    evil.example evil.example:5050 localhost.evil.example 127.0.0.1.evil.example evil@localhost
    localhost/x localhost# 0.0.0.0 128.0.0.1 [::] :5050 192.168.0.1 [fe80::1] localhost..
    notlocalhost [`.replaceAll('\n', ' '),
  );
  const ownOrigins = listed(
    'http://localhost http://127.0.0.1:3000 https://[::1]:1 http://localhost.:1',
  );
  const otherOrigins = listed(
    `
    null http://evil.example https://localhost.evil.example:1 file:// localhost
    http://evil.example#localhost app://localhost http://localhost@evil.example
    http://evil.example\\@localhost http://localhost/`.replaceAll('\n', ' '),
  );
  const statusFor = (headers: { host?: string; origin?: string }): number | undefined =>
    foreignRequestRefusal({ headers })?.status;

  it('are meant by hosts of this machine alone', () => {
    for (const host of ownHosts) assert.equal(statusFor({ host }), undefined, host);
    for (const host of [...otherHosts, '', 'localhost evil.example', undefined])
      assert.equal(statusFor({ host }), 403, host);
  });

  it('let pages of this machine in, and no others', () => {
    const host = '127.0.0.1:1';
    for (const origin of ownOrigins) assert.equal(statusFor({ host, origin }), undefined, origin);
    for (const origin of [...otherOrigins, '', 'http://localhost, http://evil.example'])
      assert.equal(statusFor({ host, origin }), 403, origin);
  });

  for (const [name, start] of Object.entries(servers)) {
    it(`answer 403 to other hosts and origins, whatever is asked: ${name}`, async () => {
      const served = await start();
      try {
        const own = `localhost:${served.port}`;
        const asked: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
          ...(['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const).map(
            (method) => [method, {}] as const,
          ),
          ['OPTIONS', { 'Access-Control-Request-Method': 'POST' }],
          ['GET', upgrading],
        ];
        for (const [method, headers] of asked) {
          const status = (more: Readonly<Record<string, string>>): Promise<number> =>
            statusOf(served, method, { ...headers, ...more });
          assert.equal(await status({ Host: 'evil.example' }), 403, method);
          assert.equal(await status({ Host: own, Origin: 'http://evil.example' }), 403, method);
          assert.equal(await status({ Host: own, Origin: 'null' }), 403, method);
          assert.notEqual(await status({ Host: own }), 403, method);
          assert.notEqual(
            await status({ Host: own, Origin: 'http://localhost:3000' }),
            403,
            method,
          );
        }
      } finally {
        await served.dispose();
      }
    });
  }

  it('take what comes through the tunnel of an upstream handler', async () => {
    const served = await servers['upstream handler']!();
    assert.equal(await statusOf(served, 'OPTIONS', { Host: 'a.b' }), 200);
    assert.equal(await statusOf(served, 'OPTIONS', { Host: 'a.b', Origin: 'http://a.b' }), 403);
    assert.equal(await statusOf(served, 'OPTIONS', { Host: 'a.c' }), 403);
    await served.dispose();
  });

  it('close what was refused', async () => {
    const served = await servers['hub']!();
    const { port } = served;
    const agent = new http.Agent({ keepAlive: true });
    const request = http.request({
      host: '127.0.0.1',
      port,
      agent,
      headers: { Host: 'evil.example' },
    });
    request.end();
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    assert.equal(response.headers.connection, 'close');
    response.resume();
    agent.destroy();
    await served.dispose();
  });
});

describe('the handling of a request that takes its time', () => {
  it('ends the request with an error of its own, and never the server', async () => {
    const handled = async (request: http.IncomingMessage, response: http.ServerResponse) => {
      await Promise.resolve();
      if (request.url === '/bad') throw new Error('a defect');
      response.end('good');
    };
    const server = loopbackServer({
      answer: (request, response) => guardAsync(response, handled(request, response)),
    });
    const port = await listenOnLoopback(server, 0);
    const ask = (path: string): http.ClientRequest =>
      http.get({ host: '127.0.0.1', port, path, agent: false });
    try {
      const warned = once(process, 'warning');
      const [error] = (await once(ask('/bad'), 'error')) as [NodeJS.ErrnoException];
      assert.equal(error.code, 'ECONNRESET');
      const [{ name, message }] = (await warned) as [Error];
      assert.equal(name, defectWarning);
      assert.match(message, /^Error: a defect/);
      const [response] = (await once(ask('/'), 'response')) as [http.IncomingMessage];
      assert.equal(response.statusCode, 200);
      response.resume();
    } finally {
      await stopServer(server);
    }
  });
});
