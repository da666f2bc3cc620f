import type * as Commands from './onDemand';

/** What only some command lines need. */
export type OnDemand = typeof Commands;

export const onDemand = (): Promise<OnDemand> =>
  import(/* webpackChunkName: "run" */ './onDemand.js');
