import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { ExpectedError } from '../../base/expectedError';
import { formatCount } from '../../base/units';
import { buildRunPlan, connectInFlightOf, oneProcessRefusal } from '../../plan/buildPlan';
import type { Plan } from '../../plan/plan';
import { notRunnable } from '../../scenario/check/notRunnable';
import type { Scenario } from '../../scenario/scenario';
import { scenarioAtSearchValue } from '../../scenario/steps';
import {
  referencesIn,
  resolveReferences,
  type ReferenceLookup,
} from '../../scenario/target/references';
import { addressCount, urlsOf, mapTargetTexts } from '../../scenario/target/targetKinds';
import { loopbackSourceAddresses } from '../../wire/socket/hosts';

/** Limits of one process; null where the system does not say. */
export interface MachineLimits {
  readonly cores: number;
  readonly fileDescriptors: number | null;
  /** For one remote address and port. */
  readonly localPorts: number | null;
}

const reservedDescriptors = 64;
const reservedDescriptorsPerWorker = 16;
const run = promisify(execFile);

export async function machineLimits(): Promise<MachineLimits> {
  const [fileDescriptors, localPorts] = await Promise.all([openFileLimit(), portRange()]);
  return { cores: availableParallelism(), fileDescriptors, localPorts };
}

interface RunNeeds extends Pick<Plan, 'connections' | 'connectInFlight'> {
  readonly workers: readonly unknown[];
  /** Processes with one worker each; absent: one process with all workers. */
  readonly processes?: number;
  readonly startsServer?: boolean;
  /** Number of local addresses, each with its own ports; absent: the system chooses one per target. */
  readonly sources?: number;
}

/**
 * Undefined when nothing is missing. Each pair of source and target address has its own ports; there are at least as
 * many pairs as the larger of the two counts. Negotiations need extra descriptors while connections open.
 */
export function missingForRun(
  needs: RunNeeds,
  limits: MachineLimits,
  targetAddresses = 1,
  socketsPerConnection = 1,
): string | undefined {
  const { connections, sources = 1 } = needs;
  return (
    missingDescriptors(needs, limits, socketsPerConnection) ??
    (needs.startsServer
      ? missingForServer(connections, limits, socketsPerConnection)
      : undefined) ??
    missingPorts(connections, limits, Math.max(sources, targetAddresses), socketsPerConnection)
  );
}

function missingDescriptors(
  { connections, connectInFlight, workers, processes = 1 }: RunNeeds,
  { fileDescriptors }: MachineLimits,
  socketsPerConnection: number,
): string | undefined {
  const own = Math.ceil(connections / processes);
  const inFlight = Math.ceil(connectInFlight / processes);
  const reserved =
    reservedDescriptors + reservedDescriptorsPerWorker * (workers.length / processes);
  const needed = own * socketsPerConnection + Math.min(inFlight, own) + reserved;
  if (fileDescriptors === null || needed <= fileDescriptors) return undefined;
  const spare = fileDescriptors - reserved;
  // All connections of a small run may negotiate at once, of a large one as many as the plan allows.
  const possible =
    processes *
    Math.max(
      Math.floor((spare - inFlight) / socketsPerConnection),
      Math.min(inFlight, Math.floor(spare / (socketsPerConnection + 1))),
    );
  const raise = `Raise the limit (\`ulimit -n ${needed}\`)`;
  const where =
    processes === 1
      ? 'this process may open'
      : `each of ${formatCount(processes)} processes may open`;
  return (
    `${formatCount(own)} ${own === 1 ? 'connection needs' : 'connections need'} about ${formatCount(needed)} file descriptors, but ${where} ${formatCount(fileDescriptors)}. ` +
    (possible > 0
      ? `${raise} or use at most ${formatCount(possible)} connections (\`--set config.connections=${possible}\`).`
      : `${raise}: what a run needs beside its connections leaves no room for any.`)
  );
}

function missingForServer(
  connections: number,
  { fileDescriptors }: MachineLimits,
  socketsPerConnection: number,
): string | undefined {
  if (fileDescriptors === null) return undefined;
  const possible = Math.floor((fileDescriptors - reservedDescriptors) / socketsPerConnection);
  if (connections <= possible) return undefined;
  return (
    `The server that is started for this run is one process and can hold ${formatCount(possible)} connections here, not ${formatCount(connections)}. ` +
    `Name the URL of a hub as target, raise the limit (\`ulimit -n\`), or use at most ${formatCount(possible)} connections (\`--set config.connections=${possible}\`).`
  );
}

function missingPorts(
  connections: number,
  { localPorts }: MachineLimits,
  pairs: number,
  socketsPerConnection: number,
): string | undefined {
  if (localPorts === null || connections * socketsPerConnection <= localPorts * pairs)
    return undefined;
  return (
    `${formatCount(connections)} connections to one address need ${socketsPerConnection === 1 ? 'as' : 'twice as'} many local ports, but this machine has ${formatCount(localPorts)}. ` +
    'Use fewer connections, further addresses of this machine (`config.localAddresses`; with 127.0.0.1 in place of localhost it takes them by itself on Linux), several target URLs on different addresses, or widen the range (Linux: net.ipv4.ip_local_port_range).'
  );
}

/** Soft limit of open files; Node raises it to the hard one at start where it can. */
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
    // macOS and Windows use 49152–65535 by default and offer no portable way to ask.
    return process.platform === 'darwin' || process.platform === 'win32' ? 16_384 : null;
  }
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

export interface PlanDeps {
  readonly notRunnable: (scenario: Scenario) => string | undefined;
  readonly machineLimits: typeof machineLimits;
  readonly missingForRun: typeof missingForRun;
  readonly buildPlan: typeof buildRunPlan;
  readonly agents?: number;
  readonly reference?: ReferenceLookup;
}

const realPlanDeps: PlanDeps = {
  ...{ notRunnable, machineLimits, missingForRun },
  buildPlan: buildRunPlan,
};

/** Default: one worker less than cores. @throws ExpectedError `not-runnable`, `machine-limits` */
export async function planForMachine(
  scenario: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<Plan> {
  const reason = deps.notRunnable(scenario);
  if (reason !== undefined) throw new ExpectedError('not-runnable', reason);
  const missing = await missingForScenario(scenario, deps);
  if (missing !== undefined) throw new ExpectedError('machine-limits', missing);
  const { workers, processes } = shareOf(scenario, await deps.machineLimits(), deps);
  return deps.buildPlan(scenario, {
    workers,
    ...(processes > 1 && { agents: processes, oneClock: true }),
    seed: scenario.seed,
    runId: randomInt(2 ** 32),
  });
}

export async function missingForScenario(
  given: Scenario,
  deps: PlanDeps = realPlanDeps,
): Promise<string | undefined> {
  const scenario = withUrls(largestOf(given), deps.reference);
  const machine = await deps.machineLimits();
  // Ports depend on the address: unknown URLs are not checked.
  const known = urlsOf(scenario.target).every((url) => referencesIn(url).length === 0);
  const limits = known ? machine : { ...machine, localPorts: null };
  const { workers, processes } = shareOf(given, limits, deps);
  const needs = {
    ...{ connections: scenario.connections, connectInFlight: connectInFlightOf(scenario) },
    workers: Array.from({ length: workers }),
    ...(processes > 1 && { processes }),
    ...(startsServer(scenario) && { startsServer: true }),
    ...sourcesOf(scenario),
  };
  const socketsEach = socketsPerConnection(scenario);
  return deps.missingForRun(needs, limits, addressCount(scenario.target), socketsEach);
}

const largestOf = (scenario: Scenario): Scenario =>
  scenario.search === undefined ? scenario : scenarioAtSearchValue(scenario, scenario.search.to);

function withUrls(scenario: Scenario, reference: ReferenceLookup = () => undefined): Scenario {
  const { target } = scenario;
  if (target === undefined) return scenario;
  const resolved = (text: string): string => resolveReferences(text, reference).text;
  return { ...scenario, target: mapTargetTexts(target, resolved) };
}

function sourcesOf(scenario: Scenario): Pick<RunNeeds, 'sources'> {
  const { localAddresses, connections, target } = scenario;
  const urls = startsServer(scenario)
    ? ['http://127.0.0.1/']
    : urlsOf(target).flatMap((url) => url.split(',').map((one) => one.trim()));
  const sockets = connections * socketsPerConnection(scenario);
  const sources = localAddresses ?? loopbackSourceAddresses(urls, sockets);
  return sources === undefined ? {} : { sources: sources.length };
}

const startsServer = ({ target }: Scenario): boolean =>
  target === undefined || target.kind === 'local';

const socketsPerConnection = ({ transport }: Pick<Scenario, 'transport'>): number =>
  transport === 'Websockets' ? 1 : 2;

const mostProcesses = 256;

/** Workers and processes (one worker each) of a run: as configured, else one process if its descriptors suffice. */
function shareOf(
  given: Scenario,
  limits: MachineLimits,
  { agents }: PlanDeps,
): { readonly workers: number; readonly processes: number } {
  const scenario = largestOf(given);
  const { connections } = scenario;
  const workers = Math.max(1, Math.min(given.workers ?? limits.cores - 1, connections));
  if (agents !== undefined) return { workers, processes: 1 };
  const asked = given.processes ?? 0;
  const needed = asked > 0 ? asked : processesFor(scenario, workers, limits);
  const processes = Math.min(needed, connections);
  return processes > 1 ? { workers: processes, processes } : { workers, processes: 1 };
}

/** The fewest that suffice; 1 where none do, or where only one process can measure what is asked. */
function processesFor(scenario: Scenario, workers: number, limits: MachineLimits): number {
  const { connections } = scenario;
  const connectInFlight = connectInFlightOf(scenario);
  const fits = (processes: number): boolean => {
    const all = { length: processes === 1 ? workers : processes };
    const needs = { connections, connectInFlight, workers: Array.from(all), processes };
    return missingDescriptors(needs, limits, socketsPerConnection(scenario)) === undefined;
  };
  if (fits(1) || oneProcessRefusal(scenario, 'process') !== undefined) return 1;
  const each = socketsPerConnection(scenario);
  if (startsServer(scenario) && missingForServer(connections, limits, each) !== undefined) return 1;
  for (let processes = Math.max(2, workers); processes <= mostProcesses; processes++)
    if (fits(processes)) return processes;
  return 1;
}
