import assert from 'node:assert/strict';
import { isLoopbackHost } from '../../../../src/base/loopbackHost';
import { isAllowedHost, isLoopback, redirectsOf } from '../../../../src/wire/socket/isLoopback';

describe('isLoopback', () => {
  const table: Readonly<Record<string, boolean>> = {
    'http://localhost/': true,
    'http://LOCALHOST:5050/h': true,
    'http://hub.localhost/': true,
    'http://127.0.0.1/': true,
    'http://127.255.0.9/': true,
    'http://0x7f.1/': true,
    'http://[::1]/': true,
    'http://0.0.0.0:5050/h': true,
    'http://0/': true,
    'http://[::]/': true,
    'http://[::ffff:0.0.0.0]/': true,
    'http://0.0.0.1/': false,
    'http://[::ffff:127.0.0.1]/': true,
    'http://[::ffff:127.1.2.3]:80/': true,
    'http://[::ffff:0.127.0.1]/': false,
    'http://[::ffff:10.0.0.1]/': false,
    'http://128.0.0.1/': false,
    'http://127.0.0.1.example.test/': false,
    'http://localhost.example.test/': false,
    'http://notlocalhost/': false,
    'http://[::2]/': false,
    'https://example.test/localhost': false,
  };
  for (const [url, expected] of Object.entries(table)) {
    it(`says ${expected ? 'yes' : 'no'} to ${url}`, () => assert.equal(isLoopback(url), expected));
  }

  it('lets hubs that were agreed to send clients to services of Azure, and those on this machine nowhere', () => {
    assert.deepEqual(redirectsOf([]), []);
    const hosts = redirectsOf(['hub.example']);
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
