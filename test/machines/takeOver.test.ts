import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import { skipAnywhere } from '../fakes/skipAloud';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';
import { clockAhead, noClockSpace } from './clockSpace';

describe('a run whose coordinator is killed', () => {
  let cluster: AgentsOnBus;

  before(async () => {
    cluster = await AgentsOnBus.start();
  });
  after(() => cluster.dispose());

  it('goes on with the next one, from where it is, and loses no message', async () => {
    const run = cluster.newId();
    const agents = [1, 2].map(() => cluster.agentHere(run));
    const times = { singleStepDuration: '8s', warmup: 0, workers: 1 };
    const config = { ...times, baseSending: 10, step: 10, sendingSteps: 2 };
    const test = { useCase: 'broadcast', config };
    const flags = ['--publish', '--keep-going'];
    const first = cluster.leadApart(run, 2, test, flags);
    await cluster.folder.sampled(run, /"received":[1-9]/, first.finished);
    const viewer = cluster.attach(run, 'seen');
    await viewer.said('measuring');
    first.child.kill('SIGKILL');
    await first.finished;
    const [own = ''] = readdirSync(path.join(cluster.folder.path, run));
    const next = cluster.lead(run, 2, test, flags);
    const led = await next.finished;
    assert.ok(led.stdout.startsWith('{'), led.stderr);
    const seen = await viewer.finished;
    assertMeasured(led.code, led.stderr);
    assert.match(led.stderr, /goes on; the process that led it before is gone$/m);
    const result = JSON.parse(led.stdout) as Result;
    assert.deepEqual(
      result.steps.map(({ offered, sent, expected, received, lost }) => [
        ...[offered, sent, expected, received, lost],
      ]),
      // 10, then 20 senders, a message each 50 ms, to 20 connections.
      [1, 2].map((step) => [1600 * step, 1600 * step, 32_000 * step, 32_000 * step, 0]),
    );
    assert.deepEqual(
      result.agents?.map(({ status }) => status),
      ['done', 'done'],
    );
    assert.equal(seen.code, led.code, seen.stderr);
    assert.deepEqual({ ...(JSON.parse(seen.stdout) as Result), id: '' }, { ...result, id: '' });
    const ends = await Promise.all(agents.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map(({ code }) => code),
      [0, 0],
    );
    // What the first one had on its disk is read as that of any run that was broken off.
    const shown = await cluster.folder.run(['show', path.join(run, own)]);
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /interrupted/i);
  });

  it('goes on with one that has another clock, which asks the agents for the time of the run', async function () {
    const why = noClockSpace();
    if (why !== undefined) skipAnywhere(this, `no clock can be shifted here: ${why}`);
    const run = cluster.newId();
    // One reads the clock of the first coordinator, the other one knows it by asking.
    const agents = [cluster.agentHere(run), cluster.agentUnder(clockAhead(77), { run })];
    const times = { singleStepDuration: '9s', warmup: 0, workers: 1 };
    const config = { ...times, baseSending: 5, step: 5, sendingSteps: 2 };
    const test = { useCase: 'broadcast', config };
    const first = cluster.leadApart(run, 2, test, ['--keep-going']);
    await cluster.folder.sampled(run, /"received":[1-9]/, first.finished);
    first.child.kill('SIGKILL');
    await first.finished;
    const next = cluster.leadApart(run, 2, test, ['--keep-going'], {
      under: clockAhead(500),
    });
    const { code, stdout, stderr } = await next.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    assertMeasured(code, stderr);
    const result = JSON.parse(stdout) as Result;
    assert.deepEqual(
      result.steps.map(({ offered, sent, expected, received, lost }) => [
        ...[offered, sent, expected, received, lost],
      ]),
      [1, 2].map((step) => [900 * step, 900 * step, 18_000 * step, 18_000 * step, 0]),
    );
    for (const { status, clockErrorUs, clockJumps = 0 } of result.agents ?? []) {
      assert.deepEqual([status, clockJumps], ['done', 0]);
      assert.ok(clockErrorUs > 0, 'the time was found again with an error');
    }
    assert.ok(result.steps.every(({ clockErrorUs = 0 }) => clockErrorUs > 0));
    const reasons = result.steps.flatMap(({ verdict }) => verdict.reasons);
    assert.ok(
      reasons.every(({ code: of }) => !of.startsWith('clock')),
      JSON.stringify(reasons),
    );
    const ends = await Promise.all(agents.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map((end) => end.code),
      [0, 0],
    );
  });

  it('is ended in order by one with another clock where connections come and go', async function () {
    const why = noClockSpace();
    if (why !== undefined) skipAnywhere(this, `no clock can be shifted here: ${why}`);
    const run = cluster.newId();
    const agent = cluster.agentHere(run);
    const times = { singleStepDuration: '3s', warmup: 0, workers: 1, lifetime: '20s' };
    const test = { config: { ...times, baseSending: 10, step: 5, sendingSteps: 3 } };
    const first = cluster.leadApart(run, 1, test, ['--keep-going']);
    await cluster.folder.sampled(run, /"index":2[^}]*"received":[1-9]/, first.finished);
    first.child.kill('SIGKILL');
    await first.finished;
    const next = cluster.leadApart(run, 1, test, ['--keep-going'], {
      under: clockAhead(500),
    });
    const { code, stdout, stderr } = await next.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    const { ending, endingMessage, verdict, steps, agents } = JSON.parse(stdout) as Result;
    assert.deepEqual([code, ending, verdict.status], [6, 'workerLost', 'incomplete'], stderr);
    assert.match(endingMessage ?? '', /process that led the run was lost.*has another clock/);
    const [over, cut, ...more] = steps;
    assert.match(over!.verdict.status, /^(pass|invalid)$/);
    // Who is away for a moment has nothing to send; on a busy machine that is longer.
    assert.ok(over!.offered > 300 && over!.offered <= 600, String(over!.offered));
    assert.deepEqual([over!.received, over!.lost], [over!.offered, 0]);
    assert.deepEqual([cut!.verdict.status, more.length], ['incomplete', 0]);
    assert.ok(cut!.received > 0, 'what was measured of it is there');
    assert.deepEqual(
      agents?.map(({ status }) => status),
      ['done'],
    );
    assert.equal((await agent.finished).code, 0);
  });
});
