import path from 'node:path';
import { Emitter } from '../../../src/base/async';
import type { RunSummary } from '../../../src/measure/summary';
import type { Snapshot } from '../../../src/measure/snapshot';
import type { Plan } from '../../../src/plan/plan';
import { writeCounterFile } from '../../../src/results/counters/counterFile';
import { completeResult } from '../../../src/results/completeResult';
import type { Run, StopReason } from '../../../src/engine/lead/run';
import type { CommandDeps } from '../../../src/cli/program';
import type { OpenTarget } from '../../../src/targets/target';
import {
  sampleModel,
  sampleScenario,
  sampleSnapshot,
  sampleSummary,
} from '../results/sampleResult';

export function fakeRun(options: {
  readonly snapshots?: readonly Snapshot[];
  readonly summary?: RunSummary;
  readonly onStop?: (reason: StopReason, times: number) => void;
}): Run {
  const snapshots = new Emitter<Snapshot>();
  let finish: (summary: RunSummary) => void = () => undefined;
  let stops = 0;
  const finished = new Promise<RunSummary>((resolve) => {
    finish = resolve;
  });
  setImmediate(() => {
    for (const snapshot of options.snapshots ?? [sampleSnapshot(1), sampleSnapshot(20, 1)]) {
      snapshots.fire(snapshot);
    }
    if (options.summary) {
      if (!options.snapshots) snapshots.fire(sampleSnapshot(200, undefined, { phase: 'closing' }));
      finish(options.summary);
    }
  });
  return {
    onSnapshot: snapshots.event,
    finished,
    stop: (reason) => {
      stops += 1;
      options.onStop?.(reason, stops);
      finish(sampleSummary({ ending: 'interrupted', steps: [] }));
    },
  };
}

export interface Calls {
  readonly overrides: unknown[];
  readonly runs: { plan: Plan; keepGoing: boolean }[];
  targetsOpen: number;
}

export function fakeDeps(change: Partial<CommandDeps> = {}): CommandDeps & { calls: Calls } {
  const calls: Calls = { overrides: [], runs: [], targetsOpen: 0 };
  return {
    calls,
    workerScript: 'worker.js',
    serverScript: path.resolve('dist', 'cli.js'),
    node: 'v20.0.0',
    platform: 'linux x64',
    parseScenario: (_text, options) => {
      calls.overrides.push(...(options?.overrides ?? []));
      return { scenario: sampleScenario, problems: [] };
    },
    notRunnable: () => undefined,
    capacity: () => Promise.resolve(sampleModel),
    machineLimits: () => Promise.resolve({ cores: 4, fileDescriptors: 1024, localPorts: 28_000 }),
    missingForRun: () => undefined,
    askHub: () => Promise.resolve(undefined),
    redirectHosts: () => Promise.resolve([]),
    buildPlan: (scenario, { workers, seed }) =>
      ({
        seed,
        connections: scenario.connections,
        entries: [],
        workers: Array(workers).fill({}),
      }) as never,
    openTarget: () => {
      calls.targetsOpen += 1;
      const target: OpenTarget = {
        kind: 'hubUrl',
        endpoint: {
          urls: ['http://localhost:5050/signalrbench'],
          headers: {},
          query: {},
          insecureTls: false,
          skipNegotiation: false,
        },
        secrets: [],
        url: 'http://localhost:5050/signalrbench',
        hostsBeyond: [],
        dispose: () => {
          calls.targetsOpen -= 1;
          return Promise.resolve();
        },
      };
      return Promise.resolve(target);
    },
    startRun: (plan, _target, { keepGoing }) => {
      calls.runs.push({ plan, keepGoing });
      return fakeRun({ summary: sampleSummary() });
    },
    completeResult: (summary, scenario, options) =>
      Promise.resolve(completeResult(summary, scenario, options, sampleModel)),
    writeCounters: writeCounterFile,
    calibrate: () => Promise.resolve({ messagesPerSecond: 123_456, cpuUsPerMessage: 6.5 }),
    probeTargetOf: () => Promise.resolve(undefined),
    probeHub: () =>
      Promise.resolve({
        reachable: true,
        methods: [{ name: 'Echo', present: true }],
        dialect: 'recordLatency',
        connectMs: 3.2,
      }),
    startBenchHub: () =>
      Promise.resolve({
        url: 'http://127.0.0.1:5050/signalrbench',
        dispose: () => Promise.resolve(),
      }),
    startClassicHub: () => Promise.reject(new Error('no classic hub in this test')),
    startWebPubSubEmulator: () =>
      Promise.resolve({
        connectionString: 'Endpoint=http://127.0.0.1:8080;AccessKey=k;Version=1.0;',
        dispose: () => Promise.resolve(),
      }),
    startAzureSignalr: () => Promise.reject(new Error('no emulator in this test')),
    startAppServer: () => Promise.reject(new Error('no app server in this test')),
    startUpstreamHandler: () => Promise.reject(new Error('no handler in this test')),
    stdinEnded: () => new Promise<void>(() => undefined),
    ...change,
  };
}
