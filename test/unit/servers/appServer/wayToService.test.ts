import assert from 'node:assert/strict';
import { once } from 'node:events';
import * as net from 'node:net';
import { startAppServer, type AppServerOptions } from '../../../../src/servers/appServer/appServer';
import { startProxy } from '../../../fakes/proxy';
import { certificate, certificateKey, startRawHub } from '../../../fakes/rawHub';
import { startStubService } from '../../../fakes/stubService';
import { serviceAt } from './appServerParts';
import { VirtualTime } from '../../../fakes/virtualTime';

/** The same address under a name that only the proxy knows. */
const named = (origin: string): string => origin.replace('127.0.0.1', 'service.test');

const optionsFor = (origin: string): AppServerOptions => ({
  service: serviceAt(origin),
  hub: 'Bench',
  serverConnections: 1,
});

describe('the way of an app server to the service', () => {
  const opened: { dispose: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).reverse()) await each.dispose();
  });
  async function kept<T extends { dispose: () => Promise<void> }>(opening: Promise<T>): Promise<T> {
    const each = await opening;
    opened.push(each);
    return each;
  }

  it('leads through the proxy', async () => {
    const [service, proxy] = [await kept(startStubService()), await kept(startProxy())];
    const origin = named(service.origin);
    const options = { ...optionsFor(origin), proxies: { http: proxy.url, except: [] } };
    await kept(startAppServer(options));
    assert.deepEqual(proxy.asked, [new URL(origin).host]);
    assert.deepEqual(
      service.connections.map(({ messages }) => messages[0]?.type),
      [1],
    );
  });

  it('leads through the proxy with TLS inside, and shows the certificate of the client', async () => {
    const head = (): string => 'HTTP/1.1 503 Busy\r\nContent-Length: 0';
    const hub = await kept(startRawHub({ secure: true, clientCertificate: true, head }));
    const proxy = await kept(startProxy());
    const origin = named(new URL(hub.url).origin);
    const options = {
      ...optionsFor(origin),
      insecureTls: true,
      proxies: { https: proxy.url, except: [] },
    };
    const clientCertificate = { cert: certificate, key: certificateKey };
    await assert.rejects(startAppServer({ ...options, clientCertificate }), /HTTP status 503/);
    assert.match((await hub.nextPeer()).request, /^GET \/server\/\?hub=bench&cid=/);
    await assert.rejects(startAppServer(options), (error: Error) => {
      assert.doesNotMatch(error.message, /HTTP status/);
      return true;
    });
    assert.deepEqual(proxy.asked, Array(2).fill(new URL(origin).host));
  });

  it('is refused by the proxy, which is named with what to do', async () => {
    const proxy = await kept(startProxy({ status: 502 }));
    const options = {
      ...optionsFor('http://service.test:81'),
      proxies: { http: proxy.url, except: [] },
    };
    await assert.rejects(
      startAppServer(options),
      /the proxy 127\.0\.0\.1:\d+ answered 502 No to CONNECT service\.test:81\. Check the proxy that HTTPS_PROXY/,
    );
  });

  it('ends at a host that takes everything and says nothing, which is named with what to do', async () => {
    const silent = async (start: Promise<unknown>, error: object): Promise<void> => {
      const time = new VirtualTime().install();
      const rejected = assert.rejects(start, error);
      try {
        await time.waitedFor(8000);
        await time.until(rejected, 60_000);
      } finally {
        time.restore();
      }
    };
    const sockets: net.Socket[] = [];
    const server = net.createServer((socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
    try {
      await silent(startAppServer(optionsFor(`http://${host}`)), {
        code: 'service-unreachable',
        message: `No server connection to Azure SignalR Service could be opened: ${host} did not answer within 8 s. A firewall or a proxy on the way may be dropping what goes there: let WebSockets to this host through, or name the proxy in HTTPS_PROXY, and check the endpoint.`,
      });
    } finally {
      for (const socket of sockets) socket.destroy();
      server.close();
    }
    const service = await kept(startStubService());
    service.handshakes.push(undefined);
    await silent(
      startAppServer(optionsFor(service.origin)),
      /did not answer within 8 s\. A firewall/,
    );
  });
});
