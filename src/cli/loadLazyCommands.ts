import type * as Commands from './lazyCommands';

/** Loads what few runs need. */
export const lazyCommands = (): Promise<typeof Commands> =>
  import(/* webpackChunkName: "run" */ './lazyCommands.js');
