import assert from 'node:assert/strict';
import type { ClusterReport } from '../../src/agents/kubernetes/examineCluster';
import type { ClusterRunStatus } from '../../src/agents/kubernetes/clusterRuns';
import { ownedObjects, ownerJob, type ClusterRun } from '../../src/agents/kubernetes/manifest';
import { sampleClusterRun } from '../unit/agents/kubernetes/sampleClusterRun';
import type { Result } from '../../src/results/result';
import { onlyStep } from '../load/loadRun';
import { assertMeasured } from '../machines/agentsOnBus';
import { RealCluster } from './realCluster';

const long = { workers: 1, baseSending: 9, singleStepDuration: '8s', warmup: '200ms' };

describe('before and beside a run in a real cluster', () => {
  let cluster: RealCluster;
  const load = 'beside';
  const inLoad = ['--namespace', load];

  before(async () => {
    cluster = await RealCluster.start();
    await cluster.namespace(load);
  });
  after(() => cluster.dispose());

  const statuses = async (words: readonly string[], code: number) => {
    const ended = await cluster.cli(['doctor', '--on', 'kubernetes', ...words, '--json']).finished;
    assert.equal(ended.code, code, ended.stdout + ended.stderr);
    const { findings } = (JSON.parse(ended.stdout) as { readonly cluster: ClusterReport }).cluster;
    return new Map(findings.map(({ check, status, text }) => [check, [status, text] as const]));
  };

  it('says with the documented rights that a run would start, and makes nothing', async () => {
    const found = await statuses(inLoad, 0);
    assert.deepEqual(found.get('rights'), ['good', `all 17 that a run needs in namespace ${load}`]);
    assert.equal(found.get('nodes')?.[0], 'note', 'nodes are not for everybody to read');
    assert.deepEqual(found.get('dry run'), ['good', 'the cluster would take all objects of a run']);
    const made = ['get', 'jobs,configmaps', ...inLoad, '--selector', 'bench-run'];
    assert.equal(await cluster.kubectl([...made, '--output', 'name']), '');
  });

  it('makes of a run what the cluster itself removes after its deadline, whatever has become of who made it', async () => {
    const run = cluster.newId();
    const given: ClusterRun = { ...sampleClusterRun, run };
    const { spec, ...owner } = ownerJob(given);
    // Its image there is not: it ends by its deadline.
    const soon = { ...spec, activeDeadlineSeconds: 2, ttlSecondsAfterFinished: 1 };
    const make = async (object: object): Promise<string> => {
      const words = [
        'create',
        ...inLoad,
        '--filename',
        '-',
        '--output',
        'jsonpath={.metadata.uid}',
      ];
      return cluster.kubectl(words, JSON.stringify(object));
    };
    const uid = await make({ ...owner, spec: soon });
    // Pods of the others would only wait for their image.
    const quiet = ownedObjects(uid, given).filter(
      ({ kind }) => kind !== 'Job' && kind !== 'Deployment',
    );
    for (const object of quiet) await make(object);
    // The cluster adds endpoints of the service.
    assert.ok((await cluster.left(load, run)).length > quiet.length);
    await cluster.untilNothingLeft(load, run);
  });

  it('brings the result of a run here whose command line was killed', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { useCase: 'broadcast', config: long });
    await going.said('measuring');
    going.child.kill('SIGKILL');
    await going.finished;
    const words = ['attach', run, '--on', 'kubernetes', ...inLoad, '--json', '--out', 'attached'];
    const refused = await cluster.cli(words).finished;
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /^The cluster refuses it: secrets .*cannot get resource "secrets"/,
    );
    const reading = ['create', 'role', 'reads', '--verb=get', '--resource=secrets', ...inLoad];
    await cluster.kubectl(reading);
    await cluster.bind('reads', load);
    const { code, stdout, stderr } = await cluster.cli(words).finished;
    assertMeasured(code, stderr);
    const { lost, received, expected } = onlyStep(JSON.parse(stdout) as Result);
    assert.ok(received > 0 && received === expected && lost === 0, `${received} of ${expected}`);
    assert.equal((await cluster.cli(['agents', 'remove', run, ...inLoad]).finished).code, 0);
  });

  it('lists a run, shows what its pods write, and removes it', async () => {
    const run = cluster.newId();
    const going = cluster.run(load, run, { config: long });
    await going.said('measuring');
    going.child.kill('SIGKILL');
    await going.finished;
    const list = await cluster.cli(['agents', 'list', ...inLoad, '--json']).finished;
    const { runs } = JSON.parse(list.stdout) as { readonly runs: readonly ClusterRunStatus[] };
    assert.deepEqual(
      runs.map((seen) => [seen.run, seen.pods.map(({ state }) => state)]),
      [[run, ['running', 'running', 'running', 'running', 'running']]],
    );
    const names = runs[0]!.pods.map(({ name }) => name);
    assert.deepEqual(names.slice(0, 2), ['coordinator', 'bus']);
    const agent = names[2]!.replace('agent ', '');
    const logs = await cluster.cli(['agents', 'logs', run, ...inLoad]).finished;
    assert.match(logs.stdout, /^coordinator:\n {2}\S[^]*\nbus:\n {2}\S[^]*\nagent \w+:\n {2}/);
    const one = await cluster.cli(['agents', 'logs', run, agent, ...inLoad]).finished;
    assert.match(one.stdout, new RegExp(`^agent ${agent}:\\n[^]*agent \\d of 3 in run ${run}\\n`));
    const removed = await cluster.cli(['agents', 'remove', run, ...inLoad]).finished;
    assert.deepEqual([removed.code, removed.stdout], [0, `Run ${run} is removed.\n`]);
    await cluster.untilNothingLeft(load, run);
  });
});
