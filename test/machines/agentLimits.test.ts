import assert from 'node:assert/strict';
import { exitCode } from '../../src/cli/exitCode';
import { runSubjects } from '../../src/agents/messages';
import { connectBus } from '../../src/run/agentFiles';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';

/** On the agent's machine, and asked for by somebody on the bus. */
const environment = { KEY_OF_MACHINE: 'the value of a key' };

const leaking = {
  useCase: 'connectOnly',
  config: {
    ...{ connections: 2, arrivingRate: 100, singleStepDuration: '1s', warmup: '0s' },
    headers: { 'X-Leak': '${env:KEY_OF_MACHINE}' },
  },
};

describe('what runs get of the environment of an agent', () => {
  for (const [bus, hasUsers] of [
    ['without users', false],
    ['with a token', true],
  ] as const)
    it(`is nothing that it was not started with, on a bus ${bus}`, async () => {
      const cluster = await AgentsOnBus.start('', hasUsers ? {} : undefined);
      try {
        const run = cluster.newId();
        const agent = cluster.agentHere(run, environment);
        const lead = cluster.lead(run, 1, leaking, [], environment);
        const { code, stderr, stdout } = await lead.finished;
        const said = await agent.finished;
        assert.equal(code, exitCode.badInput, stderr);
        assert.match(stderr, /refers to KEY_OF_MACHINE/);
        assert.match(
          stderr,
          hasUsers ? /start it with --env KEY_OF_MACHINE/ : /Give the bus users/,
        );
        assert.equal(/The bus has no users/.test(said.stderr), !hasUsers, said.stderr);
        assert.doesNotMatch(stderr + stdout + said.stderr, /the value of/);
      } finally {
        await cluster.dispose();
      }
    });

  it('keeps no agent from the next run, where it waits for any', async () => {
    const cluster = await AgentsOnBus.start('', environment);
    try {
      const agent = cluster.agentUnder([]);
      const refused = await cluster.lead(cluster.newId(), 1, leaking).finished;
      assert.equal(refused.code, exitCode.badInput, refused.stderr);
      const config = { ...leaking.config, headers: {} };
      const next = await cluster.lead(cluster.newId(), 1, { ...leaking, config }).finished;
      assertMeasured(next.code, next.stderr);
      agent.child.kill('SIGTERM');
      const { code, stderr } = await agent.finished;
      assert.equal(code, exitCode.done, stderr);
      assert.match(stderr, /this agent cannot take part: the run refers to KEY_OF_MACHINE/);
    } finally {
      await cluster.dispose();
    }
  });
});

describe('where an agent sends load', () => {
  it('is no host that it was not started with', async () => {
    const cluster = await AgentsOnBus.start();
    try {
      const run = cluster.newId();
      const flags = ['--allow-target', 'other.example'];
      const agent = cluster.agentUnder([], { run, flags });
      const test = { ...leaking, target: 'http://hub.invalid/hub' };
      const config = { ...leaking.config, headers: {} };
      const lead = await cluster.lead(run, 1, { ...test, config }, ['--yes']).finished;
      assert.equal(lead.code, exitCode.badInput, lead.stderr);
      assert.match(lead.stderr, /gets no load from this agent: start it with --allow-target/);
      assert.match((await agent.finished).stderr, /gets no load from this agent/);
    } finally {
      await cluster.dispose();
    }
  });
});

describe('an agent that somebody on the bus writes 800 KB to', () => {
  it('goes on, and leaves at Ctrl+C', async () => {
    const cluster = await AgentsOnBus.start();
    const bus = await connectBus({ url: cluster.bus.url, name: 'somebody' });
    try {
      const run = cluster.newId();
      let asked = 0;
      bus.answer(runSubjects(run).join, () => {
        asked += 1;
        return JSON.stringify({ refused: '-eyJ'.repeat(200_000) });
      });
      const agent = cluster.agent(run);
      await agent.said(`waiting for run ${run}`);
      agent.child.kill('SIGINT');
      const { code, stderr } = await agent.finished;
      assert.deepEqual([code, asked > 0], [exitCode.done, true], stderr.slice(0, 2000));
      assert.match(stderr, /left the run/);
      assert.ok(stderr.length < 2000, `${stderr.length} characters`);
    } finally {
      await bus.close();
      await cluster.dispose();
    }
  });
});
