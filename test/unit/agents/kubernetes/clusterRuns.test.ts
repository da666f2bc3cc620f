import assert from 'node:assert/strict';
import { busOf, logsOf, removeNamed, runsIn } from '../../../../src/agents/kubernetes/clusterRuns';
import { sampleObjects } from './sampleObjects';
import { ScriptedKubectl } from './scriptedKubectl';

const kubectl = (logs = ''): ScriptedKubectl =>
  new ScriptedKubectl((words) => {
    if (words === 'get jobs,pods') return JSON.stringify(sampleObjects);
    if (words.startsWith('logs')) return logs;
    return words.startsWith('get job/signalr-bench-r1 ') ? 'job.batch/signalr-bench-r1\n' : '';
  });

describe('runs of a namespace', () => {
  it('are listed with who takes part, the oldest first', async () => {
    const runs = await runsIn(kubectl());
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
    assert.deepEqual(await logsOf(all, 'r1', 50), [
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
      assert.deepEqual(await logsOf(one, 'r1', 5, name), [{ name: 'agent b2', lines: ['a', 'b'] }]);
      assert.match(one.asked.at(-1)!, /^logs pod\/signalr-bench-r1-agents-b2 --tail=5 /);
    }
    await assert.rejects(logsOf(kubectl(), 'r1', 5, 'c3'), {
      code: 'agent-missing',
      message: 'Run r1 has no pod c3; it has coordinator, bus, a1, b2.',
    });
  });

  it('are removed by name, and only where they are', async () => {
    const known = kubectl();
    await removeNamed(known, 'r1');
    assert.ok(
      known.asked.some((words) => words.startsWith('delete job/signalr-bench-r1 --cascade')),
    );
    const unknown = kubectl();
    await assert.rejects(removeNamed(unknown, 'r9'), { code: 'run-missing' });
    assert.ok(!unknown.asked.some((words) => words.startsWith('delete')));
  });

  it('have a bus that is reached with the key of their Secret', async () => {
    const found = new ScriptedKubectl((words) =>
      words.startsWith('get secret/signalr-bench-r1-keys ')
        ? Buffer.from('the key').toString('base64')
        : '',
    );
    const { address, forwarding } = await busOf(found, 'r1');
    const url = 'nats://127.0.0.1:4222';
    assert.deepEqual(address, { url, user: 'lead', password: 'the key' });
    forwarding.close();
    assert.equal(found.forwardings, 0);
    await assert.rejects(busOf(found, 'r9'), { code: 'run-missing' });
    await assert.rejects(busOf(found, 'A'), { code: 'run-id' });
    assert.equal(found.forwardings, 0);
  });

  it('are found without the right to read Secrets by whoever knows their key', async () => {
    const found = kubectl();
    const { address, forwarding } = await busOf(found, 'r1', 'known');
    assert.equal(address.password, 'known');
    assert.ok(
      found.asked.every((words) => !words.includes('secret')),
      found.asked.join('\n'),
    );
    forwarding.close();
    await assert.rejects(busOf(found, 'r9', 'known'), { code: 'run-missing' });
    assert.equal(found.forwardings, 0);
  });

  it('have ids that no selector takes for something else', async () => {
    for (const run of ['a,b', 'A', '', '--all']) {
      await assert.rejects(removeNamed(kubectl(), run), { code: 'run-id' });
      await assert.rejects(logsOf(kubectl(), run, 1), { code: 'run-id' });
    }
  });
});
