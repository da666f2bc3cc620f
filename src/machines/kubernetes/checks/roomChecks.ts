import type { Job } from 'kubernetes-types/batch/v1';
import type {
  LimitRange,
  LimitRangeItem,
  ResourceQuota,
  ResourceRequirements,
} from 'kubernetes-types/core/v1';
import { formatBytes } from '../../../base/units';
import { amountWords, quantityOf } from '../clusterView';
import type { ClusterWords } from '../kubectl';
import { type ClusterRun, type KubeObject, ownedBy, ownerOf } from '../manifest';
import { type ClusterCheck, type Finding, partsWords } from './check';

/** Source: Kubernetes documentation, "Secrets", heading "Constraints on Secret data": 1 MiB at most. Some of it is for keys. */
const mostBytes = 1_000_000;

/** Asks nobody. */
export const sizeCheck: ClusterCheck = {
  name: 'size',
  look(_view, given): Promise<readonly Finding[]> {
    const sizes = Object.values(given.files).map((text) => Buffer.byteLength(text));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    return Promise.resolve(
      bytes <= mostBytes
        ? []
        : [
            {
              status: 'bad',
              text: `The scenario and the files that it names have ${formatBytes(bytes)}; ${formatBytes(mostBytes)} of them fit into a cluster.`,
              advice: 'Use smaller files: agents, wherever they are, take up to 1 MB of them.',
            },
          ],
    );
  },
};

export const nodesCheck: ClusterCheck = {
  name: 'nodes',
  async look(view, given): Promise<readonly Finding[]> {
    const open = (await view.nodes()).filter(({ isOpen, isLinux }) => isOpen && isLinux);
    const cores = open.reduce((sum, node) => sum + node.cores, 0);
    const memory = open.reduce((sum, node) => sum + node.memoryBytes, 0);
    const { agents } = given;
    if (open.length === 0)
      return [
        {
          status: 'warning',
          text: 'No Linux node is ready for pods now.',
          advice: 'Where the cluster adds nodes by itself, agents wait for them; else add some.',
        },
      ];
    const all = `${open.length} ready for pods, with ${amountWords('cpu', cores)} and ${amountWords('memory', memory)} for all pods`;
    const wanted = needsOf(given).pods.reduce(
      (sum, { count, requests }) => sum + count * (requests['cpu'] ?? 0),
      0,
    );
    if (wanted > cores)
      return [
        {
          status: 'warning',
          text: `${all}; ${agents} agents and what leads them ask for ${amountWords('cpu', wanted)}.`,
          advice: 'Use fewer agents, or add nodes: pods that find no place keep the run waiting.',
        },
      ];
    if (agents > open.length)
      return [
        {
          status: 'note',
          text: `${all}. ${agents} agents share them: several on one node have one network, and its outbound ports, together.`,
        },
      ];
    return [{ status: 'good', text: all }];
  },
};

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

/** What the objects of a run take of a namespace, as they stand in its manifest. */

/** Amounts by resource: `cpu`, `memory`. */
type Amounts = Readonly<Record<string, number>>;

/** Pods of one kind, each with one container. */
interface PodNeeds {
  readonly part: string;
  readonly count: number;
  readonly requests: Amounts;
  readonly limits: Amounts;
}

interface RunNeeds {
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
function needsOf(given: ClusterRun, ranges: readonly LimitRange[] = []): RunNeeds {
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

const amountsOf = (texts: Readonly<Record<string, string>>): Amounts =>
  Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => {
      const amount = quantityOf(text);
      return amount === undefined ? [] : [[name, amount]];
    }),
  );
