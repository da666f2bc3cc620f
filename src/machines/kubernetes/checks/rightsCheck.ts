import type { Right } from '../clusterView';
import type { ClusterCheck, Finding } from './check';

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
