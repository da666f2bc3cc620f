import { buildPlan } from '../plan/buildPlan';
import { machineLimits, missingForRun } from '../runner/lead/machineLimits';
import { startRun } from '../runner/lead/startRun';
import { notRunnable } from '../scenario/check/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { probeConnection } from '../targets/connect/probeConnection';
import { openTarget } from '../targets/registry';
import { lazyCommands } from './loadLazyCommands';
import { lazyWire } from './loadLazyWire';
import { stdinEnded } from './processSurroundings';
import type { CommandDeps } from './program';

/** The commands' dependencies as shipped. */
export function realDeps(scripts: Pick<CommandDeps, 'workerScript' | 'serverScript'>): CommandDeps {
  return {
    ...scripts,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    parseScenario,
    notRunnable,
    capacity: lazyCommands,
    buildPlan,
    machineLimits,
    missingForRun,
    openTarget,
    startRun,
    completeResult: async (...run) => (await lazyCommands()).completeResult(...run),
    writeCounters: async (...counters) => (await lazyCommands()).writeCounters(...counters),
    calibrate: async () => (await lazyWire()).calibrate(scripts.serverScript),
    probeConnection,
    probeHub: async (endpoint) => (await lazyWire()).probeHub(endpoint),
    askHub: async (...question) => (await lazyWire()).askHub(...question),
    redirectHosts: async (...question) => (await lazyWire()).redirectHosts(...question),
    // A bundle of its own: only the process that serves needs a server.
    startBenchHub: async (options) => {
      const { startBenchHub } = await import(
        /* webpackChunkName: "hub" */ '../servers/hub/benchHub.js'
      );
      return startBenchHub(options);
    },
    startWebPubSubEmulator: async (options) => {
      const { startWebPubSubEmulator } = await import(
        /* webpackChunkName: "webPubSub" */ '../servers/webpubsub/webPubSubEmulator.js'
      );
      return startWebPubSubEmulator(options);
    },
    startAzureSignalr: async (options) => {
      const { startAzureSignalr } = await import(
        /* webpackChunkName: "azureSignalr" */ '../servers/azureSignalr/startAzureSignalr.js'
      );
      return startAzureSignalr(options);
    },
    startAppServer: async (options) => {
      const { startAppServer } = await import(
        /* webpackChunkName: "appServer" */ '../servers/appServer/appServer.js'
      );
      return startAppServer(options);
    },
    startUpstreamHandler: async (settings, port, onProblem) => {
      const { upstreamHandler } = await import(
        /* webpackChunkName: "upstream" */ '../servers/upstream/upstreamHandler.js'
      );
      return upstreamHandler(settings, port, onProblem);
    },
    stdinEnded,
  };
}
