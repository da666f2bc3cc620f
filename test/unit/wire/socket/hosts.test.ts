import assert from 'node:assert/strict';
import { isLoopbackHost } from '../../../../src/base/endpoint';
import {
  isAllowedHost,
  isLoopback,
  allowedRedirects,
  unusableAddresses,
  loopbackSourceAddresses,
} from '../../../../src/wire/socket/hosts';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { openSocket } from '../../../../src/wire/socket/socket';
import { needsLinux } from '../../../fakes/skipAloud';

describe('isLoopback', () => {
  it('knows this machine under every name, and nobody else for it', () => {
    const here = `http://localhost/ http://LOCALHOST:5050/h http://hub.localhost/ http://127.0.0.1/
      http://127.255.0.9/ http://0x7f.1/ http://[::1]/ http://0.0.0.0:5050/h http://0/ http://[::]/
      http://[::ffff:0.0.0.0]/ http://[::ffff:127.0.0.1]/ http://[::ffff:127.1.2.3]:80/`;
    const elsewhere = `http://0.0.0.1/ http://[::ffff:0.127.0.1]/ http://[::ffff:10.0.0.1]/
      http://128.0.0.1/ http://127.0.0.1.example.test/ http://localhost.example.test/
      http://notlocalhost/ http://[::2]/ https://example.test/localhost`;
    for (const url of here.split(/\s+/)) assert.ok(isLoopback(url), url);
    for (const url of elsewhere.split(/\s+/)) assert.ok(!isLoopback(url), url);
  });

  it('lets hubs that were agreed to send clients to services of Azure, and those on this machine nowhere', () => {
    assert.deepEqual(allowedRedirects([]), []);
    const hosts = allowedRedirects(['hub.example']);
    for (const [url, isAllowed] of [
      ['https://hub.example/client', true],
      ['https://a.service.signalr.net/client/?hub=h', true],
      ['https://A.SERVICE.signalr.net:444/', true],
      ['http://localhost:1/', true],
      ['https://service.signalr.net/', false],
      ['https://aservice.signalr.net/', false],
      ['https://a.service.signalr.net.example/', false],
      ['https://other.example/', false],
    ] as const)
      assert.equal(isAllowedHost(url, hosts), isAllowed, url);
  });

  it('is the same for hosts that nobody has put into their usual form', () => {
    for (const host of ['[::FFFF:127.0.0.1]', '::1', 'Hub.LocalHost', '127.0.0.1'])
      assert.ok(isLoopbackHost(host), host);
    // A client reaches this machine there; a request to a server here does not come by such a name.
    for (const host of [
      '0.0.0.0',
      '[::]',
      '127.0.0.256',
      '127.1',
      '127.0.0.1.2',
      'xlocalhost',
      '',
    ]) {
      assert.ok(!isLoopbackHost(host), host);
    }
  });
});

describe('source addresses', () => {
  it('are one on loopback until its ports get rare, then as many as it takes', () => {
    const url = 'http://127.0.0.1:5050/hub';
    const of = (sockets: number, ...urls: string[]): string[] | undefined =>
      loopbackSourceAddresses(urls, sockets, 'linux');
    assert.equal(of(16_000, url), undefined);
    assert.deepEqual(
      of(16_001, url),
      [2, 3, 4, 5, 6, 7].map((last) => `127.0.0.${last}`),
    );
    assert.equal(of(100_000, url)?.length, 34);
    const many = of(2_000_000, 'ws://127.0.0.9/', url)!;
    assert.equal(new Set(many).size, 667);
    for (const address of many) assert.match(address, /^127\.0\.[012]\.([1-9]|[1-9]\d|[12]\d\d)$/);
    for (const elsewhere of [
      'http://localhost:5050/',
      'https://127.example.org/',
      'http://10.0.0.1/',
    ])
      assert.equal(of(100_000, url, elsewhere), undefined, elsewhere);
    assert.equal(of(100_000), undefined);
    assert.equal(loopbackSourceAddresses([url], 100_000, 'darwin'), undefined);
  });

  it('are told apart from those of other machines', async () => {
    const [foreign, ...others] = await unusableAddresses(['127.0.0.1', '192.0.2.1']);
    assert.match(foreign ?? '', /^192\.0\.2\.1 \(E\w+\)$/);
    assert.deepEqual(others, []);
  });

  it('are taken in turn, in their family', async function () {
    needsLinux(this, 'more than one address of loopback');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const way = { insecureTls: false, localAddresses: ['127.0.0.2', '127.0.0.3'] };
    const from: (string | undefined)[] = [];
    const open: Socket[] = [];
    for (const host of ['127.0.0.1', 'localhost', '127.0.0.1', 'localhost']) {
      const accepted = once(server, 'connection') as Promise<[Socket]>;
      openSocket(new URL(`http://${host}:${port}/`), way, (_, ours) => open.push(ours!));
      const [theirs] = await accepted;
      from.push(theirs.remoteAddress);
      open.push(theirs);
    }
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
    // Another socket may have come before.
    const [first, second] = from;
    assert.deepEqual(new Set(from), new Set(way.localAddresses));
    assert.deepEqual(from, [first, second, first, second]);
  });
});
