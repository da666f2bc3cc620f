import path from 'node:path';
import { fill } from '../base/objectives/limitWords';
import { formatBytes, formatCount, formatDurationMs } from '../base/units';
import { emulatedBy, type Emulated } from '../results/result';
import type { StepProgress } from '../measure/snapshot';
import type { RunSummary, Recovery } from '../measure/summary';
import type { Dialect, Scenario, ScenarioEntry } from '../scenario/scenario';
import { peakOf, maximumSteps, repeatsIn, stepCount } from '../scenario/steps';
import { intervalMsOf, largestGroup } from '../usecases/parameters';
import { streamsOf } from '../usecases/registry';
import { payloadOf } from '../usecases/entryPayload';
import { callsEachInterval } from '../usecases/sessionSteps';
import { emulatedTexts, howTexts } from '../protocol/howTexts';

const mostEntries = 10;

/** `sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps`. */
export function loadWords(scenario: Scenario): string {
  const { entries } = scenario;
  const uses = entries.slice(0, mostEntries).map((each) => entryWords(each, scenario.connections));
  if (entries.length > mostEntries) uses.push(`${formatCount(entries.length - mostEntries)} more`);
  const connections = `${formatCount(scenario.connections)} ${plural('connection', scenario.connections)}`;
  if (scenario.search !== undefined) {
    const { of, from, to } = scenario.search;
    const range = `${formatCount(from)} to ${formatCount(to)}`;
    const opened = of === 'connections' ? [] : [connections];
    return [uses.join(' + '), ...opened, `capacity search: ${of} from ${range}`].join(', ');
  }
  return `${uses.join(' + ')}, ${connections}${stepWords(scenario)}${repeatWords(scenario)}`;
}

/** ` in 3 steps`, ` in 2 stages of up to 500 senders`; nothing for one usual step. */
function stepWords(scenario: Scenario): string {
  const { stages } = scenario;
  if (stages !== undefined) {
    const count = stages.stages.length;
    return ` in ${formatCount(count)} ${plural('stage', count)} of up to ${formatCount(peakOf(stages))} senders`;
  }
  const steps = Math.min(stepCount(scenario), maximumSteps);
  return steps > 1 ? ` in ${formatCount(steps)} steps` : '';
}

function repeatWords(scenario: Scenario): string {
  const repeats = repeatsIn(scenario);
  // Results of others may have anything in its place.
  return Number.isInteger(repeats) && repeats > 1 ? `, repeated ${formatCount(repeats)} times` : '';
}

function entryWords({ name, parameters }: ScenarioEntry, connections: number): string {
  const { groupCount, messageSizes, method, sendingInterval } = parameters;
  const payload = payloadOf(parameters);
  const words = [typeof method === 'string' ? `${name} ${method.slice(0, 60)}` : name];
  if (typeof groupCount === 'number' && groupCount > 0) {
    const members = largestGroup({ groupsPerConnection: 1, ...parameters }, connections);
    words.push(`groups of ${formatCount(members)}`);
  }
  const { recording, speed } = parameters;
  if (typeof recording === 'string')
    return `${name} of ${path.basename(recording).slice(0, 60)} at ${Number(speed)} × its speed`;
  if (parameters['steps'] !== undefined) {
    // The mean where some are chosen.
    const calls = Math.max(1, Math.round(callsEachInterval(parameters)));
    const each = `${formatCount(calls)} ${plural('call', calls)}`;
    words.push(`${each} ${intervalWords(intervalMsOf(parameters))}`);
  }
  if (payload.sizes.length > 0 && typeof sendingInterval === 'number') {
    const size =
      typeof messageSizes === 'string'
        ? `${messageSizes.slice(0, 60)} (mean ${formatBytes(payload.meanBytes)})`
        : formatBytes(payload.meanBytes);
    const streams = streamsOf({ name, parameters });
    const count = streams === undefined ? '' : `${formatCount(streams.items)} items of `;
    words.push(`${count}${size} ${intervalWords(sendingInterval)}`);
  }
  return words.join(', ');
}

function intervalWords(ms: number): string {
  return ms === 1000 ? 'each second' : `every ${formatDurationMs(ms)}`;
}

export function plural(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

type HowTexts = Readonly<Record<keyof typeof howTexts, string>>;

type Driven = Pick<
  Scenario,
  'transport' | 'protocol' | 'driver' | 'dialect' | 'pacing' | 'agents'
> &
  Partial<Pick<Scenario, 'connectionType'>>;

/** That it was no service, and {@link howWords}; empty when there is nothing to say. */
export function marksOf(
  scenario: Driven & Pick<Scenario, 'service'>,
  target: Partial<Pick<RunSummary['target'], 'kind' | 'emulated'>> & { readonly dialect?: Dialect },
  texts: HowTexts & Readonly<Record<Emulated, string>> = { ...howTexts, ...emulatedTexts },
): string {
  const emulated = emulatedBy(target, scenario.service);
  return [emulated === undefined ? '' : texts[emulated], howWords(scenario, target.dialect, texts)]
    .filter((words) => words !== '')
    .join(', ');
}

/**
 * How a run is driven, as far as that is not the usual way: `over LongPolling, messagepack`. Empty for
 * WebSockets, JSON, our own client, the dialect recordLatency and open pacing. Values of a stored file
 * may be anything; what is not known is not said.
 *
 * @param dialect the one that is spoken; absent: that of the scenario
 */
export function howWords(
  scenario: Driven,
  dialect: Dialect = scenario.dialect,
  texts: HowTexts = howTexts,
): string {
  const { transport, driver, pacing, agents = 1 } = scenario;
  // ASP.NET SignalR has no other, whatever the file asks for.
  const protocol = scenario.connectionType === 'AspNet' ? 'json' : scenario.protocol;
  const ways: readonly string[] = [transport, protocol, driver, dialect, pacing];
  const said = (Object.keys(howTexts) as (keyof HowTexts)[]).filter((way) => ways.includes(way));
  const words = said.map((way) => texts[way]);
  if (agents > 1) words.push(fill(texts.agents, formatCount(agents)));
  return words.join(', ');
}

/** `0:12`, `9:59`, `12 m`, `3 h`: the measuring time a step has left. */
export function timeLeft({ elapsedS, totalS }: Pick<StepProgress, 'elapsedS' | 'totalS'>): string {
  const seconds = Math.max(0, Math.round(totalS - elapsedS));
  if (seconds >= 100 * 60) return `${Math.round(seconds / 3600)} h`;
  if (seconds >= 600) return `${Math.round(seconds / 60)} m`;
  return clock(seconds);
}

/** `1:05` for 65 seconds. */
export function clock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

/** `at 10.0 s 200 connections were missing; connections back after 1.2 s, latency after 2 s`. */
export function recoveryWords({ atS, missing, connectionsS, latencyS }: Recovery): string {
  const after = (seconds: number | null): string =>
    seconds === null ? 'not back within the step' : `back after ${seconds.toFixed(1)} s`;
  const latency = latencyS === undefined ? '' : `, latency ${after(latencyS)}`;
  return `at ${atS.toFixed(1)} s ${formatCount(missing)} connections were missing; connections ${after(connectionsS)}${latency}`;
}
