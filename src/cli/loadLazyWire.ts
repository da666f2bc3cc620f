import type * as Wire from './lazyWire';

/** Loads what only `doctor`, and runs that ask the hub something before they start, need: workers have a bundle of their own. */
export const lazyWire = (): Promise<typeof Wire> =>
  import(/* webpackChunkName: "wire" */ './lazyWire.js');
