/** The servers of `serve`: a bundle of its own. */
export { startAppServer } from '../servers/appServer/appServer';
export { startAzureSignalr } from '../servers/azureSignalr/serviceEmulator';
export { startClassicHub } from '../servers/classic/classicHub';
export { startBenchHub } from '../servers/hub/benchHub';
export { upstreamHandler } from '../servers/upstream/upstreamHandler';
export { startWebPubSubEmulator } from '../servers/webpubsub/webPubSubEmulator';
