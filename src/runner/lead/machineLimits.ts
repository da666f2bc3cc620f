import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { buildRunPlan, connectInFlightOf } from '../../plan/buildPlan';
import type { Plan } from '../../plan/plan';
import { notRunnable } from '../../scenario/check/notRunnable';
import type { Scenario } from '../../scenario/scenario';
import { scenarioAt } from '../../scenario/searched';
import { addressCount } from '../../scenario/target/targetKinds';

/** What the machine allows one process; null where the system does not say. */
export interface MachineLimits {
  readonly cores: number;
  readonly fileDescriptors: number | null;
  /** Local ports for connections to one address and port. */
  readonly localPorts: number | null;
}

/** Descriptors the process needs beside its connections: files, pipes, threads, negotiations. */
const reservedDescriptors = 64;
const reservedDescriptorsPerWorker = 16;
const run = promisify(execFile);

/** Needs no rights. */
export async function machineLimits(): Promise<MachineLimits> {
  const [fileDescriptors, localPorts] = await Promise.all([openFileLimit(), portRange()]);
  return { cores: availableParallelism(), fileDescriptors, localPorts };
}

/** Undefined when nothing is missing. Negotiations need descriptors of their own while connections open. */
export function missingForRun(
  plan: Pick<Plan, 'connections' | 'connectInFlight'> & { readonly workers: readonly unknown[] },
  limits: MachineLimits,
  targetAddresses = 1,
  socketsPerConnection = 1,
): string | undefined {
  const { connections, connectInFlight } = plan;
  const sockets = connections * socketsPerConnection;
  const reserved = reservedDescriptors + reservedDescriptorsPerWorker * plan.workers.length;
  const needed = sockets + Math.min(connectInFlight, connections) + reserved;
  if (limits.fileDescriptors !== null && needed > limits.fileDescriptors) {
    const spare = limits.fileDescriptors - reserved;
    // Few connections may all be negotiating at a time, of many so many as the plan allows.
    const possible = Math.max(
      Math.floor((spare - connectInFlight) / socketsPerConnection),
      Math.min(connectInFlight, Math.floor(spare / (socketsPerConnection + 1))),
    );
    const raise = `Raise the limit (\`ulimit -n ${needed}\`)`;
    return (
      `${formatCount(connections)} ${connections === 1 ? 'connection needs' : 'connections need'} about ${formatCount(needed)} file descriptors, but this process may open ${formatCount(limits.fileDescriptors)}. ` +
      (possible > 0
        ? `${raise} or use at most ${formatCount(possible)} connections (\`--set config.connections=${possible}\`).`
        : `${raise}: what a run needs beside its connections leaves no room for any.`)
    );
  }
  if (limits.localPorts !== null && sockets > limits.localPorts * targetAddresses) {
    return (
      `${formatCount(plan.connections)} connections to one address need ${socketsPerConnection === 1 ? 'as' : 'twice as'} many local ports, but this machine has ${formatCount(limits.localPorts)}. ` +
      'Use fewer connections, several target URLs on different addresses, or widen the range (Linux: net.ipv4.ip_local_port_range).'
    );
  }
  return undefined;
}

/** Soft limit of open files, which Node raises to the hard one at its start where it can. */
async function openFileLimit(): Promise<number | null> {
  if (process.platform === 'win32') return null;
  try {
    const limits = await readFile('/proc/self/limits', 'utf8');
    return wholeNumber(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
  } catch {
    // Not Linux: ask a shell, which inherits the limit.
    return run('/bin/sh', ['-c', 'ulimit -n']).then(
      ({ stdout }) => wholeNumber(stdout.trim()),
      () => null,
    );
  }
}

async function portRange(): Promise<number | null> {
  try {
    const range = await readFile('/proc/sys/net/ipv4/ip_local_port_range', 'utf8');
    const [from, to] = range.trim().split(/\s+/).map(Number);
    return from !== undefined && to !== undefined && to > from ? to - from + 1 : null;
  } catch {
    // macOS and Windows: 49152–65535 unless it was changed, and no way to ask without rights everywhere.
    return process.platform === 'darwin' || process.platform === 'win32' ? 16_384 : null;
  }
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

/** Tests put others in its place. */
export interface PlanDeps {
  readonly notRunnable: (scenario: Scenario) => string | undefined;
  readonly machineLimits: typeof machineLimits;
  readonly missingForRun: typeof missingForRun;
  readonly buildPlan: typeof buildRunPlan;
}

const realPlanDeps: PlanDeps = {
  ...{ notRunnable, machineLimits, missingForRun },
  buildPlan: buildRunPlan,
};

/** Workers by default: one less than the cores. @throws ExpectedError `not-runnable`, `machine-limits` */
export async function planForMachine(
  scenario: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<Plan> {
  const reason = deps.notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const missing = await missingForScenario(scenario, deps);
  if (missing !== undefined) throw new ExpectedError('machine-limits', missing);
  return deps.buildPlan(scenario, {
    workers: await workersOf(scenario, deps),
    seed: scenario.seed,
    runId: randomInt(2 ** 32),
  });
}

/** What this machine lacks for the scenario, as `doctor` would say; undefined when it lacks nothing. */
export async function missingForScenario(
  given: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<string | undefined> {
  const { search } = given;
  const scenario = search === undefined ? given : scenarioAt(given, search.to);
  const workers = Array.from({ length: await workersOf(scenario, deps) });
  const limits = await deps.machineLimits();
  const connectInFlight = connectInFlightOf(scenario);
  const needs = { ...scenario, connectInFlight, workers };
  const socketsEach = scenario.transport === 'Websockets' ? 1 : 2;
  return deps.missingForRun(needs, limits, addressCount(scenario.target), socketsEach);
}

async function workersOf(
  { workers, connections, search }: Scenario,
  deps: PlanDeps,
): Promise<number> {
  const { cores } = await deps.machineLimits();
  return Math.max(
    1,
    Math.min(workers ?? cores - 1, search?.of === 'connections' ? search.to : connections),
  );
}
