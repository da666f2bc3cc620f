import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';

describe('a run that is looked at from elsewhere', () => {
  let cluster: AgentsOnBus;

  before(async () => {
    cluster = await AgentsOnBus.start();
  });
  after(() => cluster.dispose());

  it('is shown from its begin, may be left and looked at again, and gives one result', async () => {
    const run = cluster.newId();
    const agent = cluster.agentHere(run);
    const config = { singleStepDuration: '4s', warmup: 0, workers: 1 };
    const leading = cluster.lead(run, 1, { config }, ['--publish']);
    await leading.said('measuring');
    const first = cluster.attach(run, 'first');
    await first.said('measuring');
    first.signal('SIGINT');
    const { code, stderr } = await first.finished;
    assert.equal(code, 130);
    assert.match(stderr, new RegExp(`^The run goes on; look at it again: attach ${run}$`, 'm'));
    const [again, led] = await Promise.all([
      cluster.attach(run, 'again').finished,
      leading.finished,
    ]);
    await agent.finished;
    assertMeasured(led.code, led.stderr);
    assert.equal(again.code, led.code, again.stderr);
    const [seen, own] = [again, led].map(({ stdout }) => JSON.parse(stdout) as Result);
    assert.deepEqual({ ...seen, id: '' }, { ...own, id: '' });
    const [name = ''] = readdirSync(path.join(cluster.folder.path, 'again'));
    const samples = cluster.folder.read('again', name, 'samples.jsonl');
    const [ownName = ''] = readdirSync(path.join(cluster.folder.path, run));
    assert.equal(samples, cluster.folder.read(run, ownName, 'samples.jsonl'));
    assert.equal(
      cluster.folder.read('again', name, 'scenario.yaml'),
      cluster.folder.read(run, ownName, 'scenario.yaml'),
    );
  });

  it('says from afar why it was not started', async () => {
    const run = cluster.newId();
    const flags = ['--publish', '--join-within', '3s'];
    const leading = cluster.lead(run, 1, { config: { workers: 1 } }, flags);
    await leading.said('waits for 1 agent');
    const { code, stderr } = await cluster.attach(run, 'none').finished;
    assert.equal(code, 2);
    assert.match(stderr, /0 of 1 agents came within 3 s; nothing was started\./);
    assert.equal((await leading.finished).code, 6);
  });

  it('that there is not is named', async () => {
    const { code, stderr } = await cluster.attach('no-such-run', 'none').finished;
    assert.equal(code, 2);
    assert.match(
      stderr,
      /There is no run no-such-run on the bus\. One that is over is gone: its result is in/,
    );
  });
});
