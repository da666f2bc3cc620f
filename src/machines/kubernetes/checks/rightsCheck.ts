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
/** What only `agents logs` needs. */
const forLogs: Right = { verb: 'get', resource: 'pods/log' };

const rights = Object.entries(needed).flatMap(([resource, verbs]) =>
  verbs.map((verb): Right => ({ verb, resource })),
);

const words = ({ verb, resource }: Right): string => `${verb} ${resource}`;

export const rightsCheck: ClusterCheck = {
  name: 'rights',
  async look(view): Promise<readonly Finding[]> {
    const { namespace } = await view.place();
    const [mayLogs, ...may] = await view.may([forLogs, ...rights]);
    const missing = rights.filter((_right, at) => may[at] !== true);
    const logs: Finding[] = mayLogs
      ? []
      : [
          {
            status: 'note',
            text: `You may not ${words(forLogs)}: agents logs needs it, a run does not.`,
          },
        ];
    if (missing.length > 0)
      return [
        {
          status: 'bad',
          text: `You may not ${missing.map(words).join(', ')} in namespace ${namespace}.`,
          advice: 'Ask for these rights, or name another namespace with --namespace.',
        },
        ...logs,
      ];
    return [
      { status: 'good', text: `all ${rights.length} that a run needs in namespace ${namespace}` },
      ...logs,
    ];
  },
};
