import assert from 'node:assert/strict';
import { isLoopbackHost } from '../../../../src/base/endpoint';
import { isAllowedHost, isLoopback, redirectsOf } from '../../../../src/wire/socket/isLoopback';

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
