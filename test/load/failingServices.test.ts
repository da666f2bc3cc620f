import assert from 'node:assert/strict';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { sideBySide } from '../fakes/sideBySide';
import {
  assertLost,
  assertOver,
  key,
  longer,
  longerSent,
  otherKey,
  runBad,
  services,
  textOf,
  untilOver,
} from './badServiceRun';
import { rotateKeys, ServiceFaults } from '../fakes/serviceFaults';

describe('services that fail or end while a run goes on', function () {
  const test = sideBySide();

  test('signalr: a key that is rotated while clients come and go and server connections end', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const outcome = await runBad({
      ...{ service: 'signalr', connectionString: emulator.connectionString },
      config: { ...untilOver, lifetime: '1s' },
      fault: () => {
        rotateKeys(emulator, [otherKey]);
        new ServiceFaults(emulator).closeServers('signalrbench', { count: 1, abruptly: true });
      },
      until: [/A server connection could not be opened/, /"unauthorized":[1-9]/],
    });
    await emulator.dispose();
    const { result, done } = outcome;
    assert.equal(result?.ending, 'interrupted', done.stderr);
    const { received } = result.steps[0]!;
    assert.ok(received > 0);
    // Who comes back is refused, and so is the app server.
    assert.match(textOf(outcome, 'unauthorized'), /401/);
    const texts = result.errorExamples.filter(({ errorClass }) => errorClass === 'ownServer');
    assert.match(texts[0]!.text, /^A server connection was lost/);
    assert.match(texts[1]!.text, /could not be opened: .* 401\. Check the access key/);
    assert.match(done.stderr, /warning: A server connection could not be opened/);
  });

  test('signalr: a quota that is used up mid-run', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const text = 'Maximum message count limit reached: 20000';
    const outcome = await runBad({
      ...{ service: 'signalr', connectionString: emulator.connectionString, config: longer },
      fault: () => new ServiceFaults(emulator).serviceError('signalrbench', text),
    });
    await emulator.dispose();
    const { sent } = assertLost(outcome, { ownServer: /reports: Maximum message count limit/ });
    assert.deepEqual([sent, outcome.result?.errors], [longerSent, { ownServer: 5 }]);
    assert.match(
      outcome.done.stderr,
      new RegExp(`warning: Azure SignalR Service reports: ${text}`),
    );
    assert.match(outcome.done.stdout, new RegExp(`e\\.g\\. Azure SignalR Service reports`));
  });

  for (const [service, useCase] of [
    ['signalr', 'echo'],
    ['webpubsub', 'restSendToUser'],
  ] as const)
    test(`${service}: a service that goes away mid-run`, async () => {
      const emulator = await services[service]({ accessKeys: [key] });
      const outcome = await runBad({
        ...{ service, useCase, connectionString: emulator.connectionString, config: untilOver },
        fault: () => emulator.dispose(),
      });
      const { errors } = assertOver(outcome, /All 10 connections were lost/);
      assert.equal(errors.closed, 10);
      assert.equal((errors.ownServer ?? 0) > 0, useCase === 'echo');
    });

  test('signalr: an app server that dies', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { connectionString } = emulator;
    const test = { service: 'signalr' as const, connectionString, config: untilOver };
    const outcome = await runBad({ ...test, dies: 'app-server' });
    await emulator.dispose();
    const says = /ownServer: The app server ended by itself with code 7\. Error: this server dies/;
    const { errors } = assertOver(outcome, says);
    assert.deepEqual(errors, { closed: 10, ownServer: 1 });
  });

  test('webpubsub: an upstream handler that dies', async () => {
    const emulator = await startWebPubSubEmulator({ accessKeys: [key] });
    const { connectionString } = emulator;
    const test = { service: 'webpubsub' as const, connectionString, config: untilOver };
    const outcome = await runBad({ ...test, dies: 'upstream' });
    await emulator.dispose();
    const { errors } = assertOver(outcome, /ownServer: The upstream handler ended by itself/);
    assert.deepEqual(errors, { closed: 10, ownServer: 1 });
    assert.match(textOf(outcome, 'closed'), /upstream handler could not be reached/);
  });

  test('signalr: an upstream handler that dies', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { connectionString } = emulator;
    const config = { ...longer, upstream: { port: 0 } };
    const test = { service: 'signalr' as const, connectionString, config };
    const outcome = await runBad({ ...test, dies: 'upstream' });
    await emulator.dispose();
    // Nobody waits for an answer to these messages, so that only the handler itself shows it.
    assertLost(outcome, { ownServer: /^The upstream handler ended by itself with code 7/ });
    assert.equal(outcome.result?.connections.dropped, 0);
  });

  test('webpubsub: a key that is rotated under an upstream handler', async () => {
    const emulator = await startWebPubSubEmulator({ accessKeys: [key] });
    const config = { ...longer, upstream: { port: 0 } };
    const outcome = await runBad({
      ...{ service: 'webpubsub', connectionString: emulator.connectionString, config },
      fault: () => rotateKeys(emulator, [otherKey]),
    });
    await emulator.dispose();
    const says = /refused an event with 401: it is not signed with the access key/;
    const texts = outcome.result!.errorExamples.map(({ text }) => text);
    assert.ok(
      texts.some((text) => says.test(text)),
      texts.join('\n'),
    );
    assert.ok(outcome.result!.steps[0]!.lost > 0);
  });

  test('signalr: a local emulator that dies', async () => {
    const test = { service: 'signalr' as const, useCase: 'restSendToUser', config: untilOver };
    const outcome = await runBad({ ...test, connectionString: 'local', dies: 'azure-signalr' });
    const says = /ownServer: The emulator of Azure SignalR Service ended by itself/;
    const { errors } = assertOver(outcome, says);
    assert.equal(errors.ownServer, 1);
  });

  test('signalr: a lasting server connection that ends under the messages', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key], mode: 'serverless' });
    const outcome = await runBad({
      ...{ service: 'signalr', useCase: 'restPersistSendToUser', config: longer },
      connectionString: emulator.connectionString,
      fault: () => new ServiceFaults(emulator).closeServers('signalrbench', { abruptly: true }),
    });
    await emulator.dispose();
    // The service's doing, not the generator's: all is sent, as over REST.
    const [[errorClass, count] = ['', 0]] = Object.entries(outcome.result?.errors ?? {});
    assert.match(errorClass, /^(closed|reset)$/);
    const step = assertLost(outcome, { [errorClass]: /^server connection: / });
    assert.deepEqual(
      [step.offered, step.sent, step.expected],
      [longerSent, longerSent, longerSent],
    );
    const texts = outcome.result!.errorExamples.map(({ text }) => text);
    assert.match(texts[1] ?? '', /^message not sent: server connection: /);
    assert.ok(count > 2 && count - 1 <= step.lost, `${count} errors, ${step.lost} lost`);
    assert.doesNotMatch(outcome.done.stdout, /generator sent only/);
  });

  test('signalr: server connections that end', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { result } = await runBad({
      service: 'signalr',
      connectionString: emulator.connectionString,
      config: longer,
      fault: () => new ServiceFaults(emulator).closeServers('signalrbench', { abruptly: true }),
    });
    await emulator.dispose();
    assert.equal(result?.connections.dropped, 10);
    assert.deepEqual(result.errors, { closed: 10, ownServer: 5 });
    const [step] = result.steps;
    assert.ok(step!.lost < longerSent && step!.expected === step!.received + step!.lost);
  });
});
