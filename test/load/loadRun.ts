import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type {
  EntrySummary,
  MessageSummary,
  RunSummary,
  StepSummary,
  Verdict,
} from '../../src/measure/summary';
import { generatorReasonCodes, judgeRun } from '../../src/measure/judge/verdict';
import { buildPlan } from '../../src/plan/buildPlan';
import type { Run } from '../../src/engine/lead/run';
import { startRun } from '../../src/engine/lead/startRun';
import { parseScenario } from '../../src/scenario/parseScenario';
import type { Scenario } from '../../src/scenario/scenario';
import { openTarget } from '../../src/targets/openTarget';
import { cliScript, workerScript } from '../fakes/loadCli';

/** A use case of a mix. */
interface LoadEntry {
  readonly name: string;
  readonly senders?: number | string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** What a load test says; everything else is short and small. */
export interface LoadTest {
  /** Hub URL, or several; or a connection string. */
  readonly target: string | readonly string[];
  readonly useCase?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** A mix instead of one use case. */
  readonly entries?: readonly LoadEntry[];
  /** Keys of `config`; the defaults are 20 connections that all send ten messages, in one step of 0.2 s. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly slo?: Readonly<Record<string, unknown>>;
  readonly workers?: number;
  /** With one worker each, in place of threads. */
  readonly processes?: number;
  readonly keepGoing?: boolean;
  /** Path of the script the worker threads run. */
  readonly workerScript?: string;
  /** Called once the run is going on. */
  readonly during?: (run: Run) => void;
}

/** A run's summary with its verdict and its length. */
export interface LoadResult extends RunSummary {
  readonly verdict: Verdict;
  readonly tookMs: number;
}

/** Ten messages of each sender; who names any of the times gets the others of the slow way. */
const quick = { singleStepDuration: '200ms', warmup: '100ms', sendingInterval: '20ms' };
const slow = { singleStepDuration: '500ms', warmup: '200ms', sendingInterval: '50ms' };

function paceOf({ config, parameters, entries = [] }: LoadTest): typeof quick {
  const named = [parameters, ...entries.map((entry) => entry.parameters)].flatMap((each) =>
    Object.entries(each ?? {}).filter(([, value]) => value !== undefined),
  );
  const timed = named.some(([name]) => /Interval$|Delay$/.test(name));
  return timed || config?.['singleStepDuration'] !== undefined ? slow : quick;
}

/** Scenario text of a load test. */
export function scenarioText(test: LoadTest): string {
  const connections = Number(test.config?.['connections'] ?? 20);
  const { sendingInterval, ...step } = paceOf(test);
  const message = { messageSize: 200, sendingInterval };
  return stringify({
    config: {
      target: test.target,
      connections,
      arrivingRate: 1000,
      baseSending: connections,
      step: 0,
      ...step,
      // Ends when all has come, however slow the machine is just now.
      drain: '20s',
      skipNegotiation: true,
      ...test.config,
    },
    ...(test.entries === undefined
      ? {
          scenario: {
            name: test.useCase ?? 'echo',
            parameters: { ...message, ...test.parameters },
          },
        }
      : {
          scenarios: test.entries.map(({ parameters, ...entry }) => ({
            ...entry,
            parameters: { ...message, ...parameters },
          })),
        }),
    // Far from what a busy machine reaches, so that only counts decide.
    slo: test.slo ?? { p99: '60s' },
  });
}

/** The scenario of a text, which must be free of errors. */
export function scenarioOf(text: string): Scenario {
  const { scenario, problems } = parseScenario(text);
  const errors = problems.filter(({ severity }) => severity === 'error');
  assert.deepEqual(errors, []);
  assert.ok(scenario);
  return scenario;
}

let runs = 0;

/** Runs a scenario on worker threads, the whole way from its text to the summary. */
export const loadRun = (test: LoadTest): Promise<LoadResult> =>
  runScenario(scenarioOf(scenarioText(test)), test);

/** @param env what references to the environment stand for */
export async function runScenario(
  scenario: Scenario,
  test: Pick<LoadTest, 'workers' | 'processes' | 'workerScript' | 'keepGoing' | 'during'> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<LoadResult> {
  const target = await openTarget(scenario, {
    reference: (_kind, name) => env[name],
    serverScript: cliScript,
    readFile: (file) => readFile(file, 'utf8'),
  });
  const runId = (process.pid << 8) + (runs += 1);
  const { processes } = test;
  const plan = buildPlan(scenario, {
    ...{ workers: processes ?? test.workers ?? 1, seed: scenario.seed, runId },
    ...(processes !== undefined && { agents: processes, oneClock: true }),
  });
  const startedMs = performance.now();
  const run = startRun(plan, target, {
    workerScript: test.workerScript ?? workerScript,
    keepGoing: test.keepGoing ?? false,
  });
  test.during?.(run);
  const summary = await run.finished;
  await target.dispose();
  const tookMs = performance.now() - startedMs;
  return { ...summary, verdict: judgeRun(summary, scenario.slo), tookMs };
}

/** What a run or a step has missed: the codes of its reasons, without those that a busy machine adds. */
export const missedBy = ({ verdict }: { readonly verdict: Verdict }): string[] =>
  verdict.reasons.map(({ code }) => code).filter((code) => !generatorReasonCodes.has(code));

/** The run's only step. */
export function onlyStep({ steps }: RunSummary): StepSummary {
  assert.equal(steps.length, 1);
  return steps[0]!;
}

/** What must hold between the counts of every step, however the run ended. */
export function assertConsistent({ steps, connections }: RunSummary): void {
  for (const step of steps) {
    assert.equal(step.expected, step.received + step.lost, 'expected = received + lost');
    assert.equal(step.latencyUs.count, step.received, 'every delivery has a latency');
    assert.equal(step.sendLatencyUs.count, step.received);
    assert.ok(step.lost >= 0, `${step.lost} lost`);
    assert.ok(step.sent <= step.offered, `${step.sent} sent of ${step.offered} offered`);
    assert.ok(step.late <= step.lost, `${step.late} late of ${step.lost} lost`);
    if (step.entries !== undefined) assertSums(step, step.entries);
  }
  const { requested, connected, failed, dropped } = connections;
  assert.ok(connected + failed <= requested, `${connected} + ${failed} of ${requested}`);
  assert.ok(dropped <= connected, `${dropped} dropped of ${connected}`);
}

/** All connections came up and stayed, nothing went wrong, and the counts agree. */
export function assertUndisturbed(run: RunSummary): void {
  const { requested, connected, dropped } = run.connections;
  assert.equal(run.ending, 'completed');
  assert.deepEqual(run.errors, {});
  assert.deepEqual([connected, dropped], [requested, 0]);
  assertConsistent(run);
}

/** The entries of a mix add up to the step. */
function assertSums(step: StepSummary, entries: readonly EntrySummary[]): void {
  const sum = (key: (typeof summed)[number] | 'wireBytesOut'): number =>
    entries.reduce((total, entry) => total + (entry[key] ?? NaN), 0);
  for (const key of summed) assert.equal(sum(key), step[key] ?? NaN, `sum of ${key}`);
  // Pushes and answers that are no deliveries are no entry's.
  assert.ok(!(sum('wireBytesOut') > step.wireBytesOut!), 'sum of wireBytesOut');
  const received = entries.reduce((total, { latencyUs }) => total + latencyUs.count, 0);
  assert.equal(received, step.latencyUs.count);
}

const summed = [
  ...(['senders', 'offered', 'sent', 'expected', 'received', 'lost', 'duplicated'] as const),
  ...(['payloadBytesIn', 'payloadBytesOut', 'wireBytesIn'] as const),
] as const;

/** Counts of a step, or of an entry in it, in which nothing went wrong: exactly these messages and deliveries. */
export function assertExact(step: MessageSummary, sent: number, expected: number): void {
  const { offered, received, lost, duplicated, outOfOrder, late, extra } = step;
  assert.deepEqual(
    { offered, sent: step.sent, expected: step.expected, received },
    { offered: sent, sent, expected, received: expected },
  );
  assert.deepEqual(
    { lost, duplicated, outOfOrder, late, extra },
    { lost: 0, duplicated: 0, outOfOrder: 0, late: 0, extra: 0 },
  );
}
