import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { foreignAddresses, loopbackSources } from '../../../../src/wire/socket/localAddresses';
import { openSocket } from '../../../../src/wire/socket/socket';
import { needsLinux } from '../../../fakes/skipAloud';

describe('source addresses', () => {
  it('are one on loopback until its ports get rare, then as many as it takes', () => {
    const url = 'http://127.0.0.1:5050/hub';
    const of = (sockets: number, ...urls: string[]): string[] | undefined =>
      loopbackSources(urls, sockets, 'linux');
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
    assert.equal(loopbackSources([url], 100_000, 'darwin'), undefined);
  });

  it('are told apart from those of other machines', async () => {
    const [foreign, ...others] = await foreignAddresses(['127.0.0.1', '192.0.2.1']);
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
