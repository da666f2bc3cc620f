import { buildRunPlan } from '../plan/buildPlan';
import { machineLimits, missingForRun } from '../engine/lead/machineLimits';
import { notRunnable } from '../scenario/check/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { contractMethods } from '../usecases/registry';
import { onDemand } from './loadOnDemand';
import type { CommandDeps } from './program';
import { serveDeps } from './tree/commandTree';

export function shippedDeps(
  scripts: Pick<CommandDeps, 'workerScript' | 'serverScript'>,
): CommandDeps {
  return {
    ...scripts,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    parseScenario,
    notRunnable,
    capacity: onDemand,
    buildPlan: buildRunPlan,
    machineLimits,
    missingForRun,
    openTarget: async (...target) => (await onDemand()).openTarget(...target),
    startRun: async (...run) => (await onDemand()).startRun(...run),
    completeResult: async (...run) => (await onDemand()).completeResult(...run),
    writeCounters: async (...counters) => (await onDemand()).writeCounterFile(...counters),
    calibrate: async () => (await onDemand()).calibrate(scripts.serverScript),
    probeTargetOf: async (...target) => (await onDemand()).probeTargetOf(...target),
    probeHub: async (endpoint) => (await onDemand()).probeHub(endpoint, contractMethods()),
    askHub: async (...question) => (await onDemand()).detectHubTraits(...question),
    redirectHosts: async (...question) => (await onDemand()).redirectHosts(...question),
    ...serveDeps,
  };
}
