import assert from 'node:assert/strict';
import { examineCluster } from '../../../../src/agents/kubernetes/examineCluster';
import { sampleClusterRun } from './sampleClusterRun';
import { flagWords } from '../../../../src/cli/commands/onKubernetes';
import { type ClusterWords, kubectlTrouble } from '../../../../src/agents/kubernetes/kubectl';
import { ScriptedKubectl } from './scriptedKubectl';

/** As an editor has them, which asks for places. */
const plain: ClusterWords = { namespace: '', context: '', images: '', runs: '' };

/** What every check advises where all is refused. */
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
  ].map((text) => kubectlTrouble(['get'], text, words).message);
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
