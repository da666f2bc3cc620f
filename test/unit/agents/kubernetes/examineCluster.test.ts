import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../../../src/base/expectedError';
import { checkBeforeRun, examineCluster } from '../../../../src/agents/kubernetes/examineCluster';
import type { ClusterRun } from '../../../../src/agents/kubernetes/manifest';
import { sampleClusterRun } from './sampleClusterRun';
import { ScriptedKubectl } from './scriptedKubectl';
import { parseQuantity } from '../../../../src/agents/kubernetes/clusterView';

interface Cluster {
  readonly refused?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly nodes?: readonly string[];
  readonly server?: string;
  readonly failing?: Readonly<Record<string, ExpectedError>>;
}

const aksServer = 'https://load-1a2b3c4d.hcp.westeurope.azmk8s.io:443';
const linux = 'n1\t4\t16Gi\t\tTrue\t\t\t\tlinux';
const aks = (name: string): string => `${name}\t3860m\t12Gi\t\tTrue\t\tazure:///x\t\tlinux`;

interface Review {
  readonly spec: {
    readonly resourceAttributes: {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string;
      readonly namespace?: string;
    };
  };
}

const cluster = ({
  refused = [],
  labels = {},
  nodes = [linux, linux, linux],
  server = 'https://k8s.example',
  failing = {},
}: Cluster = {}): ScriptedKubectl =>
  new ScriptedKubectl((words, input) => {
    for (const [start, error] of Object.entries(failing)) if (words.startsWith(start)) throw error;
    if (words.startsWith('config view'))
      return JSON.stringify({
        'current-context': 'aks-load',
        contexts: [{ name: 'aks-load', context: { namespace: 'load' } }],
        clusters: [{ name: 'c', cluster: { server } }],
      });
    if (words.startsWith('version'))
      return JSON.stringify({
        clientVersion: { gitVersion: 'v1.32.4' },
        serverVersion: { gitVersion: 'v1.31.2' },
      });
    if (words.startsWith('create --validate=false')) {
      const { items } = JSON.parse(input) as { readonly items: readonly Review[] };
      return items
        .map(({ spec: { resourceAttributes: asked } }) => {
          assert.equal(asked.namespace, 'load');
          const group = asked.group === '' ? '' : `.${asked.group}`;
          const part = asked.subresource === undefined ? '' : `/${asked.subresource}`;
          return `${!refused.includes(`${asked.verb} ${asked.resource}${group}${part}`)}\n`;
        })
        .join('');
    }
    if (words.startsWith('get namespace')) return JSON.stringify({ metadata: { labels } });
    if (words.startsWith('get nodes')) return `${nodes.join('\n')}\n`;
    if (words.startsWith('create --dry-run=server')) return 'job/a\n';
    throw new Error(`nobody expects ${words}`);
  });

const before = (given: Cluster, run: Partial<ClusterRun> = {}): Promise<string[]> =>
  checkBeforeRun(cluster(given), undefined, { ...sampleClusterRun, ...run });

describe('what is looked at before a run in a cluster', () => {
  it('lets a run begin where nothing is in its way, in three calls', async () => {
    const kubectl = cluster();
    assert.deepEqual(await checkBeforeRun(kubectl, undefined, sampleClusterRun), []);
    assert.deepEqual(
      kubectl.asked.map((words) => words.split(' ').slice(0, 2).join(' ')),
      ['config view', 'create --validate=false', 'get nodes'],
    );
  });

  it('names all rights that are missing', async () => {
    const refused = ['create secrets', 'create pods/portforward', 'delete jobs.batch'];
    await assert.rejects(before({ refused }), {
      code: 'cluster-checks',
      message:
        'You may not create secrets, delete jobs.batch, create pods/portforward in namespace load. Ask for these rights, or name another namespace with --namespace.',
    });
  });

  it('needs no right but those of a run', async () => {
    assert.deepEqual(await before({ refused: ['get pods/log', 'list events', 'create pods'] }), []);
  });

  it('takes files only as far as they fit into a Secret', async () => {
    const files = { 's.yaml': 'é'.repeat(450_000) };
    assert.deepEqual(await before({}, { files }), []);
    await assert.rejects(
      before({}, { files: { ...files, 'data/a.json': 'x'.repeat(101_000) } }),
      /The scenario and the files that it names have 977\.\d KB; 976\.\d KB of them fit into a cluster/,
    );
  });

  it('warns of files with rows or keys: the bus of a run has no TLS', async () => {
    assert.deepEqual(await before({}, { secretFiles: ['users.csv', 'key.pem'] }), [
      'The bus of the run has no TLS: users.csv and key.pem can be read by whoever listens on the network of the cluster. Where others may listen there, sign tokens by a rule (identities.rule) with a key from a Secret.',
    ]);
  });

  it('goes on where nodes may not be read', async () => {
    const no = new ExpectedError('cluster-rights', 'The cluster refuses it.');
    assert.deepEqual(await before({ failing: { 'get nodes': no } }), []);
  });

  it('stops where the cluster does not answer', async () => {
    const away = new ExpectedError('cluster-unreachable', 'Away.');
    await assert.rejects(before({ failing: { 'create --validate': away } }), {
      code: 'cluster-unreachable',
    });
    await assert.rejects(before({ failing: { 'get nodes': away } }), { message: /^Away\./ });
  });

  it('warns of nodes that have no place', async () => {
    const closed = 'n2\t4\t16Gi\ttrue\tTrue\t\t\t\tlinux';
    const tainted = 'n3\t4\t16Gi\t\tTrue\tNoSchedule\t\t\tlinux';
    const unready = 'n4\t4\t16Gi\t\tUnknown\t\t\t\tlinux';
    const windows = 'n5\t4\t16Gi\t\tTrue\t\t\t\twindows';
    const nodes = [closed, tainted, unready, windows];
    assert.match((await before({ nodes }))[0]!, /^No Linux node is ready for pods now\./);
    const small = 'n6\t1\t4Gi\t\tTrue\tPreferNoSchedule\t\t\tlinux';
    assert.match(
      (await before({ nodes: [...nodes, small] }))[0]!,
      /^1 ready for pods, with 1 core and 4 GiB .* ask for 1\.81 cores\./,
    );
  });

  it('warns of outbound ports on AKS, by the load of each node', async () => {
    const nodes = [aks('a'), aks('b')];
    const hosts = ['bench.service.signalr.net'];
    const [warning] = await before({ nodes }, { connections: 3000, hosts });
    assert.match(
      warning!,
      /^A node of AKS has 1,024 outbound ports .* 1,500 connections would come from each\. .*NAT gateway/,
    );
    assert.deepEqual(await before({ nodes }, { connections: 2000, hosts }), []);
    assert.deepEqual(await before({ nodes }, { connections: 9000, hosts: ['hub.load'] }), []);
    assert.deepEqual(await before({}, { connections: 9000, hosts }), []);
    // By the name of the server where nodes may not be read.
    const noNodes = { 'get nodes': new ExpectedError('cluster-rights', 'No.') };
    const [unread] = await before(
      { failing: noNodes, server: aksServer },
      { connections: 3075, hosts },
    );
    assert.match(unread!, /1,025 connections would come from each/);
    assert.deepEqual(
      await before({ failing: noNodes, server: aksServer }, { connections: 3072, hosts }),
      [],
    );
    assert.deepEqual(await before({ failing: noNodes }, { connections: 9000, hosts }), []);
    for (const [count, ports] of [
      [50, '1,024'],
      [51, 512],
      [101, 256],
      [401, 64],
      [5000, 32],
    ]) {
      const many = Array.from({ length: Number(count) }, (_, at) => aks(`n${at}`));
      const [said] = await before({ nodes: many }, { connections: 1e7, hosts });
      assert.match(said!, new RegExp(`has ${ports} outbound ports`));
    }
  });
});

describe('what doctor says of a cluster', () => {
  const examine = (given: Cluster, run: Partial<ClusterRun> = {}) =>
    examineCluster(cluster(given), undefined, { ...sampleClusterRun, ...run });

  it('is all that a run depends on', async () => {
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
    const { findings, ...place } = await examine({ labels });
    assert.deepEqual(place, {
      ...{ context: 'aks-load', server: 'https://k8s.example', namespace: 'load' },
    });
    assert.deepEqual(
      findings.map(({ check, status, text }) => [check, status, text]),
      [
        ['kubectl', 'good', 'v1.32.4, context aks-load'],
        ['server', 'good', 'v1.31.2, https://k8s.example'],
        [
          'namespace',
          'good',
          'load asks pods for Pod Security level restricted; those of a run keep to restricted',
        ],
        ['rights', 'good', 'all 17 that a run needs in namespace load'],
        ['nodes', 'good', '3 ready for pods, with 12 cores and 48 GiB for all pods'],
        ['outbound ports', 'good', 'no limit is known: these are not nodes of AKS'],
        ['network policy', 'note', findings[6]!.text],
        [
          'images',
          'note',
          'node (agents, coordinator) and nats (bus) will be pulled by the nodes.',
        ],
        ['dry run', 'good', 'the cluster would take all objects of a run, and its pods one by one'],
      ],
    );
  });

  it('ends with what keeps kubectl from answering', async () => {
    const context = new ExpectedError('kubectl-missing', 'Install it.');
    const first = await examine({ failing: { config: context } });
    assert.deepEqual(first, {
      findings: [{ check: 'kubectl', status: 'bad', text: 'Install it.' }],
    });
    const signIn = new ExpectedError('kubectl-sign-in', 'Sign in.');
    const second = await examine({ failing: { version: signIn } });
    assert.equal(second.context, 'aks-load');
    assert.deepEqual(second.findings, [{ check: 'server', status: 'bad', text: 'Sign in.' }]);
  });

  it('says what the cluster itself would refuse, and tries no pod without the right', async () => {
    const error = new ExpectedError('cluster-security', 'The namespace takes others only.');
    const refused = await examine({ failing: { 'create --dry-run': error } });
    assert.deepEqual(refused.findings.at(-1), {
      ...{ check: 'dry run', status: 'bad', text: 'The namespace takes others only.' },
    });
    const { findings } = await examine({ refused: ['create pods'] });
    assert.equal(findings.at(-1)?.text, 'the cluster would take all objects of a run');
  });

  it('tries a pod of each kind with the limits that it has in a run', async () => {
    const kubectl = cluster();
    await examineCluster(kubectl, undefined, sampleClusterRun);
    const { items } = JSON.parse(kubectl.inputs.at(-1)!) as { readonly items: readonly Pod[] };
    const pods = items.filter(({ kind }) => kind === 'Pod');
    assert.deepEqual(
      pods.map(({ metadata, spec }) => [
        metadata?.name?.replace('signalr-bench-r1', ''),
        spec?.containers[0]?.resources?.limits?.['memory'],
      ]),
      [
        ['', '256Mi'],
        ['-bus', '1Gi'],
        ['-lead', '1024Mi'],
        ['-agents', '1024Mi'],
      ],
    );
  });

  it('says in a note what is known only with a load', async () => {
    const { findings } = await examine({ nodes: [aks('a')], refused: ['get pods/log'] });
    const outbound = findings.find(({ check }) => check === 'outbound ports');
    assert.equal(outbound?.status, 'note');
    assert.match(outbound.advice ?? '', /NAT gateway/);
    const nodes = findings.find(({ check }) => check === 'nodes');
    assert.match(nodes?.text ?? '', /3 agents share them/);
    const notes = findings.filter(({ check, status }) => check === 'rights' && status === 'note');
    assert.deepEqual(
      notes.map(({ text }) => text),
      ['You may not get pods/log: agents logs needs it. A run does without.'],
    );
  });
});

describe('an amount of Kubernetes', () => {
  it('is read as it is written', () => {
    const amounts: readonly (readonly [string, number])[] = [
      ...[['500m', 0.5] as const, ['2', 2] as const, ['1.5', 1.5] as const],
      ...[['64Mi', 67_108_864] as const, ['1Gi', 1_073_741_824] as const],
      ...[['1k', 1000] as const, ['1e3', 1000] as const, ['2E2', 200] as const],
      ...[['1E', 1e18] as const, ['128974848', 128_974_848] as const, ['-1', -1] as const],
    ];
    for (const [text, amount] of amounts) assert.equal(parseQuantity(text), amount, text);
    for (const text of ['', 'Mi', '1 Gi', '1KB', 'x', undefined])
      assert.equal(parseQuantity(text), undefined);
  });
});
