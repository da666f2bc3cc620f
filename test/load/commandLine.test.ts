import assert from 'node:assert/strict';
import { noSignals, skipAloud } from '../fakes/skipAloud';
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Snapshot } from '../../src/measure/snapshot';
import type { Result } from '../../src/results/result';
import { startCli, type CliResult } from '../fakes/loadCli';
import { startHubHere, withHubHere, type HubHere } from '../fakes/loadHub';
import { closedPort } from '../fakes/loadPeers';
import { assertRan, CliFolder, withFolder } from './cliFolder';
import { assertExact } from './loadRun';

/** What no pipe may get: control characters other than ends of lines. */
// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

function assertPlain({ stdout, stderr }: CliResult): void {
  assert.doesNotMatch(stdout, control);
  assert.doesNotMatch(stderr, control);
  for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `too wide: ${line}`);
}

describe('signalr-bench run', function () {
  let folder: CliFolder;
  let hub: HubHere;

  before(async () => {
    folder = new CliFolder();
    hub = await startHubHere();
  });
  after(async () => {
    await hub.dispose();
    folder.dispose();
  });

  describe('a run that meets its objectives', () => {
    const out = 'passed';
    let text: string;
    let done: CliResult;

    before(async () => {
      folder.scenario('pass.yaml', {
        target: hub.url,
        config: { baseSending: 10, step: 10, singleStepDuration: '800ms' },
        slo: { p99: '30s' },
      });
      text = `# Kept as it is.\n${folder.read('pass.yaml')}`;
      folder.write('pass.yaml', text);
      const args = ['run', 'pass.yaml', '--out', out, '--workers', '2'];
      done = await folder.start(args).finished;
    });

    it('exits with 0', () => {
      assert.equal(done.code, 0, done.stderr);
    });

    it('prints steps, spectrum, verdict and Units, plain and within 80 columns', () => {
      assertPlain(done);
      for (const part of [
        /^ step senders/m,
        /^ {4}1 {6}10 /m,
        /^ {4}2 {6}20 /m,
        /99\.99 %/,
        /✓ passed; step 2: 99 % of 320 deliveries within .* \(limit 30 s\)(, of which up to .* this machine)?, none lost/,
        /^Unit 1: /m,
      ]) {
        assert.match(done.stdout.replace(/\n {2}(?=\S)/g, ' '), part);
      }
      assert.ok(done.stdout.includes(folder.onlyResult(out)));
      assert.match(done.stderr, /step 2 done: 20 senders/);
    });

    it('leaves a folder with scenario, samples and result', () => {
      const inside = readdirSync(path.join(folder.path, folder.onlyResult(out)));
      assert.deepEqual(inside.sort(), ['result.json', 'samples.jsonl', 'scenario.yaml']);
      assert.match(folder.read(folder.onlyResult(out), 'scenario.yaml'), /^ {2}workers: 2$/m);
    });

    it('stores what was measured, judged and recommended', () => {
      const result = folder.result(out);
      assert.equal(result.schema, 'signalr-bench-result/2');
      assert.equal(result.id, path.basename(folder.onlyResult(out)));
      assert.equal(result.ending, 'completed');
      assert.equal(result.verdict.status, 'pass');
      assert.equal(result.machine.workers, 2);
      assert.deepEqual(result.target, {
        kind: 'hubUrl',
        url: hub.url,
        dialect: 'recordLatency',
        emulated: true,
      });
      const [first, second] = result.steps;
      assertExact(first!, 160, 160);
      assertExact(second!, 320, 320);
      assert.equal(result.estimate?.basis, 'published');
      assert.equal(result.recommendation?.basis, 'measured');
    });

    it('keeps one sample a second, and one with everything counted at the end of each step', () => {
      const folderOfRun = folder.onlyResult(out);
      const lines = folder.read(folderOfRun, 'samples.jsonl').trimEnd().split('\n');
      const samples = lines.map((line) => JSON.parse(line) as Snapshot);
      const ends = samples.filter(({ step }, at) => step?.over && !samples[at - 1]?.step?.over);
      const seconds = new Set(samples.map(({ tick }) => tick)).size;
      assert.ok(seconds >= 2, `${seconds} seconds`);
      assert.ok(samples.length <= seconds + ends.length, `${samples.length} samples`);
      const { steps } = JSON.parse(folder.read(folderOfRun, 'result.json')) as Result;
      assert.deepEqual(
        ends.map(({ step }) => [step?.index, step?.sent, step?.received, step?.verdict]),
        steps.map(({ index, sent, received, verdict }) => [index, sent, received, verdict.status]),
      );
      const sum = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);
      for (const count of ['offered', 'sent'] as const) {
        const inTicks = sum(samples.map(({ interval }) => interval?.[count] ?? 0));
        assert.equal(inTicks, sum(steps.map((step) => step[count])), count);
      }
      for (const { interval } of samples) {
        if (!interval) continue;
        const { seconds, receivingSeconds } = interval;
        assert.ok(seconds >= 0 && seconds <= receivingSeconds && receivingSeconds <= 1 + 1e-9);
      }
    });

    it('is shown again by show', async () => {
      const shown = await folder.start(['show', folder.onlyResult(out)]).finished;
      assert.equal(shown.code, 0);
      assertPlain(shown);
      const withoutPlace = (screen: string): string => screen.replace(/^result .*\n/m, '');
      assert.equal(withoutPlace(shown.stdout), withoutPlace(done.stdout));
    });
  });

  it(
    'runs against the embedded hub with nothing set up',
    withFolder(async (own) => {
      const file = own.scenario('local.yaml', { target: 'http://127.0.0.1:1/unused' });
      const done = await own.run(['run', file, '--target', 'local', '--out', 'local']);
      assertRan(done);
      const result = own.result('local');
      assert.equal(result.target.kind, 'local');
      assertExact(result.steps[0]!, 200, 200);
    }),
  );

  it(
    'exits with 1 when deliveries come twice',
    withFolder((own) =>
      withHubHere('--dup-every 4', async ({ url }) => {
        // Long enough for a worker that begins on a busy machine.
        const config = { warmup: 0, singleStepDuration: '2s' };
        const parameters = { sendingInterval: '200ms' };
        const file = own.scenario('twice.yaml', { target: url, config, parameters });
        const done = await own.run(['run', file, '--out', 'twice']);
        assert.equal(done.code, 1, done.stderr);
        const text = done.stdout.replace(/\s+/g, ' ');
        assert.match(text, /✗ failed; step 1: 50 duplicates came on top of the 200 expected/);
        assert.match(text, /\(25 %\), above the limit of 0 %/);
        const { steps } = own.result('twice');
        const check = steps[0]!.verdict.checks!.find(({ metric }) => metric === 'duplicated');
        assert.deepEqual(check, { metric: 'duplicated', limit: 0, value: 0.25, met: false });
      }),
    ),
  );

  it(
    'exits with 3 when nothing can be reached',
    withFolder(async (own) => {
      const file = own.scenario('closed.yaml', { target: await closedPort() });
      const done = await own.run(['run', file, '--out', 'closed']);
      assert.equal(done.code, 3);
      assertPlain(done);
      assert.match(
        done.stdout.replace(/\s+/g, ' '),
        /✗ Could not connect: nothing listens on 127\.0\.0\.1:\d+\. .* refused/,
      );
      assert.equal(own.result('closed').ending, 'targetLost');
    }),
  );

  it(
    'exits with 4 when the generator was the bottleneck',
    withFolder(async (own) => {
      // An echo takes longer than that, but by no more than any generator is late now and then.
      const file = own.scenario('slip.yaml', { target: hub.url, slo: { p50: '10us' } });
      const done = await own.run(['run', file, '--out', 'slip']);
      assert.equal(done.code, 4);
      assertPlain(done);
      // The reason depends on the load of this machine.
      assert.match(done.stdout, /⚠ invalid/);
      const result = own.result('slip');
      assert.equal(result.verdict.status, 'invalid');
      assert.equal(result.steps[0]!.generator.valid, false);
      const isOnlyLate = result.verdict.reasons.every(({ code }) => /^(slip|starved)$/.test(code));
      assert.equal(result.recommendation !== null, isOnlyLate, JSON.stringify(result.verdict));
    }),
  );

  it(
    'exits with 5 and a stack when a worker is lost',
    withFolder(async (own) => {
      for (const file of readdirSync('dist').filter((name) => name.endsWith('.js')))
        copyFileSync(path.resolve('dist', file), path.join(own.path, file));
      const worker = "setTimeout(() => { throw new Error('a defect of the worker'); }, 100);";
      writeFileSync(path.join(own.path, 'worker.js'), worker);
      const file = own.scenario('worker.yaml', { target: hub.url });
      const script = path.join(own.path, 'cli.js');
      const { finished } = startCli(['run', file, '--out', 'worker'], { cwd: own.path, script });
      const done = await finished;
      assert.equal(done.code, 5);
      assert.match(done.stdout.replace(/\s+/g, ' '), /was lost: a defect of the worker Units/);
      assert.match(done.stderr, /at .*worker\.js/);
      assert.equal(own.result('worker').ending, 'workerLost');
    }),
  );

  it('exits with 130 on SIGINT and keeps what was measured', async function () {
    if (process.platform === 'win32') skipAloud(this, noSignals);
    const config = { singleStepDuration: '60s' };
    const file = folder.scenario('stopped.yaml', { target: hub.url, config });
    folder.empty('stopped');
    const run = folder.start(['run', file, '--out', 'stopped']);
    await folder.sampled('stopped', /"received":[1-9]\d\d/, run.finished);
    run.child.kill('SIGINT');
    const done = await run.finished;
    assert.equal(done.code, 130);
    assertPlain(done);
    assert.match(done.stdout, /■ incomplete/);
    const result = folder.result('stopped');
    assert.equal(result.ending, 'interrupted');
    const step = result.steps[0]!;
    assert.equal(step.verdict.status, 'incomplete');
    assert.ok(step.received >= 100, `${step.received} received`);
    assert.equal(step.expected, step.received + step.lost);
  });

  it('leaves its samples when it is killed, and show reads them', async () => {
    const config = { singleStepDuration: '60s' };
    const file = folder.scenario('killed.yaml', { target: hub.url, config });
    folder.empty('killed');
    const run = folder.start(['run', file, '--out', 'killed']);
    await folder.sampled('killed', /"received":[1-9]\d\d/, run.finished);
    run.child.kill('SIGKILL');
    await run.finished;
    const left = readdirSync(path.join(folder.path, folder.onlyResult('killed')));
    assert.deepEqual(left.sort(), ['samples.jsonl', 'scenario.yaml']);
    const shown = await folder.run(['show', folder.onlyResult('killed')]);
    assert.equal(shown.code, 0);
    assertPlain(shown);
    assert.match(shown.stdout, /interrupted/);
    // The last sample's numbers: 20 senders at 400 messages a second.
    assert.match(shown.stdout, /^ {4}1 {6}20 +\d{3}\.\d/m);
  });
});
