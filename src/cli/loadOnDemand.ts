import type * as Commands from './onDemand';

export type OnDemand = typeof Commands;

export const onDemand = (): Promise<OnDemand> =>
  import(/* webpackChunkName: "commands" */ './onDemand.js');
