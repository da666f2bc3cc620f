import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Job } from 'kubernetes-types/batch/v1';
import type { Result } from '../../src/results/result';
import { startCli, startHere, type CliHere } from '../fakes/loadCli';
import { startHubHere, type HubHere } from '../fakes/loadHub';
import { CliFolder } from '../load/cliFolder';
import { assertExact, onlyStep } from '../load/loadRun';
import { assertMeasured } from './agentsOnBus';

const kubectl = path.resolve('test', 'machines', 'fakeKubectl.mjs');

const natsServer = (): string => readFileSync(path.resolve('out', 'nats', 'program'), 'utf8');

describe('a run in a cluster whose pods are processes', () => {
  let hub: HubHere;
  let cluster: string;
  const folder = new CliFolder();

  before(async () => {
    hub = await startHubHere();
    chmodSync(kubectl, 0o755);
  });
  beforeEach(() => {
    cluster = mkdtempSync(path.join(tmpdir(), 'signalr-bench-cluster-'));
  });
  afterEach(() => rmSync(cluster, { recursive: true, force: true, maxRetries: 5 }));
  after(async () => {
    await hub.dispose();
    folder.dispose();
  });

  const asked = (): string => readFileSync(path.join(cluster, 'asked.txt'), 'utf8');
  const run = (
    name: string,
    test: Parameters<CliFolder['scenario']>[1],
    env: Readonly<Record<string, string>> = {},
    agents = 2,
  ): CliHere => {
    const file = path.join(folder.path, folder.scenario(name, test));
    const words = [
      '--on',
      'kubernetes',
      '--agents',
      `${agents}`,
      '--namespace',
      'load',
      '--yes',
      '--json',
    ];
    process.env['NATS_SERVER'] ??= natsServer();
    process.env['FAKE_CLUSTER'] = cluster;
    const flags = ['--kubectl', kubectl, '--out', name.replace('.yaml', '')];
    return startHere(['run', file, ...words, ...flags], { cwd: folder.path, env });
  };

  it('is shown here, gives its result, and leaves nothing', async () => {
    const config = { workers: 1, baseSending: 9 };
    const target = '${env:HUB_OF_TEST}';
    const going = run(
      'whole.yaml',
      { target, useCase: 'broadcast', config },
      { HUB_OF_TEST: hub.url },
    );
    const { code, stdout, stderr } = await going.finished;
    assertMeasured(code, stderr);
    const result = JSON.parse(stdout) as Result;
    assertExact(onlyStep(result), 90, 1800);
    assert.deepEqual(
      result.agents?.map(({ node, status }) => [node, status]),
      [1, 2].map(() => ['node-1', 'done']),
    );
    assert.match(stderr, /^Run \w+ has left nothing in the cluster\.$/m);
    assert.ok(!existsSync(path.join(cluster, 'objects.json')));
    assert.ok(!asked().includes(hub.url), 'what is secret stands in no argument');
    assert.match(asked(), /^--namespace load delete job\/signalr-bench-\w+ /m);
  });

  it('ends in order at Ctrl+C with what was measured, and at once when it is pressed again', async () => {
    const config = { workers: 1, singleStepDuration: '60s', warmup: 0 };
    const going = run('stopped.yaml', { target: hub.url, config }, {}, 1);
    await folder.sampled('stopped', /"received":[1-9]/, going.finished);
    going.signal('SIGINT');
    const { code, stdout, stderr } = await going.finished;
    assert.equal(code, 130, stderr);
    assert.match(stderr, /^Stopping; what was measured is kept\. Once more leaves at once\.$/m);
    const result = JSON.parse(stdout) as Result;
    const { verdict, expected, received } = onlyStep(result);
    assert.deepEqual([result.ending, verdict.status], ['interrupted', 'incomplete']);
    assert.ok(received > 0 && expected - received >= 0, `${received} of ${expected}`);
    assert.match(stderr, /has left nothing in the cluster/);
    assert.ok(!existsSync(path.join(cluster, 'objects.json')));
  });

  it('that is left at once keeps what was seen of it', async () => {
    const config = { workers: 1, singleStepDuration: '60s', warmup: 0 };
    const going = run('left.yaml', { target: hub.url, config }, {}, 1);
    await folder.sampled('left', /"received":[1-9]/, going.finished);
    going.signal('SIGTERM');
    going.signal('SIGTERM');
    const { code, stderr } = await going.finished;
    assert.equal(code, 143, stderr);
    const [, kept = ''] = /^What was seen of the run is kept in (.+)\.$/m.exec(stderr) ?? [];
    assert.match(folder.read(kept, 'samples.jsonl'), /"received":[1-9]/);
    assert.match(stderr, /has left nothing in the cluster/);
  });

  it('goes on when its command line is killed, is seen from elsewhere, and has a deadline', async () => {
    const config = { workers: 1, baseSending: 9 };
    const file = folder.scenario('killed.yaml', { target: hub.url, useCase: 'broadcast', config });
    const place = ['--on', 'kubernetes', '--kubectl', kubectl];
    const going = startCli(['run', file, ...place, '--run', 'k1', '--yes'], {
      cwd: folder.path,
      env: { FAKE_CLUSTER: cluster, NATS_SERVER: natsServer() },
    });
    await going.said('measuring');
    going.child.kill('SIGKILL');
    assert.equal((await going.finished).signal, 'SIGKILL');
    process.env['FAKE_CLUSTER'] = cluster;
    const here = (words: readonly string[]) => startHere(words, { cwd: folder.path }).finished;
    const seen = await here(['attach', 'k1', ...place, '--out', 'attached', '--json']);
    assertMeasured(seen.code, seen.stderr);
    assertExact(onlyStep(JSON.parse(seen.stdout) as Result), 90, 1800);
    const objects = path.join(cluster, 'objects.json');
    const [owner, ...owned] = JSON.parse(readFileSync(objects, 'utf8')) as Job[];
    const { activeDeadlineSeconds = 0, ttlSecondsAfterFinished = 0 } = owner!.spec!;
    assert.ok(activeDeadlineSeconds > 0 && ttlSecondsAfterFinished > activeDeadlineSeconds);
    for (const { metadata } of owned)
      assert.equal(metadata?.ownerReferences?.[0]?.uid, owner!.metadata!.uid);
    const { code, stdout } = await here(['agents', 'remove', 'k1', '--kubectl', kubectl]);
    assert.deepEqual([code, stdout], [0, 'Run k1 is removed.\n']);
    assert.ok(!existsSync(objects));
  });

  it('takes no scenario with a secret as text, nor one for the embedded hub', async () => {
    const secret = 'Endpoint=https://a.service.signalr.net;AccessKey=c2VjcmV0;Version=1.0;';
    const first = await run('secret.yaml', { target: secret, config: { workers: 1 } }).finished;
    assert.equal(first.code, 2);
    assert.match(first.stderr, /write \$\{env:NAME\} in its place/);
    assert.doesNotMatch(first.stderr, /c2VjcmV0/);
    const second = await run('local.yaml', { target: 'local', config: { workers: 1 } }).finished;
    assert.match(second.stderr, /The embedded hub is on this machine/);
    const third = await run('missing.yaml', { target: '${env:NOT_SET_HERE}' }).finished;
    assert.match(third.stderr, /The environment has no NOT_SET_HERE/);
  });
});
