import type { Job } from 'kubernetes-types/batch/v1';
import type { Pod, PodStatus } from 'kubernetes-types/core/v1';

const since = '2026-11-21T14:00:02Z';

const pod = (part: string, end: string, status: PodStatus, more: Partial<Pod> = {}): Pod => ({
  kind: 'Pod',
  spec: { nodeName: 'node-1', containers: [] },
  ...more,
  metadata: {
    name: `signalr-bench-r1-${part}-${end}`,
    creationTimestamp: since,
    labels: { 'bench-run': 'r1', 'app.kubernetes.io/component': part },
    ...more.metadata,
  },
  status,
});

const job = (run: string, part: string, creationTimestamp: string, deadlineS?: number): Job => ({
  kind: 'Job',
  metadata: {
    name: `signalr-bench-${run}${part}`,
    labels: { 'bench-run': run },
    creationTimestamp,
  },
  spec: {
    template: {},
    ...(deadlineS !== undefined && { ttlSecondsAfterFinished: deadlineS }),
  },
});

const unscheduled = {
  type: 'PodScheduled',
  status: 'False',
  message: '0/5 nodes: Insufficient cpu',
};

/** What `kubectl get jobs,pods` gives of two runs, one of them without pods. */
export const sampleObjects: readonly (Job | Pod)[] = [
  job('r2', '', '2026-11-21T14:01:00Z'),
  job('r1', '-lead', '2026-11-21T14:00:01Z', 5),
  job('r1', '', '2026-11-21T14:00:00Z', 1900),
  pod('owner', 'zz', { phase: 'Succeeded' }),
  pod('agents', 'b2', { phase: 'Failed' }),
  pod(
    'agents',
    'a1',
    { phase: 'Pending', conditions: [unscheduled] },
    { spec: { containers: [] } },
  ),
  pod(
    'bus',
    '12345-xyz',
    { phase: 'Running' },
    {
      spec: { nodeName: 'node-2', containers: [] },
      metadata: {
        name: 'signalr-bench-r1-bus-12345-xyz',
        creationTimestamp: since,
        deletionTimestamp: since,
        labels: { 'bench-run': 'r1', 'app.kubernetes.io/component': 'bus' },
      },
    },
  ),
  pod('lead', 'abcde', { phase: 'Running' }),
];
