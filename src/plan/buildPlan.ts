import type { WireProtocol } from '../base/message';
import { isTimeToAll } from '../base/objectives/times';
import { ExpectedError } from '../base/expectedError';
import { services } from '../base/serviceTraits';
import { rulesFromSlo } from '../base/slo';
import type { Scenario, ScenarioEntry } from '../scenario/scenario';
import {
  maximumSteps,
  repeatCount,
  connectRounds,
  stepsOf,
  scenarioAtSearchValue,
} from '../scenario/steps';
import { intervalMsOf, type Parameters } from '../usecases/parameters';
import { payloadOf, hubRunOf } from '../usecases/useCase';
import { findUseCase } from '../usecases/registry';
import {
  splitEvenly,
  type Plan,
  type PlanLife,
  type WorkerPlan,
  type PlanEntry,
  type PlanGroups,
  type PlanStep,
} from './plan';

interface PlanOptions {
  /** Of all agents; at most one per connection, at least one per agent. */
  readonly workers: number;
  /** Processes with equal numbers of workers; absent: one. */
  readonly agents?: number;
  readonly oneClock?: true;
  readonly seed: number;
  /** Distinguishes messages of this run from others, 32 bits. */
  readonly runId: number;
}

const bySubprotocol = {
  json: 'webpubsub',
  reliableJson: 'webpubsubReliable',
  none: 'webpubsubNone',
  protobuf: 'webpubsubProtobuf',
  reliableProtobuf: 'webpubsubReliableProtobuf',
} as const;

/** Deterministic. @throws ExpectedError `time-to-all-agents`, `replay-agents` for what one agent alone can do */
export function buildPlan(scenario: Scenario, options: PlanOptions): Plan {
  const { agents = 1, oneClock } = options;
  const refusal =
    agents > 1 ? oneProcessRefusal(scenario, oneClock ? 'process' : 'agent') : undefined;
  if (refusal !== undefined) throw refusal;
  const entries = scenario.entries.map(createPlanEntry);
  const most = Math.min(options.workers, scenario.connections);
  const workers = agents * Math.max(1, Math.floor(most / agents));
  const mode = scenario.arrivingBatchMode;
  const connectInFlight = connectInFlightOf(scenario);
  const inFlight = splitEvenly(Math.max(workers, connectInFlight), workers);
  const life = lifeOf(scenario);
  const rounds = connectRounds(scenario);
  const { speaksHub } = services[scenario.service];
  const cycle = stepsOf(scenario).map(({ index, senders, perEntry }) => ({
    index,
    ...(perEntry.length > 1 ? { senders: sumOf(perEntry), perEntry } : { senders }),
    ...(rounds !== undefined && {
      connections: Math.ceil((scenario.connections * index) / rounds),
    }),
    ...(scenario.stages && { stages: scenario.stages }),
    warmupMs: rounds === undefined ? scenario.warmupMs : 0,
    measureMs: scenario.singleStepDurationMs,
    drainMs: scenario.drainMs,
  }));
  const repeats = repeatCount(scenario);
  const steps = Array.from({ length: repeats }, () => cycle)
    .flat()
    .slice(0, maximumSteps)
    .map((step, at) => ({ ...step, index: at + 1 }));
  return {
    runId: options.runId >>> 0,
    seed: options.seed,
    connections: scenario.connections,
    targetChoice: scenario.targetChoice,
    ...(scenario.senderOrder === 'listed' && { inOrder: true as const }),
    arrivingRate: scenario.arrivingRate,
    ...(mode !== undefined && { arrival: { mode, batchWaitMs: scenario.arrivingBatchWaitMs } }),
    ...(life !== undefined && { life }),
    connectInFlight,
    connectTimeoutMs: scenario.connectTimeoutMs,
    pacing: scenario.pacing,
    protocol: protocolOf(scenario),
    ...(!speaksHub && scenario.acks === 'all' && { acks: 'all' as const }),
    dialect: scenario.dialect,
    entries,
    steps,
    ...(repeats > 1 && { cycle: cycle.length }),
    ...arrivalsOf(scenario),
    ...(asksTimeToAll(scenario) && { timeToAll: true as const }),
    slo: scenario.slo,
    ...(agents > 1 && { agents, ...(oneClock && { oneClock: true as const }) }),
    workers: inFlight.map((connectInFlight, worker): WorkerPlan => ({
      worker,
      workers,
      connectInFlight,
    })),
  };
}

function protocolOf({ service, connectionType, protocol, subprotocol }: Scenario): WireProtocol {
  if (!services[service].speaksHub) return bySubprotocol[subprotocol];
  return connectionType === 'AspNet' ? 'classic' : protocol;
}

/** The refusal if only one agent (or process) can measure this scenario; else undefined. */
export function oneProcessRefusal(
  scenario: Scenario,
  one: 'agent' | 'process',
): ExpectedError | undefined {
  if (asksTimeToAll(scenario))
    return new ExpectedError(
      'time-to-all-agents',
      `The time until a message has reached all its receivers is measured by one ${one} only: take one ${one}, or leave timeToAll and its objectives out.`,
    );
  const sessions = scenario.entries.map((entry) => createPlanEntry(entry).run.session);
  if (sessions.some((session) => session?.replays === true))
    return new ExpectedError(
      'replay-agents',
      `What a replay sends is in the memory of one ${one} only: take one ${one}, or make a scenario of the recording with import.`,
    );
  return undefined;
}

/** Ramp modes with batches limit the connects in flight themselves. */
export function connectInFlightOf({
  arrivingBatchMode,
  arrivingRate,
  connections,
  connectInFlight,
}: Scenario): number {
  const batches = arrivingBatchMode === 'HighPress' || arrivingBatchMode === 'LowPress';
  return batches ? Math.max(connectInFlight, Math.min(arrivingRate, connections)) : connectInFlight;
}

/** By its key, or by an objective that needs it. */
const asksTimeToAll = ({ timeToAll, slo }: Scenario): boolean =>
  timeToAll === true || rulesFromSlo(slo).some(({ metric }) => isTimeToAll(metric));

const arrivalsOf = ({ arrivals }: Scenario): Pick<Plan, 'arrivals'> =>
  arrivals === undefined || arrivals === 'even' ? {} : { arrivals };

const sumOf = (counts: readonly number[]): number => counts.reduce((a, b) => a + b, 0);

function lifeOf(scenario: Scenario): PlanLife | undefined {
  const { repair, reconnectPolicy, reconnectDelayMs, lifetimeMs, dropAllAfterMs } = scenario;
  if (!repair && lifetimeMs === undefined && dropAllAfterMs === undefined) return undefined;
  return {
    repair,
    policy: reconnectPolicy,
    delayMs: reconnectDelayMs,
    lifetimeMs,
    dropAllAfterMs,
  };
}

/** @throws on an unknown use case, which is a defect of the caller */
export function createPlanEntry({ name, parameters }: ScenarioEntry): PlanEntry {
  const useCase = findUseCase(name);
  if (useCase === undefined) throw new Error(`there is no use case ${name}`);
  const { joinLeaveInterval, payload: content, payloadFile } = parameters;
  const run = hubRunOf(useCase, parameters);
  return {
    useCase: name,
    run,
    intervalMs: intervalMsOf(parameters),
    ...intervalsOf(parameters),
    ...(joinLeaveInterval !== undefined && { moveIntervalMs: Number(joinLeaveInterval) }),
    ...(run.audience === 'group' && { groups: groupsOf(parameters) }),
    targets: parameters['targets'] === 'random' ? 'random' : 'fixed',
    payload: {
      sizes: payloadOf(parameters).sizes,
      content: content === 'binary' || content === 'text' ? content : 'random',
      ...(typeof payloadFile === 'string' && { file: payloadFile }),
    },
  };
}

const usualSpread = 0.5;

function intervalsOf({
  intervalDistribution: written,
  intervalSpread: spread,
}: Parameters): Pick<PlanEntry, 'intervals'> {
  if (written === undefined && spread === undefined) return {};
  const distribution = written === 'exponential' || written === 'lognormal' ? written : 'uniform';
  return { intervals: { distribution, spread: Number(spread ?? usualSpread) } };
}

function groupsOf(parameters: Parameters): PlanGroups {
  const { groupCount, groupsPerConnection = 1, sendersPer, sharedGroups: sharedAs } = parameters;
  const count = Number(groupCount);
  const perConnection = Math.min(Number(groupsPerConnection), count);
  return {
    ...{ count, perConnection, dealsSenders: sendersPer === 'group' },
    ...(typeof sharedAs === 'string' && { sharedAs }),
  };
}

/** Plan of a run or of a capacity search. @throws as {@link buildPlan} */
export const buildRunPlan = (scenario: Scenario, options: PlanOptions): Plan =>
  scenario.search === undefined ? buildPlan(scenario, options) : buildSearchPlan(scenario, options);

/** The plan of a capacity search has one step, with the highest value: it determines who may send or receive. */
export function buildSearchPlan(scenario: Scenario, options: PlanOptions): Plan {
  const { search, repair, lifetimeMs } = scenario;
  if (search === undefined) throw new Error('nothing is searched');
  // Connections dropped by an overload must come back for the next step.
  const life = { repair: repair || lifetimeMs === undefined };
  return {
    ...buildPlan({ ...scenarioAtSearchValue(scenario, search.to), ...life }, options),
    search,
  };
}

export function createSearchStep(scenario: Scenario): (value: number, index: number) => PlanStep {
  return (value, index) => {
    const at = scenarioAtSearchValue(scenario, value);
    const { entries, steps } = buildPlan(at, { workers: 1, seed: 0, runId: 0 });
    const step: PlanStep = { ...steps[0]!, index };
    switch (scenario.search?.of) {
      case 'rate':
        return { ...step, intervalsMs: entries.map(({ intervalMs }) => intervalMs) };
      case 'connections':
        return { ...step, connections: value };
      case 'messageSize':
        return { ...step, messageBytes: value };
      default:
        return step;
    }
  };
}
