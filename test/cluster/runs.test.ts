import assert from 'node:assert/strict';
import type { Result } from '../../src/results/result';
import type { CliResult } from '../fakes/loadCli';
import { assertExact, onlyStep } from '../load/loadRun';
import { assertMeasured } from '../machines/agentsOnBus';
import { killProcessOf, RealCluster } from './realCluster';

const config = { workers: 1, baseSending: 9 };
/** Long enough to have something happen in the middle. */
const long = { ...config, singleStepDuration: '8s', warmup: '200ms' };

const resultOf = ({ stdout, stderr }: CliResult): Result => {
  assert.ok(stdout.startsWith('{'), stderr);
  return JSON.parse(stdout) as Result;
};

describe('a run in a real cluster', () => {
  let cluster: RealCluster;
  const load = 'load';

  before(async () => {
    cluster = await RealCluster.start();
    await cluster.namespace(load);
  });
  after(() => cluster.dispose());

  it('counts exactly on all nodes, shows itself here, and leaves nothing', async () => {
    const run = cluster.newId();
    const startedMs = performance.now();
    const going = cluster.run(load, run, { useCase: 'broadcast', config });
    await going.said('measuring');
    const tookS = (performance.now() - startedMs) / 1000;
    process.stdout.write(`      start to the first message: ${tookS.toFixed(1)} s\n`);
    const ended = await going.finished;
    const left = await cluster.left(load, run);
    assertMeasured(ended.code, ended.stderr);
    const result = resultOf(ended);
    assertExact(onlyStep(result), 90, 1800);
    const { agents = [] } = result;
    assert.deepEqual(
      agents.map(({ index, status }) => [index, status]),
      [1, 2, 3].map((index) => [index, 'done']),
    );
    assert.deepEqual(
      [...new Set(agents.map(({ node }) => node))].sort(),
      cluster.nodes,
      'one node after the other gets an agent',
    );
    const bounds = agents.map(({ clockErrorUs }) => clockErrorUs);
    process.stdout.write(`      bounds of the clocks: ${bounds.join(', ')} µs\n`);
    assert.ok(
      bounds.includes(0) && Math.max(...bounds) > 0,
      'one clock is that of the coordinator',
    );
    assert.deepEqual(left, []);
    assert.match(ended.stderr, new RegExp(`[Rr]un ${run} has left nothing in the cluster`));
  });

  it('names an agent that dies in mid-step, keeps what the others measured, and never passes', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { config: long }, ['--agent-timeout', '6s']);
    await going.said('measuring');
    const [victim] = await cluster.pods(load, 'agents');
    killProcessOf(victim!);
    const ended = await going.finished;
    assert.equal(ended.code, 6, ended.stderr);
    const result = resultOf(ended);
    assert.equal(result.verdict.status, 'incomplete');
    assert.deepEqual(result.agents?.map(({ status }) => status).sort(), ['done', 'done', 'lost']);
    const { received, expected, lost } = onlyStep(result);
    assert.ok(received > 0 && lost === 0, `${received} of ${expected}, ${lost} lost`);
    assert.deepEqual(await cluster.left(load, run), []);
  });

  it('whose coordinator dies ends, keeps here what was seen of it, and leaves nothing', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { config: { ...long, singleStepDuration: '12s' } });
    await going.said('measuring');
    const [lead] = await cluster.pods(load, 'lead');
    killProcessOf(lead!);
    const { code, stderr } = await going.finished;
    assert.equal(code, 6, stderr);
    assert.match(stderr, /The process that led run \S+ was lost/);
    assert.match(stderr, /What was seen of the run is kept in \S+\./);
    assert.deepEqual(await cluster.left(load, run), []);
  });

  it('counts all where its bus is made again without what it had kept', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { config: { ...long, singleStepDuration: '12s' } });
    await going.said('measuring');
    const [bus] = await cluster.pods(load, 'bus');
    const name = bus!.metadata!.name!;
    await cluster.kubectl(['delete', 'pod', name, '--namespace', load, '--wait=false']);
    const ended = await going.finished;
    assertMeasured(ended.code, ended.stderr);
    assertExact(onlyStep(resultOf(ended)), 9 * 240, 9 * 240);
    assert.deepEqual(await cluster.left(load, run), []);
  });

  it('ends in order where a node is drained: its agents leave with what they have measured', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { config: long });
    await going.said('measuring');
    const agents = await cluster.pods(load, 'agents');
    const node = agents[0]!.spec!.nodeName!;
    const there = agents.filter(({ spec }) => spec?.nodeName === node).length;
    const only = '--pod-selector=app.kubernetes.io/component=agents';
    await cluster.kubectl(['drain', node, only, '--delete-emptydir-data', '--force']);
    try {
      const ended = await going.finished;
      assert.equal(ended.code, 6, ended.stderr);
      const result = resultOf(ended);
      assert.equal(result.verdict.status, 'incomplete');
      const statuses = result.agents?.map(({ status }) => status) ?? [];
      assert.equal(statuses.filter((status) => status === 'left').length, there);
      assert.equal(statuses.filter((status) => status === 'done').length, 3 - there);
      assert.deepEqual(await cluster.left(load, run), []);
    } finally {
      await cluster.kubectl(['uncordon', node]);
    }
  });

  it('that finds no room under a quota says so, and leaves nothing', async () => {
    const small = await cluster.namespace('small');
    const quota = ['create', 'quota', 'few', '--hard=pods=3', '--namespace', small];
    await cluster.kubectl(quota);
    const run = cluster.newId();
    const going = cluster.run(small, run, { config });
    await going.said(/quota/i);
    going.child.kill('SIGINT');
    const { code } = await going.finished;
    assert.notEqual(code, 0);
    assert.deepEqual(await cluster.left(small, run), []);
  });
});
