import assert from 'node:assert/strict';
import { buildRunPlan } from '../../../src/plan/buildPlan';
import { parseScenario } from '../../../src/scenario/parseScenario';
import {
  openBusWarning,
  readNamedFiles,
  refuseIdentityCalls,
  secretFiles,
} from '../../../src/run/agentFiles';

const text = `config:
  target: https://hub.example/chat
  connections: 4
  identities: { file: users.csv }
  data: { file: rows.csv }
  caFile: ca.pem
  certFile: cert.pem
  keyFile: key.pem
scenario:
  name: invoke
  parameters: { method: Say, arguments: ['{file:say.json}'] }
`;

describe('files of a run on several machines', () => {
  const { scenario, problems } = parseScenario(text);
  const plan = buildRunPlan(scenario!, { workers: 1, agents: 1, seed: 1, runId: 0 });

  it('are all read, and those with rows or keys are told from what the hub gets anyway', async () => {
    assert.ok(problems.every(({ severity }) => severity === 'info'));
    const read: string[] = [];
    const readFile = (name: string): Promise<string> => {
      read.push(name);
      return Promise.resolve('{}');
    };
    const filled = await readNamedFiles(scenario!, plan, readFile, 1000);
    assert.deepEqual(read, [
      ...['say.json', 'users.csv', 'rows.csv'],
      ...['ca.pem', 'cert.pem', 'key.pem'],
    ]);
    const found = secretFiles([...read, 'sign-in.pem'], filled, scenario!);
    assert.deepEqual(found, ['users.csv', 'rows.csv', 'cert.pem', 'key.pem', 'sign-in.pem']);
  });

  it('are said to be open to others where the bus has no TLS and leaves the machine', () => {
    const open = { isEncrypted: false };
    assert.equal(openBusWarning(['users.csv'], { isEncrypted: true }, false), undefined);
    assert.equal(openBusWarning(['users.csv'], open, true), undefined);
    assert.equal(openBusWarning([], open, false), undefined);
    assert.equal(
      openBusWarning(['users.csv', 'key.pem', 'the key of the bus'], open, false),
      'The bus has no TLS: users.csv, key.pem and the key of the bus can be read by whoever listens on its network. Give nats-server a certificate, and write tls:// in its address.',
    );
  });
});

describe('identities of a run on several machines', () => {
  const calls = { rate: 20, inFlight: 4, timeoutMs: 10_000 };

  it('are refused where somebody has to be asked for them', () => {
    for (const identities of [
      { kind: 'command', command: ['node', 'a.mjs'], env: {}, ...calls },
      { kind: 'url', url: 'https://a.test/t', method: 'POST', headers: {}, ...calls },
    ] as const)
      assert.throws(() => refuseIdentityCalls({ identities }), {
        code: 'identities',
        message: /name it as identities\.file/,
      });
    refuseIdentityCalls({ identities: { kind: 'file', file: 'u.csv' } });
    refuseIdentityCalls({});
  });
});
