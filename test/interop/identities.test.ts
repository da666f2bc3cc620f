import assert from 'node:assert/strict';
import type { Scenario } from '../../src/scenario/scenario';
import {
  assertConsistent,
  assertUndisturbed,
  onlyStep,
  runScenario,
  scenarioOf,
  scenarioText,
} from '../load/loadRun';
import { requireAspNet, startAspNetServer, type AspNetServer } from './aspnetServer';

const connections = 6;
const key = 'the signing key of the tests, which is long enough for any algorithm';
const claims = { issuer: 'https://login.example', audience: 'chat' };

const sessions = {
  useCase: 'session',
  parameters: {
    ...{ messageSize: undefined, sendingInterval: undefined, sessionInterval: '100ms' },
    steps: [
      { call: 'WhoAmI', keep: { me: '$' } },
      { call: 'Confirm', arguments: ['{me}'] },
      { call: 'Confirm', arguments: ['{identity.user}'] },
    ],
  },
};

const identities = { rule: 'user-{index}', key: '${secret:signing-key}', ...claims };

interface Users {
  readonly connected: Readonly<Record<string, number>>;
  readonly tokens: Readonly<Record<string, number>>;
}

const sum = (counts: Readonly<Record<string, number>>): number =>
  Object.values(counts).reduce((total, each) => total + each, 0);

describe('identities of an ASP.NET Core server', function () {
  let server: AspNetServer;
  before(async function () {
    requireAspNet(this);
    server = await startAspNetServer({ auth: 'jwt', token: key, ...claims });
  });
  // Skipped without it.
  after(() => (server as AspNetServer | undefined)?.dispose());

  const scenarioWith = (config: Readonly<Record<string, unknown>>): Scenario =>
    scenarioOf(
      scenarioText({
        ...{ target: new URL('/signedin', server.url).href, ...sessions },
        config: { connections, warmup: 0, singleStepDuration: '300ms', ...config },
      }),
    );

  /** How often those whose names begin so have connected, and how many tokens they had. */
  async function users(prefix: string): Promise<Users> {
    const all = (await (await fetch(new URL('/users', server.url))).json()) as Users;
    const named = (counts: Users['tokens']): Users['tokens'] =>
      Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith(prefix)));
    return { connected: named(all.connected), tokens: named(all.tokens) };
  }

  it('are users that it knows by their names, one for each connection, over every transport', async () => {
    const transports = ['Websockets', 'ServerSentEvents', 'LongPolling'];
    await Promise.all(
      transports.map(async (transport, position) => {
        const rule = `${transport}-{index}`;
        const own = { ...identities, rule };
        const result = await runScenario(
          scenarioWith({ transport, skipNegotiation: false, identities: own }),
          { workers: 1 + (position % 2) },
          { 'signing-key': key },
        );
        assertUndisturbed(result);
        // Each call would have failed that was not of the user whose connection it is.
        const { sent, received, sessions: counted } = onlyStep(result);
        assert.deepEqual([counted!.started, counted!.brokenOff], [3 * connections, 0]);
        // Where answers take their time, some are still waiting for their turn when the step ends.
        const begun = 3 * connections - (counted!.waiting ?? 0);
        assert.ok(sent >= begun && received === sent, `${received} of ${sent}`);
      }),
    );
    for (const transport of transports) {
      const each = Array.from({ length: connections }, (_, index) => [`${transport}-${index}`, 1]);
      assert.deepEqual((await users(transport)).connected, Object.fromEntries(each));
    }
  });

  it('that another key signs, or that are for somebody else, are refused in their class', async () => {
    const wrong = [
      ['chat', 'another key'],
      ['shop', key],
    ] as const;
    for (const [audience, signedBy] of wrong) {
      const own = { ...identities, rule: 'nobody-{index}', audience };
      const scenario = scenarioWith({ identities: own });
      const refused = await runScenario(scenario, {}, { 'signing-key': signedBy });
      assert.equal(refused.ending, 'targetLost');
      assert.deepEqual(refused.errors, { unauthorized: connections });
      assert.match(refused.errorExamples[0]!.text, /401/);
    }
    assert.deepEqual(await users('nobody'), { connected: {}, tokens: {} });
  });

  it('have a new token each time they connect again when theirs has ended their connection', async () => {
    const scenario = scenarioWith({ repair: true, singleStepDuration: '60s', identities });
    assert.ok(scenario.identities?.kind === 'rule');
    // Shorter than what may be written in a file.
    const brief = { ...scenario, identities: { ...scenario.identities, lifetimeMs: 2000 } };
    const result = await runScenario(
      brief,
      {
        workers: 2,
        during: (run) =>
          run.onSnapshot(({ connections: { reconnected = 0, takingPart } }) => {
            // All are open, and one that is ended now waits a second before it connects again.
            if (takingPart === connections && reconnected >= 2 * connections) run.stop('stopped');
          }),
      },
      { 'signing-key': key },
    );
    assertConsistent(result);
    const { connected, reconnected } = result.connections;
    assert.equal(connected, connections);
    assert.equal(result.errors['unauthorized'], undefined, JSON.stringify(result.errors));
    const seen = await users('user-');
    // One token for each time, and none that was over.
    assert.equal(sum(seen.connected), connected + reconnected);
    assert.deepEqual(seen.tokens, seen.connected);
    assert.equal(Object.keys(seen.connected).length, connections);
  });
});
