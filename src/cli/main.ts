#!/usr/bin/env node
import path from 'node:path';
import { buildPlan } from '../plan/buildPlan';
import { machineLimits, missingForRun } from '../runner/lead/machineLimits';
import { notRunnable } from '../scenario/check/notRunnable';
import { parseScenario } from '../scenario/parseScenario';
import { contractMethods } from '../usecases/registry';
import { exitCode } from './exitCode';
import { flushed, processIo, stdinEnded } from './io';
import { onDemand } from './loadOnDemand';
import { runProgram, type CommandDeps } from './program';

// Whatever escapes is a defect of ours.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? String(error)}\n`);
  process.exit(exitCode.defect);
});

// Bundled, this file is dist/cli.js, and the worker's bundle lies beside it.
const scripts = { workerScript: path.join(__dirname, 'worker.js'), serverScript: __filename };

void runProgram(process.argv.slice(2), processIo(), shippedDeps(scripts)).then(async (code) => {
  await flushed();
  process.exit(code);
});

const servers = () => import(/* webpackChunkName: "servers" */ './servers.js');

function shippedDeps(scripts: Pick<CommandDeps, 'workerScript' | 'serverScript'>): CommandDeps {
  return {
    ...scripts,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    parseScenario,
    notRunnable,
    capacity: onDemand,
    buildPlan,
    machineLimits,
    missingForRun,
    openTarget: async (...target) => (await onDemand()).openTarget(...target),
    startRun: async (...run) => (await onDemand()).startRun(...run),
    completeResult: async (...run) => (await onDemand()).completeResult(...run),
    writeCounters: async (...counters) => (await onDemand()).writeCounters(...counters),
    calibrate: async () => (await onDemand()).calibrate(scripts.serverScript),
    probeByKind: async (...target) => (await onDemand()).probeByKind(...target),
    probeHub: async (endpoint) => (await onDemand()).probeHub(endpoint, contractMethods()),
    askHub: async (...question) => (await onDemand()).askHub(...question),
    redirectHosts: async (...question) => (await onDemand()).redirectHosts(...question),
    startBenchHub: async (...options) => (await servers()).startBenchHub(...options),
    startWebPubSubEmulator: async (...options) =>
      (await servers()).startWebPubSubEmulator(...options),
    startAzureSignalr: async (...options) => (await servers()).startAzureSignalr(...options),
    startAppServer: async (...options) => (await servers()).startAppServer(...options),
    startUpstreamHandler: async (...options) => (await servers()).upstreamHandler(...options),
    stdinEnded,
  };
}
