import type { Pod } from 'kubernetes-types/core/v1';
import { ExpectedError } from '../../../base/expectedError';
import type { Right } from '../clusterView';
import { ownedBy, ownerOf, podOf } from '../manifest';
import type { ClusterCheck, Finding } from './check';

const level = 'pod-security.kubernetes.io/enforce';

/**
 * Whether the namespace is there, and what it asks of pods. Those of a run keep to `restricted`, the strictest level,
 * so that none is refused. Source: Kubernetes documentation, "Pod Security Standards", heading "Restricted".
 */
export const namespaceCheck: ClusterCheck = {
  name: 'namespace',
  isForDoctor: true,
  async look(view): Promise<readonly Finding[]> {
    const { namespace } = await view.place();
    const enforced = (await view.labels())[level];
    const asks =
      enforced === undefined
        ? 'asks no Pod Security level'
        : `asks pods for Pod Security level ${enforced}`;
    return [{ status: 'good', text: `${namespace} ${asks}; those of a run keep to restricted` }];
  },
};

/** What the user must be allowed in the namespace, by resource. */
const needed: Readonly<Record<string, readonly string[]>> = {
  configmaps: ['create'],
  secrets: ['create'],
  services: ['create', 'get'],
  'deployments.apps': ['create', 'get', 'list', 'watch'],
  'jobs.batch': ['create', 'get', 'list', 'watch', 'delete'],
  'networkpolicies.networking.k8s.io': ['create'],
  pods: ['get', 'list'],
  'pods/portforward': ['create'],
};
/** Without these a run starts, too; what is missed then. */
const useful: readonly (readonly [Right, string])[] = [
  [{ verb: 'get', resource: 'pods/log' }, 'agents logs needs it'],
  [{ verb: 'list', resource: 'events' }, 'why the cluster makes no pods is not known then'],
];

const rights = Object.entries(needed).flatMap(([resource, verbs]) =>
  verbs.map((verb): Right => ({ verb, resource })),
);

const words = ({ verb, resource }: Right): string => `${verb} ${resource}`;

export const rightsCheck: ClusterCheck = {
  name: 'rights',
  async look(view): Promise<readonly Finding[]> {
    const { namespace } = await view.place();
    const may = await view.may([...rights, ...useful.map(([right]) => right)]);
    const missing = rights.filter((_right, at) => may[at] !== true);
    const notes = useful
      .filter((_right, at) => may[rights.length + at] !== true)
      .map(([right, missed]): Finding => ({
        status: 'note',
        text: `You may not ${words(right)}: ${missed}. A run does without.`,
      }));
    if (missing.length > 0)
      return [
        {
          status: 'bad',
          text: `You may not ${missing.map(words).join(', ')} in namespace ${namespace}.`,
          advice: `Ask for these rights, or name another namespace${view.words.namespace}.`,
        },
        ...notes,
      ];
    return [
      { status: 'good', text: `all ${rights.length} that a run needs in namespace ${namespace}` },
      ...notes,
    ];
  },
};

/** Asks the cluster itself whether it would take the objects of a run: its own rules and those of others. */
export const dryRunCheck: ClusterCheck = {
  name: 'dry run',
  isForDoctor: true,
  async look(view, given): Promise<readonly Finding[]> {
    const objects = [ownerOf(given), ...ownedBy('00000000-0000-0000-0000-000000000000', given)];
    // Quotas and limits of a namespace are for pods, which others make for the run.
    const pods = objects.flatMap((object): Pod[] => {
      const { metadata, spec } = podOf(object) ?? {};
      const named = { ...metadata, name: object.metadata!.name! };
      return spec ? [{ apiVersion: 'v1', kind: 'Pod', metadata: named, spec }] : [];
    });
    const [mayPods] = await view.may([{ verb: 'create', resource: 'pods' }]);
    try {
      await view.tryOut([...objects, ...(mayPods ? pods : [])]);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      return [{ status: 'bad', text: error.message }];
    }
    return [
      {
        status: 'good',
        text: `the cluster would take all objects of a run${mayPods ? ', and its pods one by one' : ''}`,
      },
    ];
  },
};
