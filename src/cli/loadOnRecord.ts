import type * as Recorded from './onRecord';

/** Called from what is itself loaded on demand, so that nothing of it is in two bundles. */
export const onRecord = (): Promise<typeof Recorded> =>
  import(/* webpackChunkName: "record" */ './onRecord.js');
