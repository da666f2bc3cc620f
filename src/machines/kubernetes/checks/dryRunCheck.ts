import type { Job } from 'kubernetes-types/batch/v1';
import { ExpectedError } from '../../../base/expectedError';
import { ownedBy, ownerOf } from '../manifest';
import type { ClusterCheck, Finding } from './check';

/** Asks the cluster itself whether it would take the objects of a run: its own rules and those of others. */
export const dryRunCheck: ClusterCheck = {
  name: 'dry run',
  isForDoctor: true,
  async look(view, given): Promise<readonly Finding[]> {
    const owned = ownedBy('00000000-0000-0000-0000-000000000000', given);
    const agents = owned.find(({ metadata }) => metadata?.name?.endsWith('-agents')) as Job;
    const { metadata, spec } = agents.spec!.template;
    const pod = {
      ...{ apiVersion: 'v1', kind: 'Pod', spec },
      metadata: { ...metadata, name: agents.metadata!.name! },
    };
    const [mayPods] = await view.may([{ verb: 'create', resource: 'pods' }]);
    const objects = [ownerOf(given), ...owned, ...(mayPods ? [pod] : [])];
    try {
      await view.tryOut(objects);
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      return [{ status: 'bad', text: error.message }];
    }
    return [
      {
        status: 'good',
        text: `the cluster would take all objects of a run${mayPods ? ', and a pod of an agent' : ''}`,
      },
    ];
  },
};
