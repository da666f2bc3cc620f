/** What `serve` starts, in a bundle of its own: only a process that serves needs a server. */
export { startAppServer } from '../servers/appServer/appServer';
export { startAzureSignalr } from '../servers/azureSignalr/serviceEmulator';
export { startClassicHub } from '../servers/classic/classicHub';
export { startBenchHub } from '../servers/hub/benchHub';
export { upstreamHandler } from '../servers/upstream/upstreamHandler';
export { startWebPubSubEmulator } from '../servers/webpubsub/webPubSubEmulator';
