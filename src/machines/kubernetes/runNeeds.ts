/** What the objects of a run take of a namespace, as they stand in its manifest. */
import type { Job } from 'kubernetes-types/batch/v1';
import type { LimitRange, ResourceRequirements } from 'kubernetes-types/core/v1';
import { quantityOf } from './clusterView';
import { ownedBy, ownerOf, type ClusterRun, type KubeObject } from './manifest';

/** Amounts by resource: `cpu`, `memory`. */
export type Amounts = Readonly<Record<string, number>>;

/** Pods of one kind, each with one container. */
export interface PodNeeds {
  readonly part: string;
  readonly count: number;
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export interface RunNeeds {
  readonly pods: readonly PodNeeds[];
  /** How many objects of each kind there are, by the names that quotas have for them. */
  readonly objects: Amounts;
}

/** Names of kinds as quotas count them. Source: Kubernetes documentation, "Resource Quotas", heading "Object Count Quota". */
const resourceOf: Readonly<Record<string, readonly string[]>> = {
  ConfigMap: ['configmaps', 'count/configmaps'],
  Secret: ['secrets', 'count/secrets'],
  Service: ['services', 'count/services'],
  Deployment: ['count/deployments.apps', 'count/replicasets.apps'],
  Job: ['count/jobs.batch'],
  NetworkPolicy: ['count/networkpolicies.networking.k8s.io'],
};

/** What a run takes, with the limits that the namespace gives to pods without. */
export function needsOf(given: ClusterRun, ranges: readonly LimitRange[] = []): RunNeeds {
  const all: KubeObject[] = [ownerOf(given), ...ownedBy('', given)];
  const objects: Record<string, number> = {};
  for (const { kind } of all)
    for (const name of resourceOf[kind!] ?? []) objects[name] = (objects[name] ?? 0) + 1;
  const pods = all.flatMap((object) => podsOf(object, ranges)).filter(({ count }) => count > 0);
  return { pods, objects };
}

function podsOf(object: KubeObject, ranges: readonly LimitRange[]): PodNeeds[] {
  if (object.kind !== 'Job' && object.kind !== 'Deployment') return [];
  const { spec } = object as Job;
  const count =
    spec?.parallelism ?? (object as { spec?: { replicas?: number } }).spec?.replicas ?? 1;
  const part = spec?.template.metadata?.labels?.['app.kubernetes.io/component'] ?? '';
  const [container] = spec?.template.spec?.containers ?? [];
  return [{ part, count, ...withDefaults(container?.resources ?? {}, ranges) }];
}

/** Source: Kubernetes documentation, "Limit Ranges", heading "LimitRange and admission checks for Pods". */
function withDefaults(
  { requests = {}, limits = {} }: ResourceRequirements,
  ranges: readonly LimitRange[],
): Pick<PodNeeds, 'requests' | 'limits'> {
  const forContainers = ranges
    .flatMap(({ spec }) => spec?.limits ?? [])
    .filter(({ type }) => type === 'Container');
  const defaults = joined(forContainers.map((each) => each.default ?? {}));
  const asked = joined(forContainers.map((each) => each.defaultRequest ?? {}));
  return {
    limits: amountsOf({ ...defaults, ...limits }),
    // Where a limit stands alone, as much is asked for.
    requests: amountsOf({ ...limits, ...asked, ...requests }),
  };
}

const joined = (all: readonly Readonly<Record<string, string>>[]): Record<string, string> =>
  Object.fromEntries(all.flatMap((each) => Object.entries(each)));

export const amountsOf = (texts: Readonly<Record<string, string>>): Amounts =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      const amount = quantityOf(text);
      return amount === undefined ? [] : [[name, amount]];
    }),
  );
