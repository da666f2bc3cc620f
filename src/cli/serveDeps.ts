import type { ServeDeps } from './commands/serveCommand';
import { stdinEnded } from './io';

const servers = () => import(/* webpackChunkName: "servers" */ './servers.js');

/** What `serve` works with. */
export const serveDeps: ServeDeps = {
  startBenchHub: async (...options) => (await servers()).startBenchHub(...options),
  startClassicHub: async (...options) => (await servers()).startClassicHub(...options),
  startWebPubSubEmulator: async (...options) =>
    (await servers()).startWebPubSubEmulator(...options),
  startAzureSignalr: async (...options) => (await servers()).startAzureSignalr(...options),
  startAppServer: async (...options) => (await servers()).startAppServer(...options),
  startUpstreamHandler: async (...options) => (await servers()).upstreamHandler(...options),
  stdinEnded,
};
