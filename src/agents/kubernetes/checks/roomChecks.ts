import type { Job } from 'kubernetes-types/batch/v1';
import { formatBytes } from '../../../base/units';
import { quantityOf } from '../clusterView';
import { type ClusterRun, ownedBy, ownerOf, podOf } from '../manifest';
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
    const all = `${open.length} ready for pods, with ${coresWords(cores)} and ${memoryWords(memory)} for all pods`;
    const wanted = askedCores(given);
    if (wanted > cores)
      return [
        {
          status: 'warning',
          text: `${all}; ${agents} agents and what leads them ask for ${coresWords(wanted)}.`,
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

/** That the pods of a run ask for, all together. */
const askedCores = (given: ClusterRun): number =>
  [ownerOf(given), ...ownedBy('', given)].reduce((sum, object) => {
    const { parallelism = 1 } = (object as Job).spec ?? {};
    const [container] = podOf(object)?.spec?.containers ?? [];
    return sum + parallelism * (quantityOf(container?.resources?.requests?.['cpu']) ?? 0);
  }, 0);

const coresWords = (cores: number): string => `${rounded(cores)} ${cores === 1 ? 'core' : 'cores'}`;

const memoryWords = (bytes: number): string =>
  bytes < 2 ** 30 ? `${rounded(bytes / 2 ** 20)} MiB` : `${rounded(bytes / 2 ** 30)} GiB`;

const rounded = (amount: number): number => Math.round(amount * 100) / 100;
