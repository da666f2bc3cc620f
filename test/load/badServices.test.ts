import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import path from 'node:path';
import type { StepSummary } from '../../src/measure/summary';
import type { Result } from '../../src/results/result';
import {
  startAzureSignalr,
  type AzureSignalr,
} from '../../src/servers/azureSignalr/startAzureSignalr';
import {
  startWebPubSubEmulator,
  type WebPubSubEmulator,
} from '../../src/servers/webpubsub/webPubSubEmulator';
import type { QuotaOptions } from '../../src/servers/serviceSize';
import type { CliResult } from '../fakes/loadCli';
import { EmulatorPeer } from '../fakes/emulatorPeer';
import { closedPort } from '../fakes/loadPeers';
import { sideBySide } from '../fakes/sideBySide';
import { CliFolder } from './cliFolder';
import type { LoadTest } from './loadRun';

const key = 'S3rviceKeyThatNobodyMaySee0123456789abcdefgh=';
const otherKey = 'AnotherKeyThatNobodyMaySee0123456789abcdefgh=';

interface Outcome {
  readonly done: CliResult;
  /** Absent when nothing was started. */
  readonly result: Result | undefined;
}

interface Bad extends Omit<LoadTest, 'target'> {
  readonly service: 'signalr' | 'webpubsub';
  readonly connectionString: string;
  /** Called once the run is measuring. */
  readonly fault?: () => unknown;
  /** A server that the run has started dies then: what it is told to serve. */
  readonly dies?: 'app-server' | 'upstream' | 'azure-signalr' | 'web-pubsub';
}

/** Runs from the command line; wherever the keys could show, they must not. */
async function run({ service, connectionString, fault, dies, ...test }: Bad): Promise<Outcome> {
  const folder = new CliFolder();
  try {
    const file = folder.scenario('bad.yaml', {
      ...test,
      target: connectionString === 'local' ? connectionString : '${env:SERVICE}',
      config: { service, connections: 10, skipNegotiation: false, ...test.config },
    });
    const args = ['run', file, '--out', 'out', '--keep-going'];
    const deadly = path.join(folder.path, 'dead');
    const process = folder.start(args, {
      SERVICE: connectionString,
      ...(dies !== undefined && {
        NODE_OPTIONS: `--require=${JSON.stringify(path.resolve('out/test/fakes/loadDyingServer.js'))}`,
        LOAD_SERVER_DIES: dies,
        LOAD_SERVER_DIES_WITH: deadly,
      }),
    });
    if (fault !== undefined || dies !== undefined) {
      await process.said('measuring');
      // Something is measured first.
      await setTimeout(300);
      await fault?.();
      if (dies !== undefined) folder.write('dead', '');
    }
    const done = await process.finished;
    const out = path.join(folder.path, 'out');
    const files = readdirSync(folder.path).includes('out')
      ? readdirSync(out, { recursive: true, withFileTypes: true })
      : [];
    const texts = files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
    const all = [done.stdout, done.stderr, ...texts].join('\n');
    for (const secret of [key, otherKey, encodeURIComponent(key), 'eyJ'])
      assert.ok(!all.includes(secret), `a secret shows: ${all}`);
    return { done, result: texts.length === 0 ? undefined : folder.result('out') };
  } finally {
    folder.dispose();
  }
}

const withKey = (connectionString: string, wanted: string): string =>
  connectionString.replace(/AccessKey=[^;]*/, `AccessKey=${wanted}`);

/** What each end of a service says; `errors` are all there are. */
function assertNobodyIn({ done, result }: Outcome, errors: object, says: RegExp): void {
  assert.equal(done.code, 3, done.stderr);
  assert.equal(result?.ending, 'targetLost');
  assert.equal(result.connections.connected, 0);
  assert.deepEqual([result.errors, result.steps], [errors, []]);
  assert.match(result.endingMessage ?? '', says);
}

/** Nothing was started. */
function assertRefused({ done, result }: Outcome, code: number, says: RegExp): void {
  assert.deepEqual([done.code, result], [code, undefined], done.stderr);
  assert.match(done.stderr.trimEnd().split('\n').at(-1)!, says);
}

/** Text of the first error of a class. */
const textOf = ({ result }: Outcome, errorClass: string): string =>
  result?.errorExamples.find((example) => example.errorClass === errorClass)?.text ?? '';

/**
 * The only step of a run that went to its end in spite of errors.
 * @param says for each class that occurred, what its first error says
 */
function assertLost(outcome: Outcome, says: Readonly<Record<string, RegExp>>): StepSummary {
  const { done, result } = outcome;
  // On a busy machine the step may be invalid as well.
  assert.ok(done.code === 1 || done.code === 4, done.stderr);
  assert.equal(result?.ending, 'completed');
  assert.deepEqual(Object.keys(result.errors).sort(), Object.keys(says).sort());
  for (const [errorClass, words] of Object.entries(says))
    assert.match(textOf(outcome, errorClass), words);
  const step = result.steps[0]!;
  assert.ok(step.lost > 0);
  assert.equal(step.expected, step.received + step.lost);
  return step;
}

/** A run that has lost all connections in its step, and kept what it had measured. */
function assertOver({ done, result }: Outcome, says: RegExp): Result {
  assert.equal(done.code, 3, done.stderr);
  assert.equal(result?.ending, 'targetLost');
  assert.match(result.endingMessage ?? '', says);
  const { connected, dropped } = result.connections;
  assert.deepEqual([connected, dropped], [10, 10]);
  const [step] = result.steps;
  assert.ok(step!.received > 0);
  assert.equal(step!.expected, step!.received + step!.lost);
  return result;
}

const services = { signalr: startAzureSignalr, webpubsub: startWebPubSubEmulator };
const longer = { singleStepDuration: '1s', drain: '500ms' };
const big = { messageSize: '1100KB', sendingInterval: '250ms' };
const oneSender = { ...longer, baseSending: 1, sendingSteps: 1, warmup: 0 };

describe('services that refuse, fail or end', function () {
  this.timeout(60_000);
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
      assertRefused(await run(noUrl), 2, /^The Endpoint of this connection string is no URL/);
      const noKey = { service, connectionString: `Endpoint=http://localhost;AccesKey=${key}` };
      assertRefused(await run(noKey), 2, /^This connection string has no AccessKey/);
      const hub = { ...noUrl, config: { hub: '1 a/b' } };
      assertRefused(await run(hub), 2, /has 1 error to correct first/);
    });

    test(`${service}: nobody there`, async () => {
      const { origin } = new URL(await closedPort());
      const connectionString = `Endpoint=${origin};AccessKey=${key}`;
      assertNobodyIn(
        await run({ service, useCase, connectionString }),
        { refused: 30 },
        /ECONNREFUSED/,
      );
    });

    against('another key', async ({ connectionString }) => {
      const wrong = withKey(connectionString, otherKey);
      const outcome = await run({ service, useCase, connectionString: wrong });
      assertNobodyIn(outcome, { unauthorized: 10 }, /401.* access key/);
    });

    against('a key that is rotated mid-run', async (emulator) => {
      const outcome = await run({
        ...{ service, useCase, connectionString: emulator.connectionString, config: longer },
        fault: () => emulator.rotateKeys([otherKey]),
      });
      const step = assertLost(outcome, { unauthorized: /^REST: POST answered 401/ });
      assert.deepEqual([step.sent, step.expected], [200, 200]);
    });

    against('messages that are too large', async ({ connectionString }) => {
      const config = oneSender;
      const outcome = await run({ service, useCase, parameters: big, connectionString, config });
      const { sent, lost } = assertLost(outcome, { request: /^REST: POST answered 413/ });
      assert.deepEqual([sent, lost, outcome.result?.errors.request], [4, 4, 4]);
    });

    against(
      'more connections than its Units have',
      async ({ connectionString }) => {
        const config = { connections: 25, baseSending: 25 };
        const { result } = await run({ service, useCase, connectionString, config });
        assert.deepEqual([result?.connections.connected, result?.connections.failed], [20, 5]);
        assert.deepEqual(Object.keys(result?.errors ?? {}), ['throttled']);
        assert.match(result?.errorExamples[0]?.text ?? '', /answered 429/);
      },
      { unit: 'free' },
    );
  }

  for (const service of ['signalr', 'webpubsub'] as const) {
    test(`${service}: REST calls that are throttled`, async () => {
      let calls = 0;
      const rest = createServer((_request, response) => {
        calls += 1;
        const headers = { 'Retry-After': '0' };
        if (calls <= 3) response.writeHead(429, headers).end('{"message":"too many"}');
        else response.writeHead(202).end();
      }).listen(0, '127.0.0.1');
      await once(rest, 'listening');
      const emulator = await services[service]({ accessKeys: [key] });
      const { port } = rest.address() as AddressInfo;
      const outcome = await run({
        ...{ service, useCase: 'restSendToUser', config: longer },
        connectionString: `${emulator.connectionString}ServerEndpoint=http://127.0.0.1:${port}`,
      });
      await emulator.dispose();
      rest.close();
      const step = assertLost(outcome, { throttled: /^REST: POST answered 429: too many/ });
      assert.deepEqual([step.received, outcome.result?.errors], [0, { throttled: 3 }]);
    });
  }

  test('webpubsub: messages that are too large, from clients', async () => {
    const emulator = await startWebPubSubEmulator({ accessKeys: [key] });
    const outcome = await run({
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
    const outcome = await run({ ...test, parameters: big });
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
    assert.ok(!JSON.stringify([done, result]).includes('eyJ'));
  });

  test('signalr: a key that is rotated while clients come and go and server connections end', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const outcome = await run({
      ...{ service: 'signalr', connectionString: emulator.connectionString },
      config: { lifetime: '1s', singleStepDuration: '3s', drain: '500ms' },
      fault: () => {
        emulator.rotateKeys([otherKey]);
        emulator.faults.closeServers('signalrbench', { count: 1, abruptly: true });
      },
    });
    await emulator.dispose();
    const { result, done } = outcome;
    assert.equal(result?.ending, 'completed', done.stderr);
    const { received } = result.steps[0]!;
    assert.ok(received > 0);
    // Who comes back is refused, and so is the app server.
    assert.match(textOf(outcome, 'unauthorized'), /401/);
    const texts = result.errorExamples.filter(({ errorClass }) => errorClass === 'ownServer');
    assert.match(texts[0]!.text, /^A server connection was lost/);
    assert.match(texts[1]!.text, /could not be opened: .* 401\. Check the access key/);
    assert.match(done.stderr, /warning: A server connection could not be opened/);
  });

  test('signalr: more server connections and clients than its Units have', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key], unit: 'free' });
    const config = { connections: 25, baseSending: 25 };
    const { connectionString } = emulator;
    const outcome = await run({ service: 'signalr', connectionString, config });
    await emulator.dispose();
    const { connected, failed } = outcome.result!.connections;
    assert.deepEqual([connected, failed], [15, 10]);
    assert.deepEqual(Object.keys(outcome.result!.errors), ['throttled']);
    assert.match(textOf(outcome, 'throttled'), /answered 429/);
  });

  test('signalr: a quota that is used up mid-run', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const text = 'Maximum message count limit reached: 20000';
    const outcome = await run({
      ...{ service: 'signalr', connectionString: emulator.connectionString, config: longer },
      fault: () => emulator.faults.serviceError('signalrbench', text),
    });
    await emulator.dispose();
    const { sent } = assertLost(outcome, { ownServer: /reports: Maximum message count limit/ });
    assert.deepEqual([sent, outcome.result?.errors], [200, { ownServer: 5 }]);
    assert.match(
      outcome.done.stderr,
      new RegExp(`warning: Azure SignalR Service reports: ${text}`),
    );
    assert.match(outcome.done.stdout, new RegExp(`e\\.g\\. Azure SignalR Service reports`));
  });

  for (const [mode, service, useCase] of [
    ['in default mode', 'signalr', 'echo'],
    ['in serverless mode', 'signalr', 'restSendToUser'],
    ['', 'webpubsub', 'restSendToUser'],
  ] as const)
    test(`${service} ${mode}: a service that goes away mid-run`, async () => {
      const emulator = await services[service]({ accessKeys: [key] });
      const outcome = await run({
        ...{ service, useCase, connectionString: emulator.connectionString, config: longer },
        fault: () => emulator.dispose(),
      });
      const { errors } = assertOver(outcome, /All 10 connections were lost/);
      assert.equal(errors.closed, 10);
      assert.equal((errors.ownServer ?? 0) > 0, useCase === 'echo');
    });

  test('signalr: an app server that dies', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { connectionString } = emulator;
    const test = { service: 'signalr' as const, connectionString, config: longer };
    const outcome = await run({ ...test, dies: 'app-server' });
    await emulator.dispose();
    const says = /ownServer: The app server ended by itself with code 7\. Error: this server dies/;
    const { errors } = assertOver(outcome, says);
    assert.deepEqual(errors, { closed: 10, ownServer: 1 });
  });

  test('webpubsub: an upstream handler that dies', async () => {
    const emulator = await startWebPubSubEmulator({ accessKeys: [key] });
    const { connectionString } = emulator;
    const test = { service: 'webpubsub' as const, connectionString, config: longer };
    const outcome = await run({ ...test, dies: 'upstream' });
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
    const outcome = await run({ ...test, dies: 'upstream' });
    await emulator.dispose();
    // Nobody waits for an answer to these messages, so that only the handler itself tells.
    assertLost(outcome, { ownServer: /^The upstream handler ended by itself with code 7/ });
    assert.equal(outcome.result?.connections.dropped, 0);
  });

  for (const service of ['signalr', 'webpubsub'] as const)
    test(`${service}: a key that is rotated under an upstream handler`, async () => {
      const emulator = await services[service]({ accessKeys: [key] });
      const config = { ...longer, upstream: { port: 0 } };
      const outcome = await run({
        ...{ service, connectionString: emulator.connectionString, config },
        fault: () => emulator.rotateKeys([otherKey]),
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

  for (const [service, dies, name] of [
    ['signalr', 'azure-signalr', 'emulator of Azure SignalR Service'],
    ['webpubsub', 'web-pubsub', 'emulator of Azure Web PubSub'],
  ] as const)
    test(`${service}: a local emulator that dies`, async () => {
      const useCase = 'restSendToUser';
      const test = { service, useCase, connectionString: 'local', config: longer };
      const outcome = await run({ ...test, dies });
      const { errors } = assertOver(outcome, new RegExp(`ownServer: The ${name} ended by itself`));
      assert.equal(errors.ownServer, 1);
    });

  test('signalr: another key, or nobody there, for app servers', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const service = 'signalr' as const;
    const wrong = withKey(emulator.connectionString, otherKey);
    assertRefused(await run({ service, connectionString: wrong }), 3, /401\. Check the access key/);
    const connectionString = emulator.connectionString;
    await emulator.dispose();
    assertRefused(await run({ service, connectionString }), 3, /ECONNREFUSED.*endpoint/);
  });

  test('signalr: server connections that end', async () => {
    const emulator = await startAzureSignalr({ accessKeys: [key] });
    const { result } = await run({
      service: 'signalr',
      connectionString: emulator.connectionString,
      config: longer,
      fault: () => emulator.faults.closeServers('signalrbench', { abruptly: true }),
    });
    await emulator.dispose();
    assert.equal(result?.connections.dropped, 10);
    assert.deepEqual(result.errors, { closed: 10, ownServer: 5 });
    const [step] = result.steps;
    assert.ok(step!.lost < 10 * 20 && step!.expected === step!.received + step!.lost);
  });
});
