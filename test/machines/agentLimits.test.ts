import assert from 'node:assert/strict';
import { exitCode } from '../../src/cli/exitCode';
import { AgentsOnBus, assertMeasured } from './agentsOnBus';

/** What an agent has, and somebody on the bus asks for. */
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
        const agent = cluster.agentUnder([], { run, env: environment });
        const lead = cluster.leadApart(run, 1, leaking, [], { env: environment });
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

  it('is what it was started with', async () => {
    const cluster = await AgentsOnBus.start('', environment);
    try {
      const run = cluster.newId();
      cluster.agent(run, ['--env', 'KEY_OF_MACHINE', '--allow-target', 'other.example']);
      const { code, stderr } = await cluster.lead(run, 1, leaking).finished;
      assertMeasured(code, stderr);
    } finally {
      await cluster.dispose();
    }
  });
});
