import assert from 'node:assert/strict';
import { ExpectedError } from '../../../src/base/expectedError';
import { serviceConnection, openTarget } from '../../../src/targets/openTarget';
import { targetContext } from '../../fakes/targetContext';
import { scenarioWith } from '../capacity/scenarios';

describe('serviceConnection', () => {
  it('refuses a host that is none, in words that do not repeat it', () => {
    for (const [name, url] of [
      ['Endpoint', 'http://127.0.0.300:8888'],
      ['Endpoint', 'https://1.2.3.999'],
      ['ClientEndpoint', 'https://xn--a'],
      ['ServerEndpoint', 'http://256.256.256.256/in'],
    ]) {
      const whole = name === 'Endpoint' ? '' : 'Endpoint=https://a.b;';
      assert.throws(
        () => serviceConnection(`${whole}${name}=${url};AccessKey=made-up-for-tests`),
        (error) =>
          error instanceof ExpectedError &&
          error.code === 'connection-string' &&
          error.message === `The ${name} of this connection string has no valid host.`,
      );
    }
  });
});

describe('a hub on a service', () => {
  const value = 'Endpoint=http://localhost:1;AccessKey=made-up-for-tests';
  const context = targetContext();

  for (const [service, path] of [
    ['signalr', '/client/?hub=chat_eu'],
    ['webpubsub', '/client/hubs/Chat_EU'],
  ] as const)
    it(`is called as the service writes it: ${service}`, async () => {
      const target = { kind: 'connectionString', value } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      const scenario = scenarioWith({ service, target, entries, hub: 'Chat_EU' });
      const { endpoint, emulated } = await openTarget(scenario, context);
      assert.equal(emulated, true, 'no service is on this machine');
      assert.deepEqual(endpoint.urls, [`http://localhost:1${path}`]);
      assert.equal(endpoint.service?.hub, service === 'signalr' ? 'chat_eu' : 'Chat_EU');
    });

  it('is no emulator when a tunnel on this machine leads to a service', async () => {
    const opened = async (text: string): Promise<unknown> => {
      const target = {
        kind: 'connectionString',
        value: `${text};AccessKey=made-up-for-tests`,
      } as const;
      const entries = [{ name: 'restBroadcast', parameters: {} } as never];
      return (await openTarget(scenarioWith({ service: 'signalr', target, entries }), context))
        .emulated;
    };
    const real = 'Endpoint=https://mine.service.signalr.net';
    assert.equal(await opened(`${real};ClientEndpoint=http://localhost:1`), undefined);
    assert.equal(await opened(real), undefined);
    assert.equal(await opened('Endpoint=http://127.0.0.1:8888'), true);
  });
});
