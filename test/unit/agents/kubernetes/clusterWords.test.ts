import assert from 'node:assert/strict';
import type { ClusterView } from '../../../../src/agents/kubernetes/clusterView';
import { findingText } from '../../../../src/agents/kubernetes/examineCluster';
import { sampleClusterRun } from './sampleClusterRun';
import { flagWords } from '../../../../src/cli/commands/onKubernetes';
import { type ClusterWords, kubectlTrouble } from '../../../../src/agents/kubernetes/kubectl';
import { rightsCheck } from '../../../../src/agents/kubernetes/checks/accessChecks';
import { imagesCheck } from '../../../../src/agents/kubernetes/checks/networkChecks';

/** As an editor has them, which asks for places. */
const plain: ClusterWords = { namespace: '', context: '', images: '', runs: '' };

/** What every check advises where all is refused. */
async function advised(words: ClusterWords): Promise<string[]> {
  const view = {
    words,
    place: () => Promise.resolve({ namespace: 'load' }),
    may: (rights: readonly unknown[]) => Promise.resolve(rights.map(() => false)),
  } as unknown as ClusterView;
  const checks = [rightsCheck, imagesCheck];
  const found = await Promise.all(checks.map((check) => check.look(view, sampleClusterRun)));
  const said = [
    'Error: current-context is not set',
    'Error from server (NotFound): namespaces "load" not found',
    'Error from server (Forbidden): pods is forbidden: User "x" cannot list resource "pods"',
  ].map((text) => kubectlTrouble(['get'], text, words).message);
  return [...found.flat().map(findingText), ...said];
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
