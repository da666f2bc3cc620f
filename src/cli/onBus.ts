/** What only command lines about runs on several machines need, in a bundle of its own. */
import type * as Cluster from './onCluster';

export { agentCommand } from './commands/agentCommand';
export { attachCommand } from './commands/attachCommand';
export { gatherHosts } from './commands/onHosts';

/** Loaded from here, so that nothing of it is in two bundles. */
export const onCluster = (): Promise<typeof Cluster> =>
  import(/* webpackChunkName: "cluster" */ './onCluster.js');
