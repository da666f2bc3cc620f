import { amountWords } from '../quantity';
import { needsOf } from '../runNeeds';
import type { ClusterCheck, Finding } from './check';

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
