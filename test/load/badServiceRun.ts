import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { StepSummary } from '../../src/measure/summary';
import type { Result } from '../../src/results/result';
import { startAzureSignalr } from '../../src/servers/azureSignalr/serviceEmulator';
import { startWebPubSubEmulator } from '../../src/servers/webpubsub/webPubSubEmulator';
import { cliScript, type CliResult } from '../fakes/loadCli';
import { CliFolder } from './cliFolder';
import type { LoadTest } from './loadRun';

export const key = 'S3rviceKeyThatNobodyMaySee0123456789abcdefgh=';
export const otherKey = 'AnotherKeyThatNobodyMaySee0123456789abcdefgh=';

/** A JWT. Not its beginning alone: by chance that stands in the base64 of a histogram too. */
export const anyToken = /eyJ[\w-]+\.eyJ/;

export interface Outcome {
  readonly done: CliResult;
  /** Absent when nothing was started. */
  readonly result: Result | undefined;
}

export interface Bad extends Omit<LoadTest, 'target'> {
  readonly service: 'signalr' | 'webpubsub';
  readonly connectionString: string;
  /** Called once the run is measuring. */
  readonly fault?: () => unknown;
  /** The run is interrupted once it has said this and its samples hold that. */
  readonly until?: readonly [said: RegExp, sampled: RegExp];
  /** A server that the run has started dies then: what it serves. */
  readonly dies?: 'app-server' | 'upstream' | 'azure-signalr' | 'web-pubsub';
}

/** Runs from the command line; wherever the keys could show, they must not. */
export async function runBad({
  service,
  connectionString,
  fault,
  until,
  dies,
  ...test
}: Bad): Promise<Outcome> {
  const folder = new CliFolder();
  try {
    const file = folder.scenario('bad.yaml', {
      ...test,
      parameters: { ...seldom, ...test.parameters },
      target: connectionString === 'local' ? connectionString : '${env:SERVICE}',
      config: { service, connections: 10, skipNegotiation: false, ...test.config },
    });
    const args = ['run', file, '--out', 'out', '--keep-going'];
    const going = folder.startHere(
      args,
      { SERVICE: connectionString },
      dies && dyingScript(folder, dies),
    );
    if (fault !== undefined || dies !== undefined) {
      // So many that nobody waits for the answer to a first message any more, which the hub is asked for.
      await folder.sampled('out', /"received":(?:[2-9]\d|\d{3})/, going.finished);
      await fault?.();
      if (dies !== undefined) folder.write('dead', '');
    }
    if (until !== undefined) {
      await going.said(until[0]);
      await folder.sampled('out', until[1], going.finished);
      going.signal('SIGINT');
    }
    const done = await going.finished;
    const out = path.join(folder.path, 'out');
    const files = readdirSync(folder.path).includes('out')
      ? readdirSync(out, { recursive: true, withFileTypes: true })
      : [];
    const texts = files
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(path.join(entry.parentPath, entry.name), 'utf8'));
    const all = [done.stdout, done.stderr, ...texts].join('\n');
    for (const secret of [key, otherKey, encodeURIComponent(key)])
      assert.ok(!all.includes(secret), `a secret shows: ${all}`);
    assert.doesNotMatch(all, anyToken);
    return { done, result: texts.length === 0 ? undefined : folder.result('out') };
  } finally {
    folder.dispose();
  }
}

/** What servers of a run are started with, of which that one dies as soon as there is the file `dead`. */
function dyingScript(folder: CliFolder, dies: string): string {
  const deadly = path.join(folder.path, 'dead');
  const scripts = [require.resolve('../fakes/loadDyingServer'), cliScript];
  folder.write(
    'server.cjs',
    `Object.assign(process.env, ${JSON.stringify({ LOAD_SERVER_DIES: dies, LOAD_SERVER_DIES_WITH: deadly })});\n` +
      scripts.map((script) => `require(${JSON.stringify(script)});\n`).join(''),
  );
  return path.join(folder.path, 'server.cjs');
}

export const withKey = (connectionString: string, wanted: string): string =>
  connectionString.replace(/AccessKey=[^;]*/, `AccessKey=${wanted}`);

/** What each end of a service says; `errors` are all there are. */
export function assertNobodyIn({ done, result }: Outcome, errors: object, says: RegExp): void {
  assert.equal(done.code, 3, done.stderr);
  assert.equal(result?.ending, 'targetLost');
  assert.equal(result.connections.connected, 0);
  assert.deepEqual([result.errors, result.steps], [errors, []]);
  assert.match(result.endingMessage ?? '', says);
}

/** Nothing was started. */
export function assertRefused({ done, result }: Outcome, code: number, says: RegExp): void {
  assert.deepEqual([done.code, result], [code, undefined], done.stderr);
  assert.match(done.stderr.trimEnd().split('\n').at(-1)!, says);
}

/** Text of the first error of a class. */
export const textOf = ({ result }: Outcome, errorClass: string): string =>
  result?.errorExamples.find((example) => example.errorClass === errorClass)?.text ?? '';

/**
 * The only step of a run that went to its end in spite of errors.
 * @param says for each class that occurred, what its first error says
 */
export function assertLost(outcome: Outcome, says: Readonly<Record<string, RegExp>>): StepSummary {
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
export function assertOver({ done, result }: Outcome, says: RegExp): Result {
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

export const services = { signalr: startAzureSignalr, webpubsub: startWebPubSubEmulator };
/** So long that a fault falls into the step on a busy machine too. */
export const longer = { singleStepDuration: '5s', drain: '500ms' };
/** Messages of ten senders in that time, at {@link seldom}. */
export const longerSent = 200;
const seldom = { sendingInterval: '250ms' };
/** Ended by its fault. */
export const untilOver = { singleStepDuration: '20s', drain: '500ms' };
export const big = { messageSize: '1100KB', sendingInterval: '250ms' };
export const oneSender = {
  ...longer,
  ...{ singleStepDuration: '1s', baseSending: 1, sendingSteps: 1, warmup: 0 },
};
