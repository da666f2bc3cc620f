import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';

const minute = { singleStepDuration: '60s', warmup: 0, workers: 1 };

describe('agents that are lost', () => {
  let cluster: AgentsOnBus;

  beforeEach(async () => {
    cluster = await AgentsOnBus.start();
  });
  afterEach(() => cluster.dispose());

  it('by SIGKILL leave a step that says so and never passes, and those before it as they were', async () => {
    const run = cluster.newId();
    const [first] = [1, 2].map(() => cluster.agent(run));
    const config = { singleStepDuration: '3s', warmup: 0, workers: 1, baseSending: 4, step: 4 };
    const test = { useCase: 'broadcast', config: { ...config, sendingSteps: 3 } };
    const leading = cluster.lead(run, 2, test, ['--agent-timeout', '8s', '--keep-going']);
    await cluster.folder.sampled(run, /"index":2[^}]*"received":[1-9]/, leading.finished);
    first!.child.kill('SIGKILL');
    // A replacement finds the place taken.
    const replacement = await cluster.agentHere(run).finished;
    assert.equal(replacement.code, 0);
    assert.match(replacement.stderr, /every place of the run is taken/);
    const { code, stdout, stderr } = await leading.finished;
    const result = JSON.parse(stdout) as Result;
    assert.equal(code, 6, stderr);
    assert.equal(result.ending, 'workerLost');
    assert.match(result.endingMessage ?? '', /was silent for \d+ s/);
    assert.deepEqual(result.agents?.map(({ status }) => status).sort(), ['done', 'lost']);
    // On a busy machine the load may not have left in time, which is said first.
    const [before, during, ...after] = result.steps.map(({ verdict }) => verdict.status);
    assert.match(`${before} ${during} ${after.length}`, /^(pass|invalid) (incomplete|invalid) 0$/);
    assert.match(result.verdict.status, /^(incomplete|invalid)$/);
    const [whole] = result.steps;
    assert.deepEqual([whole!.received, whole!.lost], [whole!.expected, 0]);
  });

  it('because they stand still make their step invalid, and lose nothing', async () => {
    const run = cluster.newId();
    const [first] = [1, 2].map(() => cluster.agent(run));
    const config = { singleStepDuration: '5s', warmup: 0, workers: 1, baseSending: 4 };
    const leading = cluster.lead(run, 2, { useCase: 'broadcast', config });
    await cluster.folder.sampled(run, /"received":[1-9]/, leading.finished);
    first!.child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, 3000));
    first!.child.kill('SIGCONT');
    const { code, stdout, stderr } = await leading.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    const { steps, agents } = JSON.parse(stdout) as Result;
    const [{ verdict, offered, expected, received }] = steps as [Result['steps'][0]];
    assert.deepEqual([code, verdict.status], [4, 'invalid'], stderr);
    assert.equal(verdict.reasons[0]?.code, 'suspended', stderr);
    assert.deepEqual([offered, received], [400, expected]);
    assert.deepEqual(
      agents?.map(({ status }) => status),
      ['done', 'done'],
    );
  });

  it('by none, but without a target, end with that', async () => {
    const run = cluster.newId();
    const agents = [1, 2].map(() => cluster.agentHere(run));
    const leading = cluster.lead(run, 2, { config: minute });
    await cluster.folder.sampled(run, /"received":[1-9]/, leading.finished);
    await cluster.hub.dispose();
    const { code, stdout, stderr } = await leading.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    const { ending, agents: all } = JSON.parse(stdout) as Result;
    assert.deepEqual([code, ending], [3, 'targetLost'], stderr);
    assert.deepEqual(
      all?.map(({ status }) => status),
      ['done', 'done'],
    );
    const ends = await Promise.all(agents.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map((end) => end.code),
      [0, 0],
    );
  });

  it('with the coordinator stop sending by themselves', async () => {
    const run = cluster.newId();
    const agent = cluster.agent(run, ['--alone-after', '6s']);
    const leading = cluster.leadApart(run, 1, { config: minute }, ['--publish']);
    // What stands on the disk of the coordinator is on its way to the bus; that of seconds before has come there.
    const seconds = /(?:"received":[1-9][^\n]*\n[^\n]*){3}/;
    await cluster.folder.sampled(run, seconds, leading.finished);
    leading.child.kill('SIGKILL');
    await leading.finished;
    const { code, stderr } = await agent.finished;
    assert.equal(code, 5, stderr);
    assert.match(stderr, /stopped by itself: nothing was heard of the coordinator for 6 s/);
    const viewing = cluster.attach(run, 'seen');
    await cluster.folder.sampled('seen', /"received":[1-9]/, viewing.finished);
    viewing.signal('SIGINT');
    assert.equal((await viewing.finished).code, 130);
    for (const folder of [run, 'seen']) {
      const [own = ''] = readdirSync(path.join(cluster.folder.path, folder));
      const shown = await cluster.folder.run(['show', path.join(folder, own)]);
      assert.equal(shown.code, 0, shown.stderr);
      assert.match(shown.stdout, /interrupted/i);
    }
    const again = await cluster.lead(run, 1, { config: minute }).finished;
    assert.equal(again.code, 2);
    assert.match(again.stderr, /was begun by another process: look at it \(attach [\w-]+\), or/);
  });

  it('from the bus for a while lose nothing, also when it is replaced by an empty one', async () => {
    const run = cluster.newId();
    const agents = [1, 2].map(() => cluster.agentHere(run));
    const config = { singleStepDuration: '6s', warmup: 0, workers: 1, baseSending: 4 };
    const leading = cluster.lead(run, 2, { useCase: 'broadcast', config }, ['--keep-going']);
    await cluster.folder.sampled(run, /"received":[1-9]/, leading.finished);
    await cluster.bus.replace();
    const { code, stdout, stderr } = await leading.finished;
    assertMeasured(code, stderr);
    const { steps, agents: all } = JSON.parse(stdout) as Result;
    assert.deepEqual(
      all?.map(({ status }) => status),
      ['done', 'done'],
    );
    const [{ offered, sent, expected, received, lost }] = steps as [Result['steps'][0]];
    assert.deepEqual([offered, sent, expected, received, lost], [480, 480, 9600, 9600, 0]);
    const ends = await Promise.all(agents.map(({ finished }) => finished));
    assert.deepEqual(
      ends.map((end) => end.code),
      [0, 0],
    );
  });
});
