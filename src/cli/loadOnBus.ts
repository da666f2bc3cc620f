import type * as Agents from './onBus';

/** Called from what is itself loaded on demand, so that nothing of it is in two bundles. */
export const onBus = (): Promise<typeof Agents> =>
  import(/* webpackChunkName: "agents" */ './onBus.js');
