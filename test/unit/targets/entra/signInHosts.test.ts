import assert from 'node:assert/strict';
import { checkSignInHosts } from '../../../../src/targets/service/openService';

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
