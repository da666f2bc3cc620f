import { formatBytes } from '../../../base/units';
import { contentBytes } from '../manifest';
import type { ClusterCheck, Finding } from './check';

/** Source: Kubernetes documentation, "ConfigMaps", heading "Motivation": it is not to exceed 1 MiB. */
const mostBytes = 1024 * 1024;

/** Asks nobody. */
export const sizeCheck: ClusterCheck = {
  name: 'size',
  look(_view, given): Promise<readonly Finding[]> {
    const { scripts, files } = contentBytes(given);
    const room = mostBytes - scripts;
    return Promise.resolve(
      files <= room
        ? []
        : [
            {
              status: 'bad',
              text: `The scenario and the files that it names have ${formatBytes(files)}; ${formatBytes(Math.max(0, room))} fit beside the scripts of the agents.`,
              advice: 'Use smaller files: agents on hosts (--on hosts) take up to 1 MB of them.',
            },
          ],
    );
  },
};
