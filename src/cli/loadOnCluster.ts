import type * as Cluster from './onCluster';

/** Called from what is itself loaded on demand, so that nothing of it is in two bundles. */
export const onCluster = (): Promise<typeof Cluster> =>
  import(/* webpackChunkName: "cluster" */ './onCluster.js');
