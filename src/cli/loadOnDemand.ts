import type * as OnDemand from './onDemand';

/** Loads what only some command lines need. */
export const onDemand = (): Promise<typeof OnDemand> =>
  import(/* webpackChunkName: "run" */ './onDemand.js');
