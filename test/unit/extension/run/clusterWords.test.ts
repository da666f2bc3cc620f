import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { forEditor, withoutFlags } from '../../../../src/extension/run/clusterWords';

describe('what is said of a cluster in the editor', () => {
  for (const [text, shown] of [
    [
      'Ask for these rights, or name another namespace with --namespace.',
      'Ask for these rights, or name another namespace.',
    ],
    [
      'Use at most 2 agents (--agents 2), or ask for a larger quota.',
      'Use at most 2 agents, or ask for a larger quota.',
    ],
    [
      'name one with --context, or add one (on AKS: az aks get-credentials --name CLUSTER).',
      'name one, or add one (on AKS: az aks get-credentials --name CLUSTER).',
    ],
  ] as const)
    it(`has no flags of the command line: ${shown}`, () => {
      assert.equal(withoutFlags(text), shown);
    });

  it('keeps the kind of an error, and what is none of ours', () => {
    const changed = forEditor(new ExpectedError('cluster-rights', 'Name one with --namespace.'));
    assert.ok(changed instanceof ExpectedError);
    assert.deepEqual([changed.code, changed.message], ['cluster-rights', 'Name one.']);
    for (const error of [new ExpectedError('a', 'Nothing.'), new TypeError('with --namespace')])
      assert.equal(forEditor(error), error);
  });
});
