import path from 'node:path';
import { joinWords, say, sentence, type Words } from '../base/sentence';
import { fill, english, type Translate } from '../base/text';
import { formatBytes, formatCount, formatDurationMs, plural } from '../base/units';
import { emulationKind, type EmulationKind, type Result } from '../results/result';
import type { StepProgress, Snapshot } from '../measure/snapshot';
import type { RunSummary } from '../measure/summary';
import type { Dialect, Scenario, ScenarioEntry } from '../scenario/scenario';
import {
  peakSenders,
  maximumSteps,
  repeatCount,
  scenarioAtSearchValue,
  stepCount,
  stepsOf,
} from '../scenario/steps';
import { intervalMsOf, largestGroup } from '../usecases/parameters';
import { streamsOf } from '../usecases/registry';
import { payloadOf } from '../usecases/useCase';
import { callsEachInterval } from '../usecases/sessionSteps';
import { emulatedTexts, howTexts } from '../measure/show/panelStrings';
import { runFolder, readSamples, type StoredRun } from '../results/readResult';
import { samplesFile } from '../results/resultFolder';
import { formatBandwidth } from '../capacity/capacityWords';
import { stepRates } from '../capacity/load/loadOf';

const mostEntries = 10;

/** `sendToGroup, groups of 10, 2 KB each second, 1,900 connections in 3 steps`. */
export function describeLoad(scenario: Scenario, t: Translate = english): string {
  const { entries, search } = scenario;
  const uses = entries.slice(0, mostEntries).map((each) => entryWords(each, scenario.connections));
  if (entries.length > mostEntries)
    uses.push(sentence('{0} more', formatCount(entries.length - mostEntries)));
  const parts = [joinWords(uses, ' + ')];
  if (search === undefined) parts.push(connectionWords(scenario), ...repeatWords(scenario));
  else {
    if (search.of !== 'connections') parts.push(openedWords(scenario));
    const range = [search.from, search.to].map((value) => formatCount(value));
    parts.push(sentence('capacity search: {0} from {1} to {2}', search.of, ...range));
  }
  return say(joinWords(parts, ', '), t);
}

const openedWords = ({ connections }: Scenario): Words =>
  sentence(connections === 1 ? '{0} connection' : '{0} connections', formatCount(connections));

/** `1,900 connections in 3 steps`, `… in 2 stages of up to 500 senders`. */
function connectionWords(scenario: Scenario): Words {
  const { stages } = scenario;
  const opened = openedWords(scenario);
  if (stages !== undefined) {
    const count = stages.stages.length;
    const text =
      count === 1
        ? '{0} in {1} stage of up to {2} senders'
        : '{0} in {1} stages of up to {2} senders';
    return sentence(text, opened, formatCount(count), formatCount(peakSenders(stages)));
  }
  const steps = Math.min(stepCount(scenario), maximumSteps);
  return steps > 1 ? sentence('{0} in {1} steps', opened, formatCount(steps)) : opened;
}

function repeatWords(scenario: Scenario): Words[] {
  const repeats = repeatCount(scenario);
  const isRepeated = Number.isInteger(repeats) && repeats > 1;
  return isRepeated ? [sentence('repeated {0} times', formatCount(repeats))] : [];
}

function entryWords({ name, parameters }: ScenarioEntry, connections: number): Words {
  const { groupCount, messageSizes, method, sendingInterval } = parameters;
  const payload = payloadOf(parameters);
  const words: Words[] = [typeof method === 'string' ? `${name} ${method.slice(0, 60)}` : name];
  if (typeof groupCount === 'number' && groupCount > 0) {
    const members = largestGroup({ groupsPerConnection: 1, ...parameters }, connections);
    words.push(sentence('groups of {0}', formatCount(members)));
  }
  const { recording, speed } = parameters;
  if (typeof recording === 'string')
    return sentence(
      '{0} of {1} at {2} × its speed',
      ...[name, path.basename(recording).slice(0, 60), String(Number(speed))],
    );
  if (parameters['steps'] !== undefined) {
    const calls = Math.max(1, Math.round(callsEachInterval(parameters)));
    const each = sentence(calls === 1 ? '{0} call' : '{0} calls', formatCount(calls));
    words.push(intervalWords(each, intervalMsOf(parameters)));
  }
  if (payload.sizes.length > 0 && typeof sendingInterval === 'number') {
    const size =
      typeof messageSizes === 'string'
        ? sentence('{0} (mean {1})', messageSizes.slice(0, 60), formatBytes(payload.meanBytes))
        : formatBytes(payload.meanBytes);
    const streams = streamsOf({ name, parameters });
    const each =
      streams === undefined ? size : sentence('{0} items of {1}', formatCount(streams.items), size);
    words.push(intervalWords(each, sendingInterval));
  }
  return joinWords(words, ', ');
}

const intervalWords = (what: Words, ms: number): Words =>
  ms === 1000
    ? sentence('{0} each second', what)
    : sentence('{0} every {1}', what, formatDurationMs(ms));

type HowTexts = Readonly<Record<keyof typeof howTexts, string>>;

type Driven = Pick<
  Scenario,
  'transport' | 'protocol' | 'driver' | 'dialect' | 'pacing' | 'agents'
> &
  Partial<Pick<Scenario, 'connectionType'>>;

/** The emulator or embedded hub, and {@link describeHow}; may be empty. */
export function describeUnusual(
  scenario: Driven & Pick<Scenario, 'service'>,
  target: Partial<Pick<RunSummary['target'], 'kind' | 'emulated'>> & { readonly dialect?: Dialect },
  texts: HowTexts & Readonly<Record<EmulationKind, string>> = { ...howTexts, ...emulatedTexts },
): string {
  const emulated = emulationKind(target, scenario.service);
  return [
    emulated === undefined ? '' : texts[emulated],
    describeHow(scenario, target.dialect, texts),
  ]
    .filter((words) => words !== '')
    .join(', ');
}

/**
 * `over LongPolling, messagepack`: what is unusual; empty for WebSockets, JSON, our own client, recordLatency and open pacing.
 * Unknown values of a stored file are not repeated.
 */
export function describeHow(
  scenario: Driven,
  dialect: Dialect = scenario.dialect,
  texts: HowTexts = howTexts,
): string {
  const { transport, driver, pacing, agents = 1 } = scenario;
  // ASP.NET SignalR has JSON only.
  const protocol = scenario.connectionType === 'AspNet' ? 'json' : scenario.protocol;
  const ways: readonly string[] = [transport, protocol, driver, dialect, pacing];
  const said = (Object.keys(howTexts) as (keyof HowTexts)[]).filter((way) => ways.includes(way));
  const words = said.map((way) => texts[way]);
  if (agents > 1) words.push(fill(texts.agents, formatCount(agents)));
  return words.join(', ');
}

/** `0:12`, `12 m`, `3 h`: measuring time left. */
export function formatTimeLeft({
  elapsedS,
  totalS,
}: Pick<StepProgress, 'elapsedS' | 'totalS'>): string {
  const seconds = Math.max(0, Math.round(totalS - elapsedS));
  if (seconds >= 100 * 60) return `${Math.round(seconds / 3600)} h`;
  if (seconds >= 600) return `${Math.round(seconds / 60)} m`;
  return formatClock(seconds);
}

/** `1:05` for 65 seconds. */
export function formatClock(seconds: number): string {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}

const usualGapMs = 2000;

const tailBytes = 128 * 1024;

/** That samples end before the run; undefined when they do not. */
export function describeSamplesEnd(
  { startedAt, endedAt }: Pick<Result, 'startedAt' | 'endedAt'>,
  { atMs, phase }: Pick<Snapshot, 'atMs' | 'phase'>,
): string | undefined {
  const endMs = Date.parse(endedAt) - Date.parse(startedAt);
  const closed = phase === 'closing' || phase === 'done';
  if (closed || endMs - atMs <= usualGapMs) return undefined;
  return `The samples end at ${formatClock(Math.max(0, atMs / 1000))} of ${formatClock(endMs / 1000)}: the rest of the file is missing or damaged.`;
}

/** The same for a stored run. */
export async function samplesProblem(run: StoredRun): Promise<string | undefined> {
  if (run.kind === 'interrupted') return undefined;
  const file = path.join(runFolder(run), samplesFile);
  const last = (await lastOf(file, tailBytes)) ?? (await lastOf(file));
  return last && describeSamplesEnd(run.result, last);
}

async function lastOf(file: string, mostBytes?: number): Promise<Snapshot | undefined> {
  let last: Snapshot | undefined;
  for await (const sample of readSamples(file, mostBytes)) last = sample;
  return last;
}

interface LoadNumbers {
  readonly connections: number;
  readonly inPerSecond: number;
  readonly outPerSecond: number;
  readonly bytesPerSecond: number;
  readonly durationS: number;
}

export function loadNumbers(given: Scenario): LoadNumbers {
  const { search } = given;
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
export function formatLoadNumbers(load: LoadNumbers): string {
  const connections = plural(load.connections, 'connection');
  const duration = `for about ${formatDurationMs(Math.round(load.durationS) * 1000)}`;
  if (load.inPerSecond + load.outPerSecond === 0) return `${connections}, no messages, ${duration}`;
  const rates = `up to ${formatCount(load.inPerSecond, decimals(load.inPerSecond))} msg/s in and ${formatCount(load.outPerSecond, decimals(load.outPerSecond))} msg/s out (${formatBandwidth(load.bytesPerSecond)})`;
  return `${connections}, ${rates}, ${duration}`;
}

const decimals = (value: number): number => (Number.isInteger(value) || value >= 100 ? 0 : 1);
