/** What a capacity search makes of a scenario: what it varies, from where to where, and the scenario at a value. */
import type { SearchKind } from '../base/searchSummary';
import { intervalMsOf, type Parameters } from '../usecases/parameters';
import {
  callsEachInterval,
  meanPausesOf,
  pausesOf,
  sessionStepsOf,
} from '../usecases/sessionSteps';
import type { Scenario, ScenarioEntry, SearchSpec } from './scenario';
import { lastSenders, stepsOf } from './steps';

/** So many steps find room in the budget of a search, warm-up and drain not counted. */
const stepsInBudget = 20;
/** It takes some seconds to tell a queue that grows from one that does not. */
const shortestStepMs = 8000;
/** Of a search whose scenario says nothing: four doublings up to the highest value. */
const stairs = 16;
const ownRateShare = 4;
const mostOwnRates = 64;
/** With its envelope below 1 MB, beyond which services refuse: Azure SignalR Service, *Limits*, and Azure Web PubSub, *Limits*. */
const largestMessage = 1000 * 1024;

/** Messages per second of all entries in the last step, streams counted as one. */
export function rateOf(scenario: Scenario): number {
  const perEntry = stepsOf(scenario).at(-1)?.perEntry ?? [];
  return scenario.entries.reduce((sum, { parameters }, position) => {
    const interval = intervalMsOf(parameters);
    const sendings = (perEntry[position] ?? 0) * callsEachInterval(parameters);
    return interval > 0 ? sum + (sendings * 1000) / interval : sum;
  }, 0);
}

/** The whole rate above which a session would begin before the pauses of the one before are over; Infinity without any. */
export function rateCeilingOf(scenario: Scenario): number {
  const shares = scenario.entries.map(({ parameters }) => {
    const pausesMs = meanPausesOf(sessionStepsOf(parameters));
    return pausesMs > 0 ? intervalMsOf(parameters) / pausesMs : Infinity;
  });
  return Math.max(1, Math.floor(rateOf(scenario) * Math.min(...shares)));
}

/** Bytes of a message where one size is written; undefined where there is none to vary. */
export function sizeOf({ entries }: Scenario): number | undefined {
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

/** From where to where a search goes where nothing is written. */
export function usualRange(
  scenario: Scenario,
  of: SearchKind,
  written: { readonly to?: number | undefined } = {},
): Pick<SearchSpec, 'from' | 'to'> {
  const whole = (value: number): number => Math.max(1, Math.round(value));
  if (of === 'rate') {
    const own = rateOf(scenario);
    const to = written.to ?? whole(own * mostOwnRates);
    return { from: Math.min(whole(own / ownRateShare), to), to };
  }
  if (of === 'messageSize') {
    const to = written.to ?? largestMessage;
    return { from: Math.min(whole(sizeOf(scenario) ?? 1), to), to };
  }
  const to = written.to ?? scenario.connections;
  return { from: whole(to / stairs), to };
}

/** The scenario with one step in which that is the value. */
export function scenarioAt(scenario: Scenario, value: number): Scenario {
  const { search, ...rest } = scenario;
  if (search === undefined) throw new Error('nothing is searched');
  const senders = lastSenders(rest);
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
      // Where all connections send, all of them do; else as many as are written.
      const all = senders >= rest.connections;
      const entries = oneStep.entries.map((entry) => withGroups(entry, value));
      const baseSending = all ? value : Math.min(value, senders);
      return { ...oneStep, entries, connections: value, baseSending };
    }
    case 'rate': {
      const factor = rateOf(rest) / value;
      const longer = (interval: number): number => interval * factor;
      const entries = changed(oneStep.entries, 'sendingInterval', longer);
      // From then on as many sessions end as begin.
      const pausesMs = rest.entries.map(({ parameters }) => pausesOf(sessionStepsOf(parameters)));
      const warmupMs = Math.max(oneStep.warmupMs, Math.min(stepMs, Math.max(...pausesMs)));
      return { ...oneStep, warmupMs, entries: changed(entries, 'sessionInterval', longer) };
    }
    case 'messageSize':
      return {
        ...oneStep,
        entries: oneStep.entries.map((entry) =>
          hasSize(entry.parameters) ? changed([entry], 'messageSize', () => value)[0]! : entry,
        ),
      };
  }
}

/** Counts of a mix hold for its last step; at other values they are in proportion. */
function withShare(entry: ScenarioEntry, senders: number): ScenarioEntry {
  if (entry.senders?.kind !== 'count' || senders === 0) return entry;
  return { ...entry, senders: { kind: 'share', share: entry.senders.count / senders } };
}

function withGroups(entry: ScenarioEntry, connections: number): ScenarioEntry {
  return changed([entry], 'groupCount', (count) => Math.min(count, connections))[0]!;
}

const changed = (
  entries: readonly ScenarioEntry[],
  name: string,
  change: (value: number) => number,
): ScenarioEntry[] =>
  entries.map((entry) => {
    const value = entry.parameters[name];
    if (typeof value !== 'number' || value <= 0) return entry;
    return { ...entry, parameters: { ...entry.parameters, [name]: change(value) } };
  });
