/** Runs in which something is killed at a random moment, each repeatable by its seed as far as a machine repeats itself. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runTests } from '@vscode/test-electron';
import { seededRandom } from '../../src/base/random';
import type { Snapshot } from '../../src/measure/snapshot';
import { parseSample } from '../../src/results/readResult';
import type { Result } from '../../src/results/result';
import { startFaultProxy, type FaultProxy } from '../fakes/faultProxy';
import type { CliProcess, CliResult } from '../fakes/loadCli';
import { withHub, type LoadHub } from '../fakes/loadHub';
import { Planted, textsBelow } from '../fakes/planted';
import { CliFolder } from '../load/cliFolder';
import { assertConsistent, scenarioText } from '../load/loadRun';
import { codeOf, deliveryText } from './chaosCases';

export const victims = ['server', 'worker', 'lead'] as const;

export interface KillCase {
  readonly seed: number;
  readonly victim: (typeof victims)[number] | 'extension host';
  readonly processes: boolean;
  /** From the start of the command line; of a worker, from when there is one. */
  readonly afterMs: number;
  readonly by: NodeJS.Signals;
}

/** A run on a quiet machine takes less. */
const longestMs = 3500;
/** Where the editor has them, too. */
const out = '.signalr-bench';
/** Nothing that a killed run has left may go on for longer. */
const orphanMs = 10_000;

export function killCase(seed: number): KillCase {
  const random = seededRandom(seed);
  const victim = victims[random.below(victims.length)]!;
  const processes = victim === 'worker' || random.next() < 0.5;
  const afterMs = Math.round(random.next() * longestMs);
  return { seed, victim, processes, afterMs, by: 'SIGKILL' };
}

export const killTitle = ({ victim, processes, afterMs, by }: KillCase): string =>
  `the ${victim} by ${by} after ${afterMs} ms, ${processes ? 'processes' : 'threads'}`;

/** The last two are those of a crash. */
const signals = ['SIGKILL', 'SIGABRT', 'SIGSEGV'] as const;

/** The extension host of a real VS Code. */
export const hostCase = (seed: number): KillCase => ({
  ...{ seed, victim: 'extension host', processes: false, by: signals[seed % signals.length]! },
  // The run begins a moment after the command.
  afterMs: Math.round(500 + seededRandom(seed).next() * longestMs),
});

/** Starts what is to be killed in a folder, against a scenario; says how it ended. */
type Kill = (kill: KillCase, folder: CliFolder, hub: LoadHub) => Promise<Ended>;
type Ended = Pick<CliResult, 'code' | 'signal' | 'stdout' | 'stderr'>;

const scenario = 'killed.signalr.yaml';

const killCommandLine: Kill = async (kill, folder, hub) => {
  const flags = kill.processes ? ['--processes', '2'] : ['--workers', '2'];
  const going = folder.start(['run', scenario, '--out', out, ...flags]);
  await strike(kill, going, hub);
  return going.finished;
};

/** In a VS Code whose program is given. */
export const killHost =
  (vscodeExecutablePath: string): Kill =>
  async ({ afterMs, by }, folder) => {
    const log = path.join(folder.path, 'server.log');
    await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: path.resolve('.'),
      extensionTestsPath: path.resolve('out', 'test', 'vscode', 'hostKill.js'),
      launchArgs: [folder.path],
      extensionTestsEnv: {
        ...{ KILL_SCENARIO: scenario, KILL_AFTER_MS: String(afterMs), KILL_BY: by },
        VSCODE_TEST_SERVER_LOG: log,
      },
    }).catch(() => undefined);
    return { code: null, signal: by, stdout: readFileSync(log, 'utf8'), stderr: '' };
  };

/** What was left, and that it is true. @throws AssertionError where it is not */
export const runKillCase = (kill: KillCase, how = killCommandLine): Promise<string> =>
  withHub('', async (hub) => {
    const url = new URL(hub.url);
    const random = seededRandom(kill.seed);
    const proxy = await startFaultProxy(Number(url.port), {}, random, deliveryText);
    const folder = new CliFolder();
    try {
      url.port = String(proxy.port);
      const planted = new Planted('kil');
      folder.write(scenario, scenarioOfKill(url.href, planted));
      const ended = await how(kill, folder, hub);
      const what = await left(kill, ended, folder, proxy);
      const results = path.join(folder.path, out);
      const kept = existsSync(results) ? textsBelow(results) : '';
      assert.deepEqual(planted.foundIn([ended.stdout, ended.stderr, kept].join('\n')), []);
      return `${what}, ${proxy.passed()} deliveries went by`;
    } finally {
      proxy.dispose();
      folder.dispose();
    }
  });

const scenarioOfKill = (hub: string, planted: Planted): string =>
  scenarioText({
    target: `${hub}?code=${encodeURIComponent(planted.at('query'))}`,
    parameters: { sendingInterval: '20ms' },
    config: {
      ...{ connections: 10, baseSending: 10, singleStepDuration: '2s', warmup: 0, drain: '1s' },
      dialect: 'recordLatency',
      headers: { 'X-Gate': planted.at('header') },
    },
  });

async function strike(
  { victim, afterMs, by }: KillCase,
  going: CliProcess,
  hub: LoadHub,
): Promise<void> {
  const { pid } = going.child;
  const isOver = (): boolean => going.child.exitCode !== null;
  if (victim === 'worker') while (!isOver() && childrenOf(pid!).length < 2) await setTimeout(10);
  await Promise.race([setTimeout(afterMs), going.finished]);
  if (victim === 'server') await hub.crash();
  else if (victim === 'lead') going.child.kill(by);
  else {
    const workers = isOver() ? [] : childrenOf(pid!);
    const chosen = workers[afterMs % Math.max(1, workers.length)];
    if (chosen !== undefined) process.kill(chosen, by);
  }
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return text === '' ? [] : text.split(' ').map(Number);
  } catch {
    return [];
  }
}

async function left(
  { victim, by }: KillCase,
  { code, signal, stderr }: Ended,
  folder: CliFolder,
  proxy: FaultProxy,
): Promise<string> {
  await assertNobodyGoesOn(proxy);
  const [id] = existsSync(path.join(folder.path, out))
    ? readdirSync(path.join(folder.path, out))
    : [];
  if (id === undefined) {
    // It was killed before it had anything to keep, or its server was before a run began.
    assert.ok(signal === by || code === 3, `${code}: ${stderr}`);
    return 'nothing kept';
  }
  const samples = samplesIn(path.join(folder.path, out, id, 'samples.jsonl'));
  const counted = Math.max(0, ...samples.map(({ step }) => step?.received ?? 0));
  assert.ok(counted <= proxy.passed(), `${counted} in samples, ${proxy.passed()} went by`);
  const shown = await folder.run(['show', path.join(out, id)]);
  if (existsSync(path.join(folder.path, out, id, 'result.json'))) {
    const result = folder.result(out);
    assert.equal(shown.code, 0, shown.stderr);
    assertTrue(result, proxy.passed());
    if (signal === null) assert.equal(code, result.ending === 'workerLost' ? 5 : codeOf(result));
    if (result.ending === 'workerLost') assert.equal(victim, 'worker');
    return `exit code ${code}, ${result.ending}`;
  }
  assert.equal(signal, by, stderr);
  if (existsSync(path.join(folder.path, out, id, 'scenario.yaml'))) {
    assert.equal(shown.code, 0, shown.stderr);
    assert.match(shown.stdout, /interrupted/i);
  }
  return `interrupted after ${samples.length} samples, ${counted} received`;
}

function assertTrue(result: Result, passed: number): void {
  assertConsistent(result);
  const counted = result.steps.reduce((sum, { received, extra }) => sum + received + extra, 0);
  assert.ok(counted <= passed, `${counted} counted, ${passed} went by`);
}

/** Every line of them; none counts less than the one before. */
function samplesIn(file: string): Snapshot[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  assert.equal(lines.pop(), '', 'the last line is whole');
  const samples = lines.map((line) => {
    const sample = parseSample(line);
    assert.ok(sample !== undefined, `no sample: ${line}`);
    return sample;
  });
  for (let at = 1; at < samples.length; at++) {
    const [before, after] = [samples[at - 1]!, samples[at]!].map(({ step }) => step?.received ?? 0);
    assert.ok(before! <= after!, `${before} received, then ${after}`);
  }
  return samples;
}

async function assertNobodyGoesOn(proxy: FaultProxy): Promise<void> {
  const untilMs = performance.now() + orphanMs;
  while (proxy.open() > 0 && performance.now() < untilMs) await setTimeout(50);
  assert.equal(proxy.open(), 0, 'connections that stay');
}
