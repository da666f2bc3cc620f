import type { LimitRange, LimitRangeItem } from 'kubernetes-types/core/v1';
import type { ClusterWords } from '../clusterWords';
import { amountWords, quantityOf } from '../quantity';
import { needsOf, type PodNeeds } from '../runNeeds';
import type { ClusterCheck, Finding } from './check';

export const limitRangeCheck: ClusterCheck = {
  name: 'limits',
  async look(view, given): Promise<readonly Finding[]> {
    const { ranges } = await view.rules();
    if (ranges.length === 0) return [{ status: 'good', text: 'the namespace gives pods none' }];
    const { pods } = needsOf(given, ranges);
    const bad = ranges.flatMap((range) =>
      (range.spec?.limits ?? [])
        // Each of our pods has one container: what holds for one holds for the other.
        .filter(({ type }) => type === 'Container' || type === 'Pod')
        .flatMap((item) => pods.flatMap((pod) => broken(range, item, pod, view.words))),
    );
    const slow = pods.filter(({ part }) => part === 'agents').flatMap(slowed);
    if (bad.length + slow.length > 0) return [...bad, ...slow];
    const names = ranges.map(({ metadata }) => metadata?.name ?? '').join(', ');
    return [{ status: 'good', text: `${names}: every pod of a run is within` }];
  },
};

/** Source: Kubernetes documentation, "Limit Ranges", heading "Constraints on resource limits and requests". */
function broken(
  { metadata }: LimitRange,
  item: LimitRangeItem,
  pod: PodNeeds,
  by: ClusterWords,
): Finding[] {
  const { min = {}, max = {}, maxLimitRequestRatio = {} } = item;
  const bad = (resource: string, what: string): Finding => ({
    status: 'bad',
    text: `LimitRange ${metadata?.name} refuses the ${podWords[pod.part] ?? pod.part} for its ${resource}: ${what}.`,
    advice: `Ask for a wider range, or name another namespace${by.namespace}.`,
  });
  return [
    ...Object.entries(max).flatMap(([resource, text]) => {
      const most = quantityOf(text) ?? Infinity;
      const limit = pod.limits[resource];
      if (limit !== undefined && limit <= most) return [];
      if (limit === undefined && !['cpu', 'memory'].includes(resource)) return [];
      const has = limit === undefined ? 'has no limit' : `may take ${amountWords(resource, limit)}`;
      return [bad(resource, `it ${has}, at most ${amountWords(resource, most)} are allowed`)];
    }),
    ...Object.entries(min).flatMap(([resource, text]) => {
      const least = quantityOf(text) ?? 0;
      const request = pod.requests[resource];
      return request === undefined || request >= least
        ? []
        : [
            bad(
              resource,
              `it asks for ${amountWords(resource, request)}, at least ${amountWords(resource, least)} must be asked for`,
            ),
          ];
    }),
    ...Object.entries(maxLimitRequestRatio).flatMap(([resource, text]) => {
      const [limit, request] = [pod.limits[resource], pod.requests[resource]];
      const ratio = limit === undefined || !request ? 0 : limit / request;
      return ratio <= (quantityOf(text) ?? Infinity)
        ? []
        : [
            bad(
              resource,
              `its limit is ${ratio} times what it asks for, at most ${text} times are allowed`,
            ),
          ];
    }),
  ];
}

/** A limit that the namespace gives to agents, which have none by themselves. */
function slowed({ limits, requests }: PodNeeds): Finding[] {
  const cores = limits['cpu'];
  if (cores === undefined) return [];
  if (cores < (requests['cpu'] ?? 0))
    return [
      {
        status: 'bad',
        text: `The namespace limits each agent to ${amountWords('cpu', cores)}, which is less than the ${amountWords('cpu', requests['cpu']!)} that an agent asks for: the cluster refuses it.`,
        advice: 'Ask for a larger default in the LimitRange, or name another namespace.',
      },
    ];
  return [
    {
      status: 'warning',
      text: `The namespace limits each agent to ${amountWords('cpu', cores)}: beyond it the load is late, and steps become invalid.`,
      advice: 'Use more agents, or ask for a larger default in the LimitRange.',
    },
  ];
}

const podWords: Readonly<Record<string, string>> = {
  ...{ agents: 'pods of agents', bus: 'pod of the bus', lead: 'pod of the coordinator' },
  owner: 'pod of the owner of all',
};
