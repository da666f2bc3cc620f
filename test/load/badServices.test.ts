import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
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
  readonly fault?: () => void;
}

/** Runs from the command line; wherever the keys could show, they must not. */
async function run({ service, connectionString, fault, ...test }: Bad): Promise<Outcome> {
  const folder = new CliFolder();
  try {
    const file = folder.scenario('bad.yaml', {
      ...test,
      target: '${env:SERVICE}',
      config: { service, connections: 10, skipNegotiation: false, ...test.config },
    });
    const args = ['run', file, '--out', 'out', '--keep-going'];
    const process = folder.start(args, { SERVICE: connectionString });
    if (fault !== undefined) {
      await process.said('measuring');
      fault();
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

/** The only step of a run that went to its end in spite of errors, which are all of one class. */
function assertLost({ done, result }: Outcome, errorClass: string, says: RegExp): StepSummary {
  // On a busy machine the step may be invalid as well.
  assert.ok(done.code === 1 || done.code === 4, done.stderr);
  assert.equal(result?.ending, 'completed');
  assert.deepEqual(Object.keys(result.errors), [errorClass]);
  assert.match(result.errorExamples[0]?.text ?? '', says);
  const step = result.steps[0]!;
  assert.ok(step.lost > 0);
  assert.equal(step.expected, step.received + step.lost);
  return step;
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
      const step = assertLost(outcome, 'unauthorized', /^REST: POST answered 401/);
      assert.deepEqual([step.sent, step.expected], [200, 200]);
    });

    against('messages that are too large', async ({ connectionString }) => {
      const config = oneSender;
      const outcome = await run({ service, useCase, parameters: big, connectionString, config });
      const { sent, lost } = assertLost(outcome, 'request', /^REST: POST answered 413/);
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
    assert.deepEqual(result.errors, { closed: 10 });
    const [step] = result.steps;
    assert.ok(step!.lost < 10 * 20 && step!.expected === step!.received + step!.lost);
  });
});
