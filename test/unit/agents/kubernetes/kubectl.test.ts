import assert from 'node:assert/strict';
import { skipAloud } from '../../../fakes/skipAloud';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  Kubectl,
  kubectlError,
  type ClusterWords,
} from '../../../../src/agents/kubernetes/kubectl';
import { until } from '../../../fakes/until';
import { flagWords } from '../../../../src/cli/commands/onKubernetes';
import { examineCluster } from '../../../../src/agents/kubernetes/examineCluster';
import { sampleClusterRun } from './sampleClusterRun';
import { ScriptedKubectl } from './scriptedKubectl';

/** Node stands for kubectl: its words are a script. */
const here = new Kubectl({ words: flagWords, program: process.execPath });
const script = (text: string): string[] => ['-e', text];

describe('kubectl', () => {
  it('gives what it answers, and passes on what it is given', async () => {
    assert.equal(await here.run(script('process.stdin.pipe(process.stdout)'), 'abc'), 'abc');
  });

  it('fails with what it says', async () => {
    const failing = script("console.error('one\\ntwo\\nthree\\nfour'); process.exit(1)");
    await assert.rejects(here.run(failing), {
      code: 'kubectl',
      message: 'kubectl -e failed: two three four',
    });
  });

  it('is not waited for without end', async () => {
    const silent = script('setInterval(() => undefined, 1000)');
    await assert.rejects(here.run(silent, '', 50), {
      code: 'cluster-unreachable',
      message: /^kubectl -e has not answered within 0\.05 s\. See/,
    });
  });

  it('is not waited for when it waits for a person', async () => {
    const asking = script(
      "console.error('To sign in, use a web browser to open the page https://microsoft.com/devicelogin and enter the code ABC'); setInterval(() => undefined, 1000)",
    );
    await assert.rejects(here.run(asking), { code: 'kubectl-sign-in', message: /asks for a sign/ });
  });

  it('may be missing', async () => {
    const kubectl = new Kubectl({ words: flagWords, program: '/no/such/kubectl' });
    await assert.rejects(kubectl.run(['version']), /install kubectl and log in/);
    await assert.rejects(kubectl.forward('a', 1), /install kubectl/);
  });
});

describe('a forwarded port', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalr-bench-kubectl-'));
  after(() => rmSync(folder, { recursive: true }));

  it('is made again where its pod has gone and kubectl stays', async function () {
    if (process.platform === 'win32')
      skipAloud(this, 'its kubectl is a script whose first line Windows does not read');
    const program = path.join(folder, 'kubectl');
    const asked = path.join(folder, 'asked');
    const words = `echo "$@" >>${asked}; echo 'Forwarding from 127.0.0.1:4711 -> 4222'; read -r _`;
    const gone = 'sleep 0.1; echo "an error occurred: error forwarding port 4222 to pod" >&2';
    writeFileSync(
      program,
      `#!/bin/sh\n${words}; [ -e ${folder}/again ] || ${gone}\n:>${folder}/again; exec sleep 60\n`,
    );
    chmodSync(program, 0o755);
    const forwarding = await new Kubectl({ words: flagWords, program }).forward('bus', 4222);
    const lines = (): string[] => readFileSync(asked, 'utf8').trim().split('\n');
    await until('the second one', () => lines().length === 2);
    assert.deepEqual(lines(), [
      'port-forward service/bus :4222',
      'port-forward service/bus 4711:4222',
    ]);
    forwarding.close();
  });
});

describe('what kubectl says', () => {
  // As kubectl 1.20 and 1.32 say it.
  const said: readonly (readonly [string, string, RegExp])[] = [
    [
      'Error in configuration: context was not found for specified context: nope',
      'kubectl-context',
      /^kubectl knows no context nope: kubectl config get-contexts lists/,
    ],
    ['error: cannot locate context nope', 'kubectl-context', /knows no context nope:/],
    ['error: context "nope" does not exist', 'kubectl-context', /knows no context nope:/],
    ['error: current-context is not set', 'kubectl-context', /--context, or add one/],
    [
      'The connection to the server localhost:8080 was refused - did you specify the right host or port?',
      'kubectl-context',
      /no cluster to talk to/,
    ],
    [
      'Unable to connect to the server: getting credentials: exec: executable kubelogin not found\n\nIt looks like you',
      'kubectl-sign-in',
      /^kubectl signs in by kubelogin, which is not installed here/,
    ],
    [
      'ERROR: Please run az login to setup account.\nUnable to connect to the server: getting credentials: exec: executable kubelogin failed with exit code 1',
      'kubectl-sign-in',
      /missing or has expired\. Sign in again \(on AKS: az login/,
    ],
    [
      'error: You must be logged in to the server (the server has asked for the client to provide credentials)',
      'kubectl-sign-in',
      /missing or has expired/,
    ],
    [
      'E1123 memcache.go:265] "Unhandled Error" err="couldn\'t get current server API group list: Get \\"https://127.0.0.1:1/api?timeout=32s\\": dial tcp 127.0.0.1:1: connect: connection refused"\nThe connection to the server 127.0.0.1:1 was refused - did you specify the right host or port?',
      'cluster-unreachable',
      /^The cluster's server cannot be reached \(dial tcp 127\.0\.0\.1:1: connect: connection refused\)\. See/,
    ],
    [
      'Unable to connect to the server: dial tcp: lookup a.azmk8s.io on 10.0.0.2:53: no such host',
      'cluster-unreachable',
      /\(dial tcp: lookup a\.azmk8s\.io on 10\.0\.0\.2:53: no such host\)/,
    ],
    [
      'error: error validating "STDIN": error validating data: failed to download openapi: Get "https://127.0.0.1:1/openapi/v2?timeout=32s": dial tcp 127.0.0.1:1: connect: connection refused; if you choose to ignore these errors, turn validation off',
      'cluster-unreachable',
      /\(dial tcp 127\.0\.0\.1:1: connect: connection refused\)/,
    ],
    [
      'Unable to connect to the server: tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'cluster-certificate',
      /is not trusted \(x509: certificate signed by unknown authority\)/,
    ],
    [
      'Error from server (Forbidden): error when creating "STDIN": jobs.batch is forbidden: User "x" cannot create resource "jobs" in API group "batch" in the namespace "load"',
      'cluster-rights',
      /^The cluster refuses it: error when creating "STDIN": jobs\.batch is forbidden: .* "load"\. Ask/,
    ],
    [
      'Error from server (Forbidden): error when creating "STDIN": configmaps "a" is forbidden: exceeded quota: small, requested: count/configmaps=1, used: count/configmaps=5, limited: count/configmaps=5',
      'cluster-quota',
      /^Quota small of the namespace has no room: asked for count\/configmaps=1, used count\/configmaps=5, limit/,
    ],
    [
      'Error from server (Forbidden): error when creating "STDIN": pods "a" is forbidden: [maximum cpu usage per Container is 2.  No limit is specified, maximum memory usage per Container is 512Mi, but limit is 1Gi]',
      'cluster-limits',
      /^Limits of the namespace refuse a pod of the run: maximum cpu usage per Container is 2\. {2}No limit is specified, .*1Gi\. Ask for others,/,
    ],
    [
      'Error from server (Forbidden): pods "a" is forbidden: memory max limit to request ratio per Container is 10, but provided ratio is 16.000000',
      'cluster-limits',
      /refuse a pod of the run: memory max limit to request ratio per Container is 10, but provided/,
    ],
    [
      'Error from server (Forbidden): pods "a" is forbidden: failed quota: q: must specify limits.cpu',
      'cluster-limits',
      /refuse a pod of the run: failed quota: q: must specify limits\.cpu\. Ask/,
    ],
    [
      'Error from server (Forbidden): pods "a" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
      'cluster-security',
      /level restricted:latest only, and refused one: allowPrivilegeEscalation != false\./,
    ],
    [
      'Error from server (NotFound): error when creating "STDIN": namespaces "load" not found',
      'cluster-namespace',
      /no namespace load: make it \(kubectl create namespace load\)/,
    ],
    [
      'Unable to connect to the server: proxyconnect tcp: dial tcp: lookup http://me:c2VjcmV0@proxy.example: no such host',
      'cluster-unreachable',
      /^(?!.*c2VjcmV0).*proxy\.example/,
    ],
    ['something else', 'kubectl', /^kubectl get failed: something else$/],
  ];
  for (const [text, code, words] of said)
    it(`has a sentence: ${text.slice(0, 60)}`, () => {
      const error = kubectlError(['get', 'pods'], text, flagWords);
      assert.equal(error.code, code);
      assert.match(error.message, words);
    });
});

/** As an editor has them, which asks for places. */
const plain: ClusterWords = { namespace: '', context: '', images: '', runs: '' };

async function advised(words: ClusterWords): Promise<string[]> {
  const kubectl = new ScriptedKubectl((asked, input) => {
    if (asked.startsWith('config')) return '{"contexts":[{"context":{"namespace":"load"}}]}';
    if (!asked.startsWith('create --validate')) return '{}';
    return 'false\n'.repeat((JSON.parse(input) as { items: unknown[] }).items.length);
  });
  Object.assign(kubectl, { words });
  const { findings } = await examineCluster(kubectl, undefined, sampleClusterRun);
  const said = [
    'Error: current-context is not set',
    'Error from server (NotFound): namespaces "load" not found',
    'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"',
  ].map((text) => kubectlError(['get'], text, words).message);
  const chosen = findings.filter(({ check }) => check === 'rights' || check === 'images');
  return [...chosen.map(({ text, advice }) => `${text} ${advice ?? ''}`.trim()), ...said];
}

describe('advice about a cluster', () => {
  it('names flags where a command line gives it, and none elsewhere', async () => {
    const [flagged, unflagged] = await Promise.all([advised(flagWords), advised(plain)]);
    const withFlags = flagged.filter((text) => text.includes('--'));
    assert.ok(withFlags.length >= 5, withFlags.join('\n'));
    for (const flag of ['--namespace', '--context', '--image'])
      assert.ok(
        withFlags.some((text) => text.includes(flag)),
        flag,
      );
    assert.equal(unflagged.length, flagged.length);
    for (const text of unflagged)
      assert.doesNotMatch(text, / --(?!resource-group|name)| {2}| \.|\(\)/);
    assert.ok(
      unflagged.includes(
        'You may not create configmaps, create secrets, create services, get services, create deployments.apps, get deployments.apps, list deployments.apps, watch deployments.apps, create jobs.batch, get jobs.batch, list jobs.batch, watch jobs.batch, delete jobs.batch, create networkpolicies.networking.k8s.io, get pods, list pods, create pods/portforward in namespace load. Ask for these rights, or name another namespace.',
      ),
    );
  });
});
