import type { OpenConnection } from '../../wire/connect/connectHub';
import type { Endpoint } from '../../wire/connect/endpoint';

/** Loads the official client for an endpoint, which few runs need. */
export async function loadSdk(endpoint: Endpoint): Promise<OpenConnection> {
  if (endpoint.service?.kind === 'webpubsub') {
    const { pubSubSdkOpener } = await import(
      /* webpackChunkName: "sdkPubSub" */ '../../wire/sdk/pubSubSdkConnection.js'
    );
    return pubSubSdkOpener();
  }
  const { sdkOpener } = await import(
    /* webpackChunkName: "sdk" */ '../../wire/sdk/sdkConnection.js'
  );
  return sdkOpener(endpoint);
}
