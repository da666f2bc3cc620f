import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Result } from '../../src/results/result';
import type { Override } from '../../src/scenario/read/overrides';
import { notRunnable } from '../../src/scenario/check/notRunnable';
import { parseScenario } from '../../src/scenario/parseScenario';
import type { Scenario } from '../../src/scenario/scenario';
import type { CliFolder } from './cliFolder';
import { runScenario } from './loadRun';

/** The shortest there is. */
const storm = { 'config.dropAllAfter': '2s', 'config.singleStepDuration': '3s' } as const;
const small = { 'config.connections': '10', 'config.singleStepDuration': '200ms' } as const;

/** The scenario of a sample, with the key set if given; undefined when it cannot run. */
export function sampleScenario(file: string, ...overrides: Override[]): Scenario | undefined {
  const { scenario, problems } = parseScenario(readFileSync(file, 'utf8'), { overrides });
  const wrong = problems.some(({ severity }) => severity === 'error');
  return scenario === undefined || wrong || notRunnable(scenario) !== undefined
    ? undefined
    : scenario;
}

/** What a run says, by whichever way. */
type Outcome = Pick<Result, 'connections' | 'steps' | 'errorExamples'>;

/** Runs a sample, made small, and looks at its counts. */
export async function runSample(
  file: string,
  overrides: readonly Override[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sample = sampleScenario(file, ...overrides)!;
  const scenario = sampleScenario(file, ...overrides, ...smallKeys(sample))!;
  assertCounts(scenario, await runScenario(scenario, { keepGoing: true }, env));
}

/** The same from the command line. */
export async function runSampleByCommand(
  folder: CliFolder,
  file: string,
  overrides: readonly Override[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sample = sampleScenario(file, ...overrides)!;
  // Some have an upstream endpoint beyond this machine.
  const run = ['run', path.resolve(file), '--json', '--keep-going', '--yes'];
  const flags = [...overrides, ...smallKeys(sample)].flatMap((key) => [
    '--set',
    `${key.path}=${key.value}`,
  ]);
  const { stdout, stderr } = await folder.run([...run, ...flags], env);
  assert.notEqual(stdout, '', stderr);
  const result = JSON.parse(stdout) as Result;
  assertCounts(result.scenario, result);
}

function assertCounts(
  scenario: Pick<Scenario, 'lifetimeMs' | 'dropAllAfterMs' | 'entries'>,
  { connections, steps, errorExamples }: Outcome,
): void {
  const sends = scenario.entries[0]!.name !== 'connectOnly';
  const said = JSON.stringify(errorExamples);
  assert.deepEqual([connections.connected, connections.dropped], [10, 0], said);
  assert.equal(steps.length, 1);
  for (const { sent, expected, received, duplicated, extra, entries } of steps) {
    assert.equal(entries?.length ?? 1, scenario.entries.length);
    assert.ok((entries ?? []).every((entry) => entry.sent > 0 && entry.lost === 0));
    assert.equal(sent > 0, sends);
    // Sessions are not long enough to have anybody in their groups.
    const isReceived = expected >= sent || scenario.entries[0]!.name === 'session';
    assert.ok(isReceived, `${sent} sent, ${expected} expected`);
    assert.deepEqual([received, duplicated], [expected, 0], said);
    // What reaches one that is joining or leaving is not meant for it.
    if (!moves(scenario)) assert.equal(extra, 0);
  }
}

/** Whether connections or members come and go. */
const moves = ({
  lifetimeMs,
  dropAllAfterMs,
  entries,
}: Pick<Scenario, 'lifetimeMs' | 'dropAllAfterMs' | 'entries'>): boolean =>
  lifetimeMs !== undefined ||
  dropAllAfterMs !== undefined ||
  ['frequentJoinLeaveGroup', 'session'].includes(entries[0]!.name);

function smallKeys(scenario: Scenario): Override[] {
  const changes = {
    ...small,
    // It ends when all has arrived: on a busy machine that may take its time.
    'config.drain': '60s',
    'config.warmup': '100ms',
    'config.arrivingRate': '200',
    'config.sendingSteps': '1',
    ...entryChanges(scenario.entries),
    ...(scenario.dropAllAfterMs === undefined ? {} : storm),
    // Its senders begin one after the other.
    ...(scenario.entries[0]!.name === 'session' && { 'config.singleStepDuration': '3s' }),
    ...(scenario.upstream === undefined ? {} : { 'config.upstream.port': '0' }),
  };
  return Object.entries(changes).map(([key, value]) => ({ path: key, value }));
}

function entryChanges(entries: Scenario['entries']): Record<string, string> {
  const mixed = entries.length > 1;
  const changes = entries.flatMap(({ parameters }, position) => {
    const at = mixed ? `scenarios.${position}` : 'scenario';
    return [
      ...(mixed ? [[`${at}.senders`, `${Math.floor(100 / entries.length)}%`]] : []),
      ...('sendingInterval' in parameters ? [[`${at}.parameters.sendingInterval`, '20ms']] : []),
      ...('groupCount' in parameters ? [[`${at}.parameters.groupCount`, '5']] : []),
      ...('rounds' in parameters ? [[`${at}.parameters.rounds`, '1']] : []),
    ] as [string, string][];
  });
  return Object.fromEntries(changes);
}
