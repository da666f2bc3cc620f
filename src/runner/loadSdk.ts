import type * as Sdk from '../wire/sdk/sdkConnection';

/** Loads the official client, which few runs need. */
export const loadSdk = (): Promise<typeof Sdk> =>
  import(/* webpackChunkName: "sdk" */ '../wire/sdk/sdkConnection.js');
