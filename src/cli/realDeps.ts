import { estimate } from '../capacity/estimate';
import { loadOf } from '../capacity/loadOf';
import { buildPlan } from '../plan/buildPlan';
import { completeResult } from '../results/completeResult';
import { calibrate } from '../runner/calibrate';
import { machineLimits, missingForRun } from '../runner/machineLimits';
import { startRun } from '../runner/startRun';
import { notRunnable } from '../scenario/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { parseBenchHubFlags } from '../servers/benchHubOptions';
import { openTarget } from '../targets/registry';
import { dialectProblem, probeHub } from '../wire/probeHub';
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
    loadOf,
    estimate,
    buildPlan,
    machineLimits,
    missingForRun,
    openTarget,
    startRun,
    completeResult,
    calibrate: () => calibrate(scripts.serverScript),
    probeHub,
    dialectProblem,
    // A bundle of its own: only the process that serves needs a server.
    startBenchHub: async (options) => {
      const { startBenchHub } = await import(
        /* webpackChunkName: "hub" */ '../servers/benchHub.js'
      );
      return startBenchHub(options);
    },
    parseBenchHubFlags,
    stdinEnded,
  };
}
