import { findUseCase } from '../usecases/registry';
import type { Scenario, ScenarioEntry, StagesSpec, SearchSpec } from './scenario';
import type { SearchKind } from '../base/searchSummary';
import { intervalMsOf, type Parameters } from '../usecases/parameters';
import {
  callsEachInterval,
  meanPausesOf,
  pausesOf,
  sessionStepsOf,
} from '../usecases/sessionSteps';

/** Entries in the order of `scenario.entries`. */
export interface StepSenders {
  readonly index: number;
  readonly senders: number;
  readonly perEntry: readonly number[];
}

export const maximumSteps = 10_000;

/** Each is a step without senders. Undefined where something is sent. */
export function connectRounds({ entries }: Pick<Scenario, 'entries'>): number | undefined {
  if (!entries.every(sendsNothing)) return undefined;
  return Math.max(...entries.map(({ parameters }) => Number(parameters['rounds'] ?? 1)));
}

/** May be above {@link maximumSteps}. */
export function stepCount(scenario: Scenario): number {
  const { connections, baseSending, step, sendingSteps } = scenario;
  const rounds = connectRounds(scenario);
  if (rounds !== undefined) return rounds;
  const all = step === 0 ? 1 : Math.max(0, Math.ceil((connections - baseSending) / step)) + 1;
  return sendingSteps !== 0 && sendingSteps < all ? sendingSteps : all;
}

export const repeatCount = (scenario: Pick<Scenario, 'repeat' | 'search' | 'entries'>): number =>
  scenario.search !== undefined || connectRounds(scenario) !== undefined
    ? 1
    : (scenario.repeat ?? 1);

export function lastStepSenders(scenario: Scenario): number {
  const { connections, baseSending, step } = scenario;
  if (connectRounds(scenario) !== undefined) return 0;
  return Math.min(connections, baseSending + (stepCount(scenario) - 1) * step);
}

/**
 * Step i has min(connections, baseSending + (i − 1) × step) senders; there are ceil((connections −
 * baseSending) / step) + 1 of them, or `sendingSteps` if that is not 0 and smaller.
 */
export function stepsOf(scenario: Scenario): StepSenders[] {
  const { baseSending, step } = scenario;
  const count = stepCount(scenario);
  const last = lastStepSenders(scenario);
  const lastPerEntry = sendersPerEntry(scenario.entries, last);
  return Array.from({ length: Math.min(count, maximumSteps) }, (_, position) => {
    const senders = Math.min(last, baseSending + position * step);
    const sending = last === 0 ? 0 : Math.round((senders * sumOf(lastPerEntry)) / last);
    return { index: position + 1, senders, perEntry: inProportion(lastPerEntry, sending) };
  });
}

export const sendsNothing = ({ name }: Pick<ScenarioEntry, 'name'>): boolean =>
  findUseCase(name)?.run.audience === 'nobody';

/** Counts and shares as written, the rest in equal parts. */
function sendersPerEntry(written: readonly ScenarioEntry[], senders: number): number[] {
  const none = { kind: 'count', count: 0 } as const;
  const entries = written.map((entry) =>
    sendsNothing(entry) ? { ...entry, senders: none } : entry,
  );
  // Shares are rounded together: each on its own could add up to more senders than there are.
  const shares = entries.map((entry) =>
    entry.senders?.kind === 'share' ? entry.senders.share : 0,
  );
  const byShare = inProportion(shares, Math.round(sumOf(shares) * senders));
  const fixed = entries.map((entry, index) => {
    if (entry.senders === undefined) return undefined;
    return entry.senders.kind === 'count' ? entry.senders.count : byShare[index]!;
  });
  const taken = sumOf(fixed.map((count) => count ?? 0));
  const open = fixed.filter((count) => count === undefined).length;
  const rest = inProportion(Array<number>(open).fill(1), Math.max(0, senders - taken));
  return fixed.map((count) => count ?? rest.shift() ?? 0);
}

const sumOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

/** Whole numbers that sum to `total`; remainders go to the largest fractions. */
function inProportion(weights: readonly number[], total: number): number[] {
  const sum = sumOf(weights);
  if (sum === 0) return weights.map(() => 0);
  const exact = weights.map((weight) => (weight * total) / sum);
  const parts = exact.map(Math.floor);
  const byFraction = exact
    .map((value, index) => ({ index, fraction: value - Math.floor(value) }))
    .sort((a, b) => b.fraction - a.fraction || a.index - b.index);
  for (const { index } of byFraction.slice(0, total - sumOf(parts))) parts[index]! += 1;
  return parts;
}

export const stagesDurationMs = (stages: StagesSpec['stages']): number =>
  stages.reduce((sum, { overMs, holdMs }) => sum + overMs + holdMs, 0);

export const peakSenders = ({ from, stages }: StagesSpec): number =>
  Math.max(from, ...stages.map(({ to }) => to));

/** Mean senders by the most of them; 1 without stages. */
export function meanShareOfPeak(spec: StagesSpec | undefined): number {
  if (spec === undefined) return 1;
  const { from, stages } = spec;
  let [before, sum] = [from, 0];
  for (const { to, overMs, holdMs } of stages) {
    sum += ((before + to) / 2) * overMs + to * holdMs;
    before = to;
  }
  const ms = stagesDurationMs(stages);
  return (ms === 0 ? before : sum / ms) / Math.max(1, peakSenders(spec));
}

/** Warm-up and drain not counted. */
const stepsInBudget = 20;
/** Long enough to see whether a queue grows. */
const shortestStepMs = 8000;
const rangeFactor = 16;
const lowestRateDivisor = 4;
const highestRateFactor = 64;
/** With its envelope below 1 MB, see *Limits* of Azure SignalR Service and Azure Web PubSub. */
const largestMessage = 1000 * 1024;

/** Messages per second of the last step; a stream counts as one. */
export function plannedRate(scenario: Scenario): number {
  const perEntry = stepsOf(scenario).at(-1)?.perEntry ?? [];
  return scenario.entries.reduce((sum, { parameters }, position) => {
    const interval = intervalMsOf(parameters);
    const sendings = (perEntry[position] ?? 0) * callsEachInterval(parameters);
    return interval > 0 ? sum + (sendings * 1000) / interval : sum;
  }, 0);
}

/** Above this rate sessions would overlap by their own pauses; Infinity without pauses. */
export function highestSessionRate(scenario: Scenario): number {
  const shares = scenario.entries.map(({ parameters }) => {
    const pausesMs = meanPausesOf(sessionStepsOf(parameters));
    return pausesMs > 0 ? intervalMsOf(parameters) / pausesMs : Infinity;
  });
  return Math.max(1, Math.floor(plannedRate(scenario) * Math.min(...shares)));
}

/** Undefined where no single size is written. */
export function singleMessageSize({ entries }: Scenario): number | undefined {
  const sizes = entries.flatMap(({ parameters }) =>
    hasSize(parameters) ? [Number(parameters['messageSize'])] : [],
  );
  return sizes.length === 0 ? undefined : Math.max(...sizes);
}

const hasSize = (parameters: Parameters): boolean =>
  typeof parameters['messageSize'] === 'number' &&
  parameters['messageSizes'] === undefined &&
  parameters['arguments'] === undefined &&
  parameters['payloadFile'] === undefined;

export function defaultSearchRange(
  scenario: Scenario,
  of: SearchKind,
  written: { readonly to?: number | undefined } = {},
): Pick<SearchSpec, 'from' | 'to'> {
  const whole = (value: number): number => Math.max(1, Math.round(value));
  if (of === 'rate') {
    const own = plannedRate(scenario);
    const to = written.to ?? whole(own * highestRateFactor);
    return { from: Math.min(whole(own / lowestRateDivisor), to), to };
  }
  if (of === 'messageSize') {
    const to = written.to ?? largestMessage;
    return { from: Math.min(whole(singleMessageSize(scenario) ?? 1), to), to };
  }
  const to = written.to ?? scenario.connections;
  return { from: whole(to / rangeFactor), to };
}

/** The scenario with one step, at a value of its search. */
export function scenarioAtSearchValue(scenario: Scenario, value: number): Scenario {
  const { search, ...rest } = scenario;
  if (search === undefined) throw new Error('nothing is searched');
  const senders = lastStepSenders(rest);
  const stepMs = Math.max(
    shortestStepMs,
    Math.min(rest.singleStepDurationMs, search.budgetMs / stepsInBudget),
  );
  const oneStep: Scenario = {
    ...rest,
    entries: rest.entries.map((entry) => withShare(entry, senders)),
    ...{ step: 0, sendingSteps: 1, baseSending: senders },
    singleStepDurationMs: stepMs,
    warmupMs: Math.min(rest.warmupMs, stepMs),
  };
  switch (search.of) {
    case 'senders':
      return { ...oneStep, baseSending: value };
    case 'connections': {
      // If all connections send, they all do at any value.
      const all = senders >= rest.connections;
      const groups = (count: number): number => Math.min(count, value);
      const entries = withParameter(oneStep.entries, 'groupCount', groups);
      const baseSending = all ? value : Math.min(value, senders);
      return { ...oneStep, entries, connections: value, baseSending };
    }
    case 'rate': {
      const factor = plannedRate(rest) / value;
      const longer = (interval: number): number => interval * factor;
      const entries = withParameter(oneStep.entries, 'sendingInterval', longer);
      // From then on as many sessions end as begin.
      const pausesMs = rest.entries.map(({ parameters }) => pausesOf(sessionStepsOf(parameters)));
      const warmupMs = Math.max(oneStep.warmupMs, Math.min(stepMs, Math.max(...pausesMs)));
      return { ...oneStep, warmupMs, entries: withParameter(entries, 'sessionInterval', longer) };
    }
    case 'messageSize':
      return {
        ...oneStep,
        entries: oneStep.entries.map((entry) =>
          hasSize(entry.parameters)
            ? withParameter([entry], 'messageSize', () => value)[0]!
            : entry,
        ),
      };
  }
}

/** Counts of a mix hold for its last step; at other values they are in proportion. */
function withShare(entry: ScenarioEntry, senders: number): ScenarioEntry {
  if (entry.senders?.kind !== 'count' || senders === 0) return entry;
  return { ...entry, senders: { kind: 'share', share: entry.senders.count / senders } };
}

const withParameter = (
  entries: readonly ScenarioEntry[],
  name: string,
  change: (value: number) => number,
): ScenarioEntry[] =>
  entries.map((entry) => {
    const value = entry.parameters[name];
    if (typeof value !== 'number' || value <= 0) return entry;
    return { ...entry, parameters: { ...entry.parameters, [name]: change(value) } };
  });
