import { listed } from '../../../scenario/text/words';
import type { ClusterCheck, Finding } from './check';

/** The bus of a run in a cluster has no TLS. Asks nobody. */
export const openBusCheck: ClusterCheck = {
  name: 'bus',
  look: (_view, { secretFiles = [] }): Promise<readonly Finding[]> =>
    Promise.resolve(
      secretFiles.length === 0
        ? []
        : [
            {
              status: 'warning',
              text: `The bus of the run has no TLS: ${listed(secretFiles)} can be read by whoever listens on the network of the cluster.`,
              advice:
                'Where others may listen there, sign tokens by a rule (identities.rule) with a key from a Secret.',
            },
          ],
    ),
};
