import assert from 'node:assert/strict';
import { checkSignInHosts } from '../../../../src/targets/entra/signInHosts';

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
    checkSignInHosts(urls, undefined);
    checkSignInHosts(['https://gateway.contoso.test'], 'other.test, Gateway.contoso.test');
  });

  it('are no others, and none without TLS', () => {
    for (const [url, says] of [
      ['https://evil.test', /evil\.test is no host of .*SIGNALR_BENCH_SIGN_IN_HOSTS/],
      ['https://a.service.signalr.net.evil.test', /no host of/],
      ['https://service.signalr.net', /no host of/],
      ['https://evilwebpubsub.azure.com', /no host of/],
      ['http://a.service.signalr.net', /needs an Endpoint with https/],
    ] as const)
      assert.throws(() => checkSignInHosts([url], 'other.test'), {
        code: 'connection-string',
        message: says,
      });
  });
});
