import { formatBytes } from '../../../base/units';
import type { ClusterCheck, Finding } from './check';

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
