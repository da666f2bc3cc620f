import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../src/servers/azureSignalr/serviceEmulator';
import type { QuotaOptions } from '../../src/servers/service/emulatorOptions';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import { EmulatorPeer } from '../fakes/emulatorPeer';
import { closedPort } from '../fakes/loadPeers';
import { rotateKeys } from '../fakes/serviceFaults';
import { sideBySide } from '../fakes/sideBySide';
import {
  anyToken,
  assertLost,
  assertNobodyIn,
  assertRefused,
  big,
  key,
  longer,
  longerSent,
  oneSender,
  otherKey,
  runBad,
  services,
  textOf,
  withKey,
} from './badServiceRun';
import { CliFolder } from './cliFolder';

describe('services that refuse', function () {
  const test = sideBySide();

  for (const service of ['signalr', 'webpubsub'] as const) {
    /** With an emulator of its own, since faults are for all of its runs. */
    const against = (
      title: string,
      body: (emulator: AzureSignalr | WebPubSubEmulator) => Promise<void>,
      options: QuotaOptions = {},
    ): void =>
      test(`${service}: ${title}`, async () => {
        const emulator = await services[service]({ ...options, accessKeys: [key] });
        try {
          await body(emulator);
        } finally {
          await emulator.dispose();
        }
      });
    const useCase = 'restSendToUser';

    test(`${service}: a connection string that is none`, async () => {
      const noUrl = { service, connectionString: `Endpoint=:/;AccessKey=${key}` };
      assertRefused(await runBad(noUrl), 2, /^The Endpoint of this connection string is not a URL/);
      const noKey = { service, connectionString: `Endpoint=http://localhost;AccesKey=${key}` };
      assertRefused(await runBad(noKey), 2, /^This connection string has no AccessKey/);
      const hub = { ...noUrl, config: { hub: '1 a/b' } };
      assertRefused(await runBad(hub), 2, /has 1 error to correct first/);
    });

    against('another key', async ({ connectionString }) => {
      const wrong = withKey(connectionString, otherKey);
      const outcome = await runBad({ service, useCase, connectionString: wrong });
      assertNobodyIn(outcome, { unauthorized: 10 }, /401.* access key/);
    });

    // What the services have in common is tried with one of them.
    if (service === 'signalr') {
      against('messages that are too large', async ({ connectionString }) => {
        const config = oneSender;
        const outcome = await runBad({
          service,
          useCase,
          parameters: big,
          connectionString,
          config,
        });
        const { sent, lost } = assertLost(outcome, { request: /^REST: POST answered 413/ });
        assert.deepEqual([sent, lost, outcome.result?.errors.request], [4, 4, 4]);
      });
      continue;
    }
    test('webpubsub: nobody there', async () => {
      const { origin } = new URL(await closedPort());
      const connectionString = `Endpoint=${origin};AccessKey=${key}`;
      assertNobodyIn(
        await runBad({ service, useCase, connectionString }),
        { refused: 30 },
        /nothing listens on 127\.0\.0\.1:\d+\. Start the server/,
      );
    });

    against('a key that is rotated mid-run', async (emulator) => {
      const outcome = await runBad({
        ...{ service, useCase, connectionString: emulator.connectionString, config: longer },
        fault: () => rotateKeys(emulator, [otherKey]),
      });
      const step = assertLost(outcome, { unauthorized: /^REST: POST answered 401/ });
      assert.equal(step.expected, step.sent);
      // A machine too busy to send them all says so.
      if (outcome.done.code === 1) assert.equal(step.sent, longerSent);
    });

    against(
      'more connections than its Units have',
      async ({ connectionString }) => {
        const config = { connections: 25, baseSending: 25 };
        const { result } = await runBad({ service, useCase, connectionString, config });
        assert.deepEqual([result?.connections.connected, result?.connections.failed], [20, 5]);
        assert.deepEqual(Object.keys(result?.errors ?? {}), ['throttled']);
        assert.match(result?.errorExamples[0]?.text ?? '', /answered 429/);
      },
      { unit: 'free' },
    );
  }

  test('signalr: REST calls that are throttled', async () => {
    let calls = 0;
    const rest = createServer((_request, response) => {
      calls += 1;
      const headers = { 'Retry-After': '0' };
      if (calls <= 3) response.writeHead(429, headers).end('{"message":"too many"}');
      else response.writeHead(202).end();
    }).listen(0, '127.0.0.1');
    await once(rest, 'listening');
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { port } = rest.address() as AddressInfo;
    const outcome = await runBad({
      ...{ service: 'signalr', useCase: 'restSendToUser', config: longer },
      connectionString: `${emulator.connectionString}ServerEndpoint=http://127.0.0.1:${port}`,
    });
    await emulator.dispose();
    rest.close();
    const step = assertLost(outcome, { throttled: /^REST: POST answered 429: too many/ });
    assert.deepEqual([step.received, outcome.result?.errors], [0, { throttled: 3 }]);
  });

  test('signalr: a REST API so far away that our sockets do not suffice', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key], mode: 'serverless' });
    const awayMs = 1000;
    const rest = createServer((call, response) => {
      const { method = '', url = '', headers } = call;
      const { hostname, port } = new URL(new EmulatorPeer(emulator.connectionString).url);
      setTimeout(() => {
        const onward = request({ hostname, port, method, path: url, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 0);
          answer.pipe(response);
        });
        onward.on('error', () => response.destroy());
        call.pipe(onward);
      }, awayMs);
    }).listen(0, '127.0.0.1');
    await once(rest, 'listening');
    const { port } = rest.address() as AddressInfo;
    const config = { ...oneSender, baseSending: 10, drain: '20s' };
    // 256 sockets carry as many calls a second to there, and 1,000 are due.
    const { done, result } = await runBad({
      ...{ service: 'signalr', useCase: 'restSendToUser', config },
      parameters: { sendingInterval: '10ms' },
      slo: { p99: '2s' },
      connectionString: `${emulator.connectionString}ServerEndpoint=http://127.0.0.1:${port}`,
    });
    await emulator.dispose();
    rest.closeAllConnections();
    rest.close();
    assert.equal(done.code, 4, done.stderr);
    const step = result!.steps[0]!;
    const { latencyUs, sendLatencyUs } = step;
    assert.deepEqual([result!.errors, step.lost], [{}, 0]);
    assert.deepEqual([step.offered, step.expected], [1000, step.sent]);
    // Within the step and its grace of a second each socket is used three times at most.
    assert.ok(step.sent <= 3 * 256, `${step.sent} sent`);
    assert.ok(sendLatencyUs.p50 >= awayMs * 1000 && sendLatencyUs.p50 <= latencyUs.p50);
  });

  test('webpubsub: messages that are too large, from clients', async () => {
    const emulator = await startWebPubSubEmulator({ accessKeys: [key] });
    const outcome = await runBad({
      ...{ service: 'webpubsub', useCase: 'sendToGroup', config: oneSender },
      connectionString: emulator.connectionString,
      parameters: { ...big, groupCount: 1 },
    });
    await emulator.dispose();
    assertLost(outcome, { closed: /^closed with code 1009/ });
    assert.equal(outcome.result?.connections.dropped, 1);
  });

  test('signalr: messages that are too large, from clients of app servers', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { connectionString } = emulator;
    const test = { service: 'signalr' as const, connectionString, config: oneSender };
    const outcome = await runBad({ ...test, parameters: big });
    await emulator.dispose();
    assertLost(outcome, { closed: /A message is longer than 1048576 bytes/ });
    assert.equal(outcome.result?.connections.dropped, 1);
  });

  test('signalr: a token that has expired', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const peer = new EmulatorPeer(emulator.connectionString);
    const token = await peer.token('/client/?hub=chat', { exp: 1_700_000_000 });
    const target = `${peer.url}/client/?hub=chat`;
    const folder = new CliFolder();
    const file = folder.scenario('expired.yaml', {
      target,
      config: { connections: 10, skipNegotiation: false, accessToken: '${env:TOKEN}' },
    });
    const done = await folder.run(['run', file, '--out', 'out'], { TOKEN: token });
    const result = folder.result('out');
    folder.dispose();
    await emulator.dispose();
    assertNobodyIn({ done, result }, { unauthorized: 10 }, /expired/);
    assert.doesNotMatch(JSON.stringify([done, result]), anyToken);
  });

  test('signalr: more server connections and clients than its Units have', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key], unit: 'free' });
    const config = { connections: 25, baseSending: 25 };
    const { connectionString } = emulator;
    const outcome = await runBad({ service: 'signalr', connectionString, config });
    await emulator.dispose();
    const { connected, failed } = outcome.result!.connections;
    assert.deepEqual([connected, failed], [15, 10]);
    assert.deepEqual(Object.keys(outcome.result!.errors), ['throttled']);
    assert.match(textOf(outcome, 'throttled'), /answered 429/);
  });

  test('signalr: another key, or nobody there, for app servers', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const service = 'signalr' as const;
    const wrong = withKey(emulator.connectionString, otherKey);
    assertRefused(
      await runBad({ service, connectionString: wrong }),
      3,
      /401\. Check the access key/,
    );
    const connectionString = emulator.connectionString;
    await emulator.dispose();
    assertRefused(await runBad({ service, connectionString }), 3, /ECONNREFUSED.*endpoint/);
  });
});
