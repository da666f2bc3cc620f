import assert from 'node:assert/strict';
import type { Job } from 'kubernetes-types/batch/v1';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1';
import { podProblems } from '../../../../src/agents/kubernetes/clusterRuns';
import {
  ownedObjects,
  ownerJob,
  type KubeObject,
} from '../../../../src/agents/kubernetes/manifest';
import { sampleClusterRun } from './sampleClusterRun';

const templateOf = (object: KubeObject): PodTemplateSpec | undefined =>
  object.kind === 'Job' || object.kind === 'Deployment'
    ? (object as Job).spec?.template
    : undefined;

describe('what a run leaves in a cluster', () => {
  const owner = ownerJob(sampleClusterRun);
  const owned = ownedObjects('uid', sampleClusterRun);

  it('belongs to one object and has the label of the run', () => {
    assert.equal(owner.metadata?.ownerReferences, undefined);
    for (const { metadata } of owned) {
      assert.deepEqual(
        metadata?.ownerReferences?.map(({ uid, name }) => [uid, name]),
        [['uid', owner.metadata?.name]],
      );
      assert.equal(metadata.labels?.['bench-run'], 'r1');
    }
  });

  it('lets agents have the variables that the scenario refers to', () => {
    const container = templateOf(owned.at(-1)!)?.spec?.containers[0];
    assert.deepEqual(container?.command?.slice(2), [
      ...['agent', '--run', 'r1', '--env', 'KEY', '--env', 'OF_MINE'],
    ]);
  });

  it('holds secrets in its Secret and nowhere else', () => {
    const others = [owner, ...owned.filter(({ kind }) => kind !== 'Secret')];
    for (const secret of ['very secret', 'lead key', 'agent key', 'target: ${env:KEY}'])
      assert.ok(!JSON.stringify(others).includes(secret), secret);
    assert.ok(JSON.stringify(owned).includes('very secret'));
  });

  /** Source: Kubernetes documentation, "Pod Security Standards", headings "Baseline" and "Restricted". */
  it('keeps to the strictest of the Pod Security Standards, writes where it is meant to, and has no key of the cluster', () => {
    const volumes = ['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral'];
    const taken = [...volumes, 'persistentVolumeClaim', 'projected', 'secret', 'name'];
    const templates = [owner, ...owned].flatMap((object) => templateOf(object) ?? []);
    assert.equal(templates.length, 4);
    for (const { spec } of templates) {
      const { securityContext: pod } = spec!;
      assert.equal(spec!.automountServiceAccountToken, false);
      for (const key of ['hostNetwork', 'hostPID', 'hostIPC'] as const) assert.ok(!spec![key], key);
      assert.equal(pod?.runAsNonRoot, true);
      assert.ok(pod.runAsUser! > 0);
      assert.equal(pod.seccompProfile?.type, 'RuntimeDefault');
      for (const key of ['sysctls', 'seLinuxOptions', 'windowsOptions'] as const)
        assert.equal(pod[key], undefined, key);
      for (const volume of spec!.volumes ?? [])
        assert.ok(Object.keys(volume).every((key) => taken.includes(key)));
      assert.equal(spec!.initContainers, undefined);
      for (const { securityContext, resources, ports = [] } of spec!.containers) {
        assert.equal(securityContext?.readOnlyRootFilesystem, true);
        assert.ok(resources?.limits?.['memory']);
        assert.ok(!securityContext.privileged);
        assert.equal(securityContext.allowPrivilegeEscalation, false);
        assert.deepEqual(securityContext.capabilities, { drop: ['ALL'] });
        for (const key of ['runAsUser', 'runAsNonRoot', 'seccompProfile', 'procMount'] as const)
          assert.equal(securityContext[key], undefined, key);
        assert.ok(ports.every(({ hostPort }) => hostPort === undefined));
      }
    }
  });

  it('goes to nodes that can run it', () => {
    for (const { spec } of owned.flatMap((object) => templateOf(object) ?? []))
      assert.deepEqual(spec!.nodeSelector, { 'kubernetes.io/os': 'linux' });
  });

  it('ends by itself, outlives agents that crash, and has one coordinator', () => {
    const jobs = owned.filter((object): object is Job => object.kind === 'Job');
    assert.deepEqual(
      jobs.map(({ spec }) => spec?.parallelism),
      [1, 3],
    );
    assert.equal(owner.spec!.ttlSecondsAfterFinished, 1900 + 600);
    const [lead, agents] = jobs;
    assert.deepEqual([lead!.spec!.backoffLimit, agents!.spec!.backoffLimit], [0, 1000]);
    for (const { spec } of [owner, ...jobs]) {
      assert.equal(spec?.activeDeadlineSeconds, 1900);
      assert.ok(spec.ttlSecondsAfterFinished! > 0);
    }
  });

  it('has every name of a variable and every word as text', () => {
    const lead = templateOf(
      owned.find(({ metadata }) => metadata?.name?.endsWith('-lead') === true)!,
    );
    const [container] = lead!.spec!.containers;
    assert.ok(container!.command!.every((word) => typeof word === 'string'));
    assert.ok(container!.command!.includes('config.repeat=2'));
    assert.deepEqual(container!.envFrom, [{ secretRef: { name: 'mine' } }]);
    assert.deepEqual(lead!.spec!.volumes![1]!.secret!.items, [
      { key: 'file-0', path: 's.yaml' },
      { key: 'file-1', path: 'data/a.json' },
    ]);
  });

  it('has sentences for pods that do not run', () => {
    const metadata = { name: 'p' };
    const waiting = { reason: 'ImagePullBackOff', message: 'no such image' };
    assert.deepEqual(
      podProblems({
        metadata,
        status: { containerStatuses: [{ state: { waiting } } as never] },
      }),
      ['Pod p: ImagePullBackOff, no such image.'],
    );
    const unscheduled = { type: 'PodScheduled', status: 'False', message: 'Insufficient cpu' };
    assert.deepEqual(podProblems({ metadata, status: { conditions: [unscheduled] } }), [
      'Pod p is pending: Insufficient cpu.',
    ]);
    assert.deepEqual(podProblems({ metadata, status: { phase: 'Running' } }), []);
  });
});
