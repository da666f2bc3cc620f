/** What only command lines about runs on several machines need, in a bundle of its own. */
export { agentCommand } from './commands/agentCommand';
export { attachCommand } from './commands/attachCommand';
export { gatherHosts } from './commands/onHosts';
export { onCluster } from './loadOnCluster';
