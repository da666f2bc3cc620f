import assert from 'node:assert/strict';
import { ExpectedError } from '../../../../src/base/expectedError';
import { removeRun, RunInCluster, troublesOf } from '../../../../src/agents/kubernetes/clusterRun';
import { sampleClusterRun } from './sampleClusterRun';
import { ScriptedKubectl } from './scriptedKubectl';

const removal = /^delete job\/signalr-bench-r1 --cascade=foreground --ignore-not-found/;
/** What it was asked last, beside what there is still and why. */
const lastOf = ({ asked }: ScriptedKubectl): string =>
  asked.filter((words) => !/^(get|rollout) /.test(words)).at(-1)!;
const start = (kubectl: ScriptedKubectl, calledOff?: Promise<never>): Promise<RunInCluster> =>
  RunInCluster.start(kubectl, sampleClusterRun, calledOff);

describe('a run in a cluster', () => {
  it('makes its owner first, and is removed with it', async () => {
    const kubectl = new ScriptedKubectl();
    const run = await start(kubectl);
    assert.deepEqual(
      kubectl.made.slice(0, 2).map(({ kind }) => kind),
      ['Job', 'ConfigMap'],
    );
    assert.equal(run.bus.url, 'nats://127.0.0.1:4222');
    await run.dispose();
    assert.equal(kubectl.forwardings, 0);
    assert.match(lastOf(kubectl), removal);
  });

  for (const phase of ['create', 'createAll', 'rollout', 'forward'])
    it(`leaves nothing when ${phase} fails`, async () => {
      const kubectl = new ScriptedKubectl((words) => {
        if (words === phase || words.startsWith(`${phase} `))
          throw new ExpectedError('cluster-rights', 'No.');
        return undefined;
      });
      await assert.rejects(start(kubectl), { code: 'cluster-rights', message: 'No.' });
      assert.match(lastOf(kubectl), removal);
      assert.equal(kubectl.forwardings, 0);
    });

  for (const phase of ['create', 'createAll', 'rollout', 'forward'])
    it(`leaves nothing when it is called off during ${phase}`, async () => {
      let callOff: (error: Error) => void = () => undefined;
      const calledOff = new Promise<never>((_resolve, reject) => (callOff = reject));
      let goOn: () => void = () => undefined;
      let begin: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => (begin = resolve));
      const kubectl = new ScriptedKubectl((words) => {
        if (words !== phase && !words.startsWith(`${phase} `)) return undefined;
        begin();
        return new Promise<string>((done) => (goOn = () => done('uid')));
      });
      const starting = start(kubectl, calledOff);
      await begun;
      callOff(new Error('called off'));
      // What is being made is waited for: it would come after the removal.
      if (phase.startsWith('create')) {
        await new Promise((resolve) => setImmediate(resolve));
        assert.ok(!kubectl.asked.some((words) => removal.test(words)));
        goOn();
      }
      await assert.rejects(starting, /called off/);
      goOn();
      await new Promise((resolve) => setImmediate(resolve));
      assert.match(lastOf(kubectl), removal);
      assert.equal(kubectl.forwardings, 0);
    });

  it('is removed when its pods have ended, not when its owner has gone', async () => {
    const left = ['job.batch/a\npod/b\n', 'pod/b\n'];
    const kubectl = new ScriptedKubectl((words) =>
      words.startsWith('get jobs') ? left.shift() : undefined,
    );
    await removeRun(kubectl, 'r1');
    const look = 'get jobs,deployments,pods --selector bench-run=r1 --output name';
    assert.match(kubectl.asked[0]!, removal);
    assert.deepEqual(kubectl.asked.slice(1), [look, look, look]);
  });

  it('says why the cluster makes no pods, once for each reason', async () => {
    const event = (name: string, message: string): object => ({
      involvedObject: { kind: 'Job', name },
      message,
    });
    const refused = (pod: string): object =>
      event(
        'signalr-bench-r1-agents',
        `Error creating: pods "signalr-bench-r1-agents-${pod}" is forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3`,
      );
    const items = [refused('a'), refused('b'), event('signalr-bench-r10-agents', 'another run')];
    const kubectl = new ScriptedKubectl((words) =>
      words.startsWith('get events') ? JSON.stringify({ items }) : undefined,
    );
    assert.deepEqual(await troublesOf(kubectl, 'r1'), [
      'Job signalr-bench-r1-agents gets no pod: forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3.',
    ]);
  });

  it('says that events cannot be read which were cut off', async () => {
    const kubectl = new ScriptedKubectl((words) =>
      words.startsWith('get events') ? '{"items":[' : undefined,
    );
    await assert.rejects(troublesOf(kubectl, 'r1'), {
      code: 'kubectl',
      message: 'kubectl gave an answer that cannot be read.',
    });
  });

  it('does without the events of a cluster that keeps them to itself', async () => {
    const kubectl = new ScriptedKubectl((words) => {
      if (words.startsWith('get events')) throw new ExpectedError('cluster-rights', 'No.');
      return undefined;
    });
    assert.deepEqual(await troublesOf(kubectl, 'r1'), []);
  });

  it('says what is left where it cannot be removed, and how to remove it', async () => {
    const kubectl = new ScriptedKubectl((words) => {
      if (words.startsWith('delete')) throw new ExpectedError('cluster-unreachable', 'Away.');
      return undefined;
    });
    const run = await start(kubectl);
    await assert.rejects(run.dispose(), {
      code: 'cluster-left',
      message:
        /^Away\. Run r1 is still in the cluster, .* To remove it now: kubectl delete job signalr-bench-r1$/,
    });
  });
});
