import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { flagWords } from '../../../../src/cli/commands/onKubernetes';
import type { KubectlOptions } from '../../../../src/agents/kubernetes/kubectl';
import { sampleObjects } from '../../agents/kubernetes/sampleObjects';
import { ScriptedKubectl, type Answer } from '../../agents/kubernetes/scriptedKubectl';
import { commandLine, type CommandLine } from '../commandLine';

describe('agents', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  const run = async (words: readonly string[], answer: Answer) => {
    const options: KubectlOptions[] = [];
    const openKubectl = (given: KubectlOptions): ScriptedKubectl => {
      options.push(given);
      return new ScriptedKubectl(answer);
    };
    return { ...(await at.run(['agents', ...words], { deps: { openKubectl } })), options };
  };
  const config = JSON.stringify({
    'current-context': 'aks-load',
    contexts: [{ context: { namespace: 'load' } }],
  });
  const answer: Answer = (words) => {
    if (words.startsWith('config')) return config;
    if (words === 'get jobs,pods') return JSON.stringify(sampleObjects);
    if (words.startsWith('logs'))
      return '[pod/signalr-bench-r1-agents-b2/agents] Endpoint=https://a.service.signalr.net;AccessKey=c2VjcmV0;Version=1.0; \u001b[2J\n';
    return words.startsWith('get job/') ? 'job.batch/signalr-bench-r1\n' : '';
  };

  it('list shows runs, pods, and why one does not run, in 80 columns', async () => {
    const { code, out, options } = await run(
      ['list', '--namespace', 'load', '--context', 'aks-load'],
      answer,
    );
    assert.equal(code, 0);
    const place = { namespace: 'load', context: 'aks-load', program: undefined };
    assert.deepEqual(options, [{ ...place, words: flagWords }]);
    assert.equal(
      out,
      [
        'run r1: 2 agents, began 2 min ago, gone in 29 min at the latest',
        '  coordinator         running  node-1                                2 min',
        '  bus                 leaving  node-2                                2 min',
        '  agent a1            pending  -                                     2 min',
        '    Pod signalr-bench-r1-agents-a1 is pending: 0/5 nodes: Insufficient cpu.',
        '  agent b2            failed   node-1                                2 min',
        '',
        'run r2: 0 agents, began 71 s ago',
        '',
      ].join('\n'),
    );
  });

  it('list says so where there is none, and prints JSON', async () => {
    const none = await run(['list'], (words) =>
      words.startsWith('config') ? config : JSON.stringify([]),
    );
    assert.equal(none.out, 'No run is in namespace load of aks-load.\n');
    const { out } = await run(['list', '--json'], answer);
    const found = JSON.parse(out) as { namespace: string; runs: { pods: object[] }[] };
    assert.equal(found.namespace, 'load');
    assert.deepEqual(
      found.runs.map(({ pods }) => pods.length),
      [4, 0],
    );
  });

  it('logs shows what pods wrote, without secrets and control characters', async () => {
    const { code, out } = await run(['logs', 'r1', '--tail', '7'], answer);
    assert.equal(code, 0);
    assert.match(out, /^coordinator:\n {2}nothing so far\nbus:\n/);
    assert.match(
      out,
      /agent b2:\n {2}Endpoint=https:\/\/a\.service\.signalr\.net;AccessKey=\(redacted\)/,
    );
    assert.doesNotMatch(out, /c2VjcmV0|␛/);
  });

  it('remove removes a run, and says what kubectl says where it cannot', async () => {
    const { code, out } = await run(['remove', 'r1'], answer);
    assert.deepEqual([code, out], [0, 'Run r1 is removed.\n']);
    const refused = await run(['remove', 'r1'], () => {
      throw new ExpectedError('kubectl-sign-in', 'Sign in.');
    });
    assert.deepEqual([refused.code, refused.err], [2, 'Sign in.\n']);
  });
});

describe('doctor --on kubernetes', () => {
  let at: CommandLine;
  beforeEach(async () => {
    at = await commandLine();
  });
  afterEach(() => at.dispose());

  const doctor = (words: readonly string[], allowed = 'true') => {
    const answer: Answer = (asked, input) => {
      if (asked.startsWith('config'))
        return JSON.stringify({
          'current-context': 'aks-load',
          contexts: [{ context: { namespace: 'load' } }],
          clusters: [
            { cluster: { server: 'https://load-dns-1a2b3c4d.hcp.westeurope.azmk8s.io:443' } },
          ],
        });
      if (asked.startsWith('create --validate'))
        return (JSON.parse(input) as { items: object[] }).items.map(() => `${allowed}\n`).join('');
      if (asked.startsWith('get nodes')) return 'a\t4\t16Gi\t\tTrue\t\tazure:///x\t\tlinux\n';
      return '{}';
    };
    const openKubectl = (): ScriptedKubectl => new ScriptedKubectl(answer);
    return at.run(['doctor', '--on', 'kubernetes', ...words], { deps: { openKubectl } });
  };

  it('says whether a run would start, in 80 columns', async () => {
    const { code, out, calls } = await doctor(['--agents', '5']);
    assert.equal(code, 0);
    assert.ok(
      out.split('\n').every((line) => line.length <= 80),
      out,
    );
    assert.match(out, /^✓ kubectl {8}of an unknown version, context aks-load\n✓ server/);
    assert.match(out, /\n✓ rights {9}all 17 that a run needs in namespace load\n/);
    assert.match(
      out,
      /\n· nodes {10}1 ready for pods, with 4 cores and 16 GiB for all pods\. 5\n {17}agents share/,
    );
    assert.match(out, /\n· images {9}node:22-slim \(agents, coordinator\) and nats:2\.12/);
    assert.match(
      out,
      /\n\nNothing keeps a run with 5 agents from starting\. Nothing was made\.\n$/,
    );
    assert.equal(calls.targetsOpen, 0);
  });

  it('exits with 2 where a run would not start', async () => {
    const { code, out } = await doctor([], 'false');
    assert.equal(code, 2);
    assert.match(out, /\n✗ rights {9}You may not create configmaps, create secrets,/);
    assert.match(out, /\nA run with 1 agent would not start: see ✗\. Nothing was made\.\n$/);
  });

  it('prints JSON', async () => {
    const { out } = await doctor(['--json']);
    const { cluster } = JSON.parse(out) as {
      cluster: { namespace: string; findings: { check: string; status: string }[] };
    };
    assert.equal(cluster.namespace, 'load');
    assert.ok(
      cluster.findings.some(({ check, status }) => check === 'rights' && status === 'good'),
    );
  });

  it('prints what a run makes, without keys, and asks nobody', async () => {
    const openKubectl = (): never => assert.fail('kubectl was asked');
    const { code, out } = await at.run(
      ['doctor', '--on', 'kubernetes', '--manifest', '--agents', '7', '--image', 'mirror/node:22'],
      { deps: { openKubectl } },
    );
    assert.equal(code, 0);
    const { items } = JSON.parse(out) as { items: { kind: string; stringData?: object }[] };
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['Job', 'ConfigMap', 'Secret', 'NetworkPolicy', 'Service', 'Deployment', 'Job', 'Job'],
    );
    assert.match(out, /"parallelism": 7/);
    assert.match(out, /"image": "mirror\/node:22"/);
    assert.match(out, /password: \\"made-for-each-run\\"/);
  });
});
