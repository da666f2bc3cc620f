import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import type { Result } from '../../src/results/result';
import { skipAnywhere } from '../fakes/skipAloud';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';
import { LinkedMachine } from './links';

const cutMs = 6500;

describe('whoever has a link to the bus that is taken down', () => {
  let cluster: AgentsOnBus;
  let machine: LinkedMachine;

  before(async function () {
    try {
      machine = LinkedMachine.make();
    } catch (error) {
      skipAnywhere(this, `no link can be made here: ${String(error)}`);
    }
    cluster = await AgentsOnBus.start();
  });
  after(async () => {
    await (cluster as AgentsOnBus | undefined)?.dispose();
    (machine as LinkedMachine | undefined)?.dispose();
  });

  const reached = () =>
    Promise.all([machine.reach('load', cluster.hub.url), machine.reach('bus', cluster.bus.url)]);

  async function start(run: string, step: object) {
    const [target, bus] = await reached();
    const near = cluster.agentHere(run);
    const env = { SIGNALR_BENCH_BUS: bus };
    const far = cluster.agentUnder(machine.under, { run, env });
    const config = { warmup: 0, workers: 1, connections: 10, baseSending: 4, ...step };
    const test = { target, useCase: 'broadcast', config };
    const leading = cluster.lead(run, 2, test, ['--keep-going', '--yes']);
    await cluster.folder.sampled(run, /"received":[1-9]/, leading.finished);
    machine.set('bus', 'down');
    return { leading, near, far };
  }

  it('and is an agent is waited for where that comes back, and all that it has measured counts', async () => {
    const { leading, near, far } = await start(cluster.newId(), {
      singleStepDuration: '10s',
      // Ends when everything has come: TCP's retries find a link again late.
      drain: '60s',
    });
    await pause(cutMs);
    machine.set('bus', 'up');
    const { code, stdout, stderr } = await leading.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    assertMeasured(code, stderr);
    const { steps, agents } = JSON.parse(stdout) as Result;
    const [{ offered, sent, expected, received, lost }] = steps as [Result['steps'][0]];
    assert.deepEqual([offered, sent, expected, received, lost], [800, 800, 8000, 8000, 0]);
    assert.deepEqual(
      agents?.map(({ status }) => status),
      ['done', 'done'],
    );
    const ends = await Promise.all([near, far].map(({ finished }) => finished));
    assert.deepEqual(
      ends.map((end) => end.code),
      [0, 0],
    );
  });

  it('and leads the run hears all that was said meanwhile', async () => {
    const run = cluster.newId();
    const [target, bus] = await reached();
    const agent = cluster.agentHere(run);
    const config = { singleStepDuration: '9s', warmup: 0, workers: 1, connections: 10 };
    const test = {
      target,
      useCase: 'broadcast',
      config: { ...config, baseSending: 4, drain: '60s' },
    };
    const env = { SIGNALR_BENCH_BUS: bus };
    const flags = ['--keep-going', '--yes'];
    const leading = cluster.leadApart(run, 1, test, flags, { under: machine.under, env });
    await cluster.folder.sampled(run, /"received":[1-9]/, leading.finished);
    machine.set('bus', 'down');
    await pause(cutMs);
    machine.set('bus', 'up');
    const { code, stdout, stderr } = await leading.finished;
    assert.ok(stdout.startsWith('{'), stderr);
    assertMeasured(code, stderr);
    const { steps, agents } = JSON.parse(stdout) as Result;
    const [{ offered, sent, expected, received, lost }] = steps as [Result['steps'][0]];
    assert.deepEqual([offered, sent, expected, received, lost], [720, 720, 7200, 7200, 0]);
    assert.deepEqual(
      agents?.map(({ status }) => status),
      ['done'],
    );
    assert.equal((await agent.finished).code, 0);
  });
});
