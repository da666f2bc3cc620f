import type * as Cluster from './onCluster';

/** Called from the bundle of runs on several machines, so that nothing of it is in two. */
export const onCluster = (): Promise<typeof Cluster> =>
  import(/* webpackChunkName: "cluster" */ './onCluster.js');
