import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { createAgentParts } from '../../../../src/agents/agent/ownParts';
import type { RunOrder } from '../../../../src/agents/messages';
import { parseScenario } from '../../../../src/scenario/parseScenario';
import { openTarget } from '../../../../src/targets/openTarget';

const environment: Readonly<Record<string, string>> = {
  AWS_SECRET_ACCESS_KEY: 'value of another program',
  SIGNALR_BENCH_BUS_PASSWORD: 'value of the bus',
  SIGNALR_BENCH_SECRET_HUB: 'value of a secret',
  NAMED: 'value that is given',
  HTTPS_PROXY: 'http://user:value@proxy.example',
  NO_PROXY: '*',
};

/** Places of a scenario that a value of the environment comes to. */
const places = [
  'headers: { X-Leak: "REFERENCE" }',
  'query: { leak: "REFERENCE" }',
  'accessToken: REFERENCE',
  'target: https://hub.example/REFERENCE',
  'target: https://REFERENCE/hub',
  'target: REFERENCE',
  'target: "Endpoint=https://hub.example;AccessKey=REFERENCE;Version=1.0;"',
  'target: "Endpoint=https://REFERENCE;AccessKey=a2V5;Version=1.0;"',
  'certFile: a.pem\n  keyPassword: REFERENCE',
  'identities: { rule: "a-{index}", key: "REFERENCE" }',
] as const;

async function opened(
  config: string,
  { env = [], targets = [], hasUsers = true }: Partial<AgentWishes> = {},
): Promise<{ seen: string; problem?: string }> {
  const text = `config:\n  target: https://hub.example/hub\n  connections: 1\n  ${config}\nscenario: { name: connectOnly }\n`;
  const own = config.startsWith('target:') ? text.replace(/ {2}target: https:.*\n/, '') : text;
  const { scenario } = parseScenario(own);
  assert.ok(scenario, own);
  const parts = createAgentParts({
    ...{
      parse: () => Promise.resolve(scenario),
      openTarget,
      workerScript: '',
      serverScript: '/nowhere/server.js',
    },
    environment: (name) => environment[name],
    limits: { env, targets },
    bus: { requiresKey: hasUsers },
  });
  const order = { text: own, overrides: [], files: { 'a.pem': '' } } as unknown as RunOrder;
  try {
    const target = await parts.openTarget(scenario, order);
    await target.dispose();
    return { seen: JSON.stringify({ ...target.endpoint, proxies: undefined }) };
  } catch (error) {
    assert.ok(error instanceof ExpectedError, String(error));
    return { seen: error.message, problem: error.code };
  }
}

interface AgentWishes {
  readonly env: readonly string[];
  readonly targets: readonly string[];
  readonly hasUsers: boolean;
}

const values = Object.values(environment).slice(0, 4);

describe('an agent', () => {
  it('gives a run what is meant for runs, wherever its scenario asks for more', async () => {
    const references = Object.keys(environment).map((name) => `\${env:${name}}`);
    for (const place of places)
      for (const reference of [...references, '${secret:hub}'])
        for (const hasUsers of [true, false]) {
          const config = place.replace('REFERENCE', reference);
          const isGiven = hasUsers && /SECRET_HUB|secret:hub|NAMED/.test(reference);
          const { seen, problem } = await opened(config, { env: ['NAMED'], hasUsers });
          if (isGiven) assert.notEqual(problem, 'agent-environment');
          else {
            for (const value of [...values, 'value of'])
              assert.ok(!seen.includes(value), `${config}: ${seen}`);
            assert.equal(problem, 'agent-environment', `${config}: ${seen}`);
          }
        }
  });

  it('says which variables it gives to no run, and what to do', async () => {
    const { seen } = await opened('headers: { A: "${env:AWS_SECRET_ACCESS_KEY}${env:NAMED}" }');
    assert.equal(
      seen,
      'the run refers to AWS_SECRET_ACCESS_KEY and NAMED, which this agent gives to no run: start it with --env AWS_SECRET_ACCESS_KEY --env NAMED, or use names that begin with SIGNALR_BENCH_SECRET_',
    );
    const open = await opened('accessToken: ${secret:hub}', { hasUsers: false });
    assert.equal(
      open.seen,
      'the run refers to SIGNALR_BENCH_SECRET_HUB, and the bus has no users: whoever reaches it could take what this agent knows. Give the bus users or a token, as docs/machines.md says',
    );
    const signsIn = 'target: "Endpoint=https://a.service.signalr.net;AuthType=azure;"';
    const asItself = await opened(signsIn, { hasUsers: false });
    assert.equal(asItself.problem, 'sign-in');
    assert.match(asItself.seen, /signs in as this agent, and the bus has no users/);
  });

  it('sends load to the hosts that it may, and to itself, without a word on others', async () => {
    const targets = ['hub.example', 'other.example:8443'];
    for (const [config, isAllowed] of [
      ['target: https://hub.example/hub', true],
      ['target: http://HUB.example:81/hub', true],
      ['target: https://other.example:8443/hub', true],
      ['target: http://127.0.0.1:1/hub', true],
      ['target: https://other.example/hub', false],
      ['target: [https://hub.example/hub, https://a.hub.example/hub]', false],
      ['target: https://hub.example@evil.example/hub', false],
      ['target: "Endpoint=https://evil.example;AccessKey=a2V5;Version=1.0;"', false],
      [
        'target: "Endpoint=https://hub.example;ServerEndpoint=https://evil.example;AccessKey=a2V5;Version=1.0;"',
        false,
      ],
      ['target: "https://${secret:hub}.evil.example/hub"', false],
      ['target: "Endpoint=https://hub.example;AuthType=azure;"', false],
      ['target: "Endpoint=https://hub.example;AuthType=azure.msi;"', false],
    ] as const) {
      const { seen, problem } = await opened(config, { targets });
      assert.equal(
        problem !== 'target-host' && problem !== 'target-url',
        isAllowed,
        `${config}: ${seen}`,
      );
      if (!isAllowed) assert.doesNotMatch(seen, /evil|value/);
      else assert.match(seen, /"allowedHosts":\["hub.example"/);
    }
  });

  it('signs nobody in where it may not go', async () => {
    for (const [type, others, said] of [
      ['azure', [], /signs in at login\.microsoftonline\.com, .* --allow-target login\.micro/],
      ['azure', ['login.microsoftonline.com'], /signs in at 169\.254\.169\.254, /],
      ['azure.msi', [], /signs in at 169\.254\.169\.254, /],
      // Its host is asked about next.
      ['azure.msi', ['169.254.169.254'], /hub\.example|Endpoint/],
    ] as const) {
      const target = `target: "Endpoint=https://hub.example;AuthType=${type};"`;
      const { seen, problem } = await opened(target, { targets: ['hub.example', ...others] });
      assert.match(seen, said);
      assert.equal(problem === 'target-host', /signs in/.test(said.source), seen);
    }
  });
});
