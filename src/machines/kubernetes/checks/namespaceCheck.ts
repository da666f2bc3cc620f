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
