/** What only command lines about a cluster need, in a bundle of its own; agents never load it. */
export { attachInCluster, runOnKubernetes } from './commands/onKubernetes';
export { doctorCluster } from './commands/doctorCluster';
export { agentLogs, listAgents, removeAgents } from './commands/agentsCommand';
