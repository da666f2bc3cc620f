import type { ResourceQuota } from 'kubernetes-types/core/v1';
import type { ClusterWords } from '../clusterWords';
import type { ClusterRun } from '../manifest';
import { amountWords } from '../quantity';
import { amountsOf, needsOf, type Amounts, type RunNeeds } from '../runNeeds';
import { partsWords, type ClusterCheck, type Finding } from './check';

/** Resources that a pod must name where a quota limits them. Source: Kubernetes documentation, "Resource Quotas". */
const mustBeNamed = ['requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

export const quotaCheck: ClusterCheck = {
  name: 'quota',
  async look(view, given): Promise<readonly Finding[]> {
    const { quotas, ranges } = await view.rules();
    if (quotas.length === 0) return [{ status: 'good', text: 'the namespace has none' }];
    const needs = needsOf(given, ranges);
    const found = quotas
      .filter(isForOurPods)
      .flatMap((quota) => [...unnamed(quota, needs), ...tooSmall(quota, given, needs, view.words)]);
    if (found.length > 0) return found;
    const names = quotas.map(({ metadata }) => metadata?.name ?? '').join(', ');
    return [{ status: 'good', text: `${names}: room for ${partsWords(given)}` }];
  },
};

/** Ours ask for something and have no deadline of their own; of other scopes nothing is known. */
const isForOurPods = ({ spec }: ResourceQuota): boolean =>
  (spec?.scopes ?? []).every((scope) => ['NotTerminating', 'NotBestEffort'].includes(scope)) &&
  (spec?.scopeSelector?.matchExpressions ?? []).length === 0;

function unnamed({ metadata, status }: ResourceQuota, { pods }: RunNeeds): Finding[] {
  const hard = Object.keys(status?.hard ?? {}).map(longName);
  return mustBeNamed
    .filter((name) => hard.includes(name))
    .filter((name) => pods.some((pod) => amountOf(pod, name) === undefined))
    .map((name) => ({
      status: 'bad',
      text: `Quota ${metadata?.name} limits ${name}, so that the namespace takes no pod without one, and those of a run have none: nothing may slow down the load.`,
      advice: `Give the namespace a LimitRange with a default for it (of several cores), or use a namespace without this quota.`,
    }));
}

function tooSmall(
  { metadata, status }: ResourceQuota,
  given: ClusterRun,
  needs: RunNeeds,
  by: ClusterWords,
): Finding[] {
  const hard = amountsOf(status?.hard ?? {});
  const used = amountsOf(status?.used ?? {});
  const needed = neededOf(needs, given.agents);
  const lacking = Object.entries(hard).flatMap(([resource, limit]) => {
    const free = limit - (used[resource] ?? 0);
    const wanted = needed[longName(resource)]?.(given.agents) ?? 0;
    return wanted > free ? [{ resource, limit, free, wanted }] : [];
  });
  if (lacking.length === 0) return [];
  const most = Math.min(
    ...lacking.map(({ resource, free }) => mostAgents(needed[longName(resource)]!, free)),
  );
  const parts = lacking.map(
    ({ resource, limit, free, wanted }) =>
      `${amountWords(resource, Math.max(0, free))} of ${amountWords(resource, limit)} ${resource} (${amountWords(resource, wanted)} are needed)`,
  );
  return [
    {
      status: 'bad',
      text: `Quota ${metadata?.name} has too little left for ${partsWords(given)}: ${parts.join(', ')}.`,
      advice:
        most > 0
          ? `Use at most ${most} ${most === 1 ? 'agent' : 'agents'}${by.agents(most)}, or ask for a larger quota.`
          : `Ask for a larger quota, or name another namespace${by.namespace}.`,
    },
  ];
}

/** What a run with so many agents needs of each resource. */
function neededOf(
  { pods, objects }: RunNeeds,
  agents: number,
): Readonly<Record<string, (agents: number) => number>> {
  const others = pods.filter(({ part }) => part !== 'agents');
  const [agent] = pods.filter(({ part }) => part === 'agents');
  const of = (name: string) => (count: number) =>
    others.reduce((sum, pod) => sum + (amountOf(pod, name) ?? 0) * pod.count, 0) +
    (agent === undefined ? 0 : (amountOf(agent, name) ?? 0) * count);
  const podCount = (count: number): number =>
    others.reduce((sum, pod) => sum + pod.count, 0) + (agents > 0 ? count : 0);
  return {
    ...Object.fromEntries(mustBeNamed.map((name) => [name, of(name)])),
    ...{ pods: podCount, 'count/pods': podCount },
    ...Object.fromEntries(Object.entries(objects).map(([name, count]) => [name, () => count])),
  };
}

/** Quotas may leave `requests.` out. */
const longName = (resource: string): string =>
  resource === 'cpu' || resource === 'memory' ? `requests.${resource}` : resource;

function amountOf(
  pod: { readonly requests: Amounts; readonly limits: Amounts },
  name: string,
): number | undefined {
  const [kind, resource = ''] = name.split('.');
  return (kind === 'limits' ? pod.limits : pod.requests)[resource];
}

function mostAgents(needed: (agents: number) => number, free: number): number {
  const each = needed(1) - needed(0);
  return each <= 0 ? 0 : Math.max(0, Math.floor((free - needed(0)) / each + 1e-9));
}
