import assert from 'node:assert/strict';
import {
  forwardRunBus,
  readPodLogs,
  removeRunById,
  listRuns,
  removeRun,
  RunInCluster,
  runPodProblems,
} from '../../../../src/agents/kubernetes/clusterRuns';
import { sampleObjects } from './sampleObjects';
import { ScriptedKubectl } from './scriptedKubectl';
import { ExpectedError } from '../../../../src/base/expectedError';
import { sampleClusterRun } from './sampleClusterRun';

const removal = /^delete job\/signalr-bench-r1 --cascade=foreground --ignore-not-found/;
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
      // The removal waits for objects that are being made.
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
    assert.deepEqual(await runPodProblems(kubectl, 'r1'), [
      'Job signalr-bench-r1-agents gets no pod: forbidden: exceeded quota: few, requested: pods=1, used: pods=3, limited: pods=3.',
    ]);
  });

  it('says that events cannot be read which were cut off', async () => {
    const kubectl = new ScriptedKubectl((words) =>
      words.startsWith('get events') ? '{"items":[' : undefined,
    );
    await assert.rejects(runPodProblems(kubectl, 'r1'), {
      code: 'kubectl',
      message: 'kubectl gave an answer that cannot be read.',
    });
  });

  it('does without the events of a cluster that keeps them to itself', async () => {
    const kubectl = new ScriptedKubectl((words) => {
      if (words.startsWith('get events')) throw new ExpectedError('cluster-rights', 'No.');
      return undefined;
    });
    assert.deepEqual(await runPodProblems(kubectl, 'r1'), []);
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

const kubectl = (logs = ''): ScriptedKubectl =>
  new ScriptedKubectl((words) => {
    if (words === 'get jobs,pods') return JSON.stringify(sampleObjects);
    if (words.startsWith('logs')) return logs;
    return words.startsWith('get job/signalr-bench-r1 ') ? 'job.batch/signalr-bench-r1\n' : '';
  });

describe('runs of a namespace', () => {
  it('are listed with who takes part, the oldest first', async () => {
    const runs = await listRuns(kubectl());
    assert.deepEqual(
      runs.map(({ run, since, until, pods }) => [run, since, until, pods.length]),
      [
        ['r1', '2026-11-21T14:00:00Z', '2026-11-21T14:31:40.000Z', 4],
        ['r2', '2026-11-21T14:01:00Z', undefined, 0],
      ],
    );
    assert.deepEqual(runs[0]!.pods, [
      {
        ...{ pod: 'signalr-bench-r1-lead-abcde', name: 'coordinator', node: 'node-1' },
        ...{ state: 'running', since: '2026-11-21T14:00:02Z' },
      },
      {
        ...{ pod: 'signalr-bench-r1-bus-12345-xyz', name: 'bus', node: 'node-2' },
        ...{ state: 'leaving', since: '2026-11-21T14:00:02Z' },
      },
      {
        ...{ pod: 'signalr-bench-r1-agents-a1', name: 'agent a1', state: 'pending' },
        since: '2026-11-21T14:00:02Z',
        trouble: 'Pod signalr-bench-r1-agents-a1 is pending: 0/5 nodes: Insufficient cpu.',
      },
      {
        ...{ pod: 'signalr-bench-r1-agents-b2', name: 'agent b2', node: 'node-1' },
        ...{ state: 'failed', since: '2026-11-21T14:00:02Z' },
      },
    ]);
  });

  it('have logs by pod, from one call', async () => {
    const all = kubectl(
      '[pod/signalr-bench-r1-agents-b2/agents] agent 1 of 2\n[pod/signalr-bench-r1-lead-abcde/lead] run r1\n[pod/signalr-bench-r1-agents-b2/agents] \nerror: container "bus" is waiting to start\n[pod/other/x] not ours\n',
    );
    assert.deepEqual(await readPodLogs(all, 'r1', 50), [
      { name: 'coordinator', lines: ['run r1'] },
      { name: 'bus', lines: [] },
      { name: 'agent a1', lines: [] },
      { name: 'agent b2', lines: ['agent 1 of 2', ''] },
    ]);
    assert.equal(
      all.asked.at(-1),
      'logs --selector bench-run=r1 --prefix --ignore-errors --tail=50 --limit-bytes=262144',
    );
  });

  it('have the log of one pod by each of its names', async () => {
    for (const name of ['b2', 'agent b2', 'signalr-bench-r1-agents-b2']) {
      const one = kubectl('a\nb\n');
      assert.deepEqual(await readPodLogs(one, 'r1', 5, name), [
        { name: 'agent b2', lines: ['a', 'b'] },
      ]);
      assert.match(one.asked.at(-1)!, /^logs pod\/signalr-bench-r1-agents-b2 --tail=5 /);
    }
    await assert.rejects(readPodLogs(kubectl(), 'r1', 5, 'c3'), {
      code: 'agent-missing',
      message: 'Run r1 has no pod c3; it has coordinator, bus, a1, b2.',
    });
  });

  it('are removed by name, and only where they are', async () => {
    const known = kubectl();
    await removeRunById(known, 'r1');
    assert.ok(
      known.asked.some((words) => words.startsWith('delete job/signalr-bench-r1 --cascade')),
    );
    const unknown = kubectl();
    await assert.rejects(removeRunById(unknown, 'r9'), { code: 'run-missing' });
    assert.ok(!unknown.asked.some((words) => words.startsWith('delete')));
  });

  it('have a bus that is reached with the key of their Secret', async () => {
    const found = new ScriptedKubectl((words) =>
      words.startsWith('get secret/signalr-bench-r1-keys ')
        ? Buffer.from('the key').toString('base64')
        : '',
    );
    const { address, forwarding } = await forwardRunBus(found, 'r1');
    const url = 'nats://127.0.0.1:4222';
    assert.deepEqual(address, { url, user: 'lead', password: 'the key' });
    forwarding.close();
    assert.equal(found.forwardings, 0);
    await assert.rejects(forwardRunBus(found, 'r9'), { code: 'run-missing' });
    await assert.rejects(forwardRunBus(found, 'A'), { code: 'run-id' });
    assert.equal(found.forwardings, 0);
  });

  it('are found without the right to read Secrets by whoever knows their key', async () => {
    const found = kubectl();
    const { address, forwarding } = await forwardRunBus(found, 'r1', 'known');
    assert.equal(address.password, 'known');
    assert.ok(
      found.asked.every((words) => !words.includes('secret')),
      found.asked.join('\n'),
    );
    forwarding.close();
    await assert.rejects(forwardRunBus(found, 'r9', 'known'), { code: 'run-missing' });
    assert.equal(found.forwardings, 0);
  });

  it('have ids that no selector takes for something else', async () => {
    for (const run of ['a,b', 'A', '', '--all']) {
      await assert.rejects(removeRunById(kubectl(), run), { code: 'run-id' });
      await assert.rejects(readPodLogs(kubectl(), run, 1), { code: 'run-id' });
    }
  });
});
