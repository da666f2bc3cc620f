import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:http';
import { decodeJwt } from 'jose';
import { openTarget, serviceConnection } from '../../../../src/targets/openTarget';
import { targetContext } from '../../../fakes/targetContext';
import { scenarioWith } from '../../capacity/scenarios';
import {
  type AppServerSettings,
  probeService,
  checkSignInHosts,
} from '../../../../src/targets/service/openService';
import { certificate, certificateKey } from '../../../fakes/rawHub';
import { listenOnLoopback } from '../../../../src/servers/http/loopbackServer';

const connectionString = 'Endpoint=https://service.test;AccessKey=made-up-for-tests;Version=1.0;';

/** What a run against a service elsewhere, known by a reference only, is refused with. */
async function refusal(
  service: 'signalr' | 'webpubsub',
  upstream: { readonly port: number; readonly publicUrl?: string },
): Promise<string> {
  const target = { kind: 'connectionString', value: '${env:SERVICE}' } as const;
  const context = targetContext({ SERVICE: connectionString });
  return openTarget(scenarioWith({ service, target, upstream }), context).then(
    () => 'opened',
    (error: unknown) => (error as Error).message,
  );
}

describe('an upstream handler', () => {
  for (const service of ['signalr', 'webpubsub'] as const)
    it(`needs a port and a public URL where the service is elsewhere: ${service}`, async () => {
      const publicUrl = 'https://tunnel.test/';
      const both = await refusal(service, { port: 0 });
      assert.match(both, /by itself: write upstream\.port, .*, and upstream\.publicUrl, /);
      assert.match(await refusal(service, { port: 0, publicUrl }), /write upstream\.port, [^:]*$/);
      assert.match(await refusal(service, { port: 7071 }), /write upstream\.publicUrl, /);
      assert.match(
        await refusal(service, { port: 7071, publicUrl }),
        /^The upstream handler did not start/,
      );
    });
});

/** Serves nothing; its URL says what it was started with. */
const script = `process.stdin.on('end', () => process.exit(0)).once('data', (settings) => {
  console.log(JSON.stringify({ url: 'http://127.0.0.1:7/' + encodeURIComponent(settings) }));
});`;

describe('default mode', () => {
  it('sends its app servers the way of the clients: proxy and certificates', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'signalr-bench-'));
    try {
      const serverScript = join(folder, 'server.cjs');
      await writeFile(serverScript, script);
      const files: Readonly<Record<string, string>> = {
        ca: certificate,
        cert: certificate,
        key: certificateKey,
      };
      const scenario = scenarioWith({
        service: 'signalr',
        target: {
          kind: 'connectionString',
          value: 'Endpoint=https://service.test;AccessKey=made-up-for-tests;Version=1.0;',
        },
        caFile: 'ca',
        certFile: 'cert',
        keyFile: 'key',
      });
      const readFile = (name: string): Promise<string> => Promise.resolve(files[name]!);
      const proxy = { HTTPS_PROXY: 'http://proxy.test:3128' };
      const target = await openTarget(scenario, targetContext(proxy, { serverScript, readFile }));
      await target.dispose();
      const [, said = ''] = target.endpoint.urls[0]!.split('127.0.0.1:7/');
      const { proxies, ca, clientCertificate, insecureTls } = JSON.parse(
        decodeURIComponent(said),
      ) as AppServerSettings;
      assert.deepEqual(
        { proxies, ca, clientCertificate, insecureTls },
        {
          proxies: { https: 'http://proxy.test:3128/', except: [] },
          ca: certificate,
          clientCertificate: { cert: certificate, key: certificateKey },
          insecureTls: false,
        },
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

const gatewayContext = targetContext();
const parts = 'Endpoint=http://localhost:1;AccessKey=made-up-for-tests;Version=1.0;';

describe('a gateway below a path', () => {
  for (const [service, path] of [
    ['signalr', '/client/?hub=chat'],
    ['webpubsub', '/client/hubs/chat'],
  ] as const)
    it(`is where clients go: ${service}`, async () => {
      const value = `${parts}ClientEndpoint=http://localhost:2/in/;ServerEndpoint=http://localhost:3/out`;
      const target = { kind: 'connectionString', value } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      const scenario = scenarioWith({ service, target, entries, hub: 'chat' });
      const { endpoint, url } = await openTarget(scenario, gatewayContext);
      assert.deepEqual(endpoint.urls, [`http://localhost:2/in${path}`]);
      assert.equal(url, 'http://localhost:2/in (hub chat)');
      assert.equal(endpoint.service?.restUrl, 'http://localhost:3/out');
    });

  it('is where REST calls go, with tokens for the service behind it', async () => {
    const calls: unknown[] = [];
    const server = createServer(({ url = '', headers }, response) => {
      const token = headers.authorization?.replace('Bearer ', '') ?? '';
      calls.push([url.split('?')[0], decodeJwt(token).aud]);
      response.writeHead(200).end();
    });
    const port = await listenOnLoopback(server, 0);
    const gateway = serviceConnection(`${parts}ServerEndpoint=http://127.0.0.1:${port}/out/`);
    const { reachable } = await probeService(gateway, gatewayContext);
    server.close();
    assert.ok(reachable);
    const group = '/api/hubs/signalrbench/groups/signalr-bench-doctor';
    assert.deepEqual(calls, [
      ['/out/api/health', 'http://localhost/api/health'],
      [`/out${group}`, `http://localhost${group}`],
    ]);
  });
});

const trust = { insecureTls: false };

describe('the hosts that see a sign-in', () => {
  it('are those of both services in all clouds, this machine, and those the environment names', () => {
    const urls = [
      'https://a.service.signalr.net',
      'https://A.Signalr.Azure.US',
      'https://a.signalr.azure.cn:443',
      'https://a.webpubsub.azure.com',
      'https://a.webpubsub.azure.us',
      'https://a.webpubsub.azure.cn',
      'http://127.0.0.1:8888',
      'http://localhost:8888',
    ];
    checkSignInHosts(urls, trust, undefined);
    checkSignInHosts(['https://gateway.contoso.test'], trust, 'other.test, Gateway.contoso.test');
  });

  it('are no others, and none without TLS', () => {
    for (const [url, says] of [
      ['https://evil.test', /evil\.test is not a host of .*SIGNALR_BENCH_SIGN_IN_HOSTS/],
      ['https://a.service.signalr.net.evil.test', /not a host of/],
      ['https://service.signalr.net', /not a host of/],
      ['https://evilwebpubsub.azure.com', /not a host of/],
      ['http://a.service.signalr.net', /needs an Endpoint with https/],
    ] as const)
      assert.throws(() => checkSignInHosts([url], trust, 'other.test'), {
        code: 'connection-string',
        message: says,
      });
  });

  it('have to be who they say, by what the machine trusts and not the scenario', () => {
    for (const [untrusting, says] of [
      [{ insecureTls: true }, /does not go with insecureTls/],
      [{ insecureTls: false, caFile: 'ca.pem' }, /does not go with caFile.*NODE_EXTRA_CA_CERTS/],
    ] as const) {
      const check = (url: string): void => checkSignInHosts([url], untrusting, undefined);
      assert.throws(() => check('https://a.service.signalr.net'), {
        code: 'connection-string',
        message: says,
      });
      check('http://127.0.0.1:8888');
    }
  });
});
