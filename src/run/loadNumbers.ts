/** What a run asks of its target, in numbers: for the question whether it may, and for lists of scenarios. */
import { plural, formatCount, formatDurationMs } from '../base/units';
import { formatBandwidth } from '../capacity/capacityWords';
import { stepRates } from '../capacity/load/loadOf';
import type { Scenario } from '../scenario/scenario';
import { scenarioAtSearchValue, repeatCount, stepsOf } from '../scenario/steps';

/** Of the last step. */
interface LoadNumbers {
  readonly connections: number;
  readonly inPerSecond: number;
  readonly outPerSecond: number;
  readonly bytesPerSecond: number;
  readonly durationS: number;
}

export function loadNumbers(given: Scenario): LoadNumbers {
  const { search } = given;
  // What is asked about is the highest load that a search may come to.
  const scenario = search === undefined ? given : scenarioAtSearchValue(given, search.to);
  const steps = stepsOf(scenario);
  const last = steps.at(-1);
  const rates = last && stepRates(scenario, last);
  const rampS = scenario.connections / scenario.arrivingRate;
  const stepMs = scenario.warmupMs + scenario.singleStepDurationMs + scenario.drainMs;
  const stepsS = (repeatCount(given) * steps.length * stepMs) / 1000;
  return {
    connections: scenario.connections,
    inPerSecond: rates?.inMessages ?? 0,
    outPerSecond: rates?.outMessages ?? 0,
    bytesPerSecond: rates?.bytes ?? 0,
    durationS: search ? search.budgetMs / 1000 : rampS + stepsS,
  };
}

/** `1,900 connections, up to 1,900 msg/s in and 19,000 msg/s out (41.8 MB/s), for about 3 min`. */
export function loadNumbersWords(load: LoadNumbers): string {
  const connections = plural(load.connections, 'connection');
  const duration = `for about ${formatDurationMs(Math.round(load.durationS) * 1000)}`;
  if (load.inPerSecond + load.outPerSecond === 0) return `${connections}, no messages, ${duration}`;
  const rates = `up to ${formatCount(load.inPerSecond, decimals(load.inPerSecond))} msg/s in and ${formatCount(load.outPerSecond, decimals(load.outPerSecond))} msg/s out (${formatBandwidth(load.bytesPerSecond)})`;
  return `${connections}, ${rates}, ${duration}`;
}

const decimals = (value: number): number => (Number.isInteger(value) || value >= 100 ? 0 : 1);
