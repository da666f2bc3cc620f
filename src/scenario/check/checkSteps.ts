import {
  countFor,
  finestLimitUs,
  leastBeyond,
  mostSlipShare,
  tellsShare,
  leavingUs,
} from '../../base/judging';
import { latencyMetrics, latencyShare, type LatencyMetric } from '../../base/objectives/latency';
import { formatCount, formatDurationMs, formatLatencyUs, formatShare } from '../../base/units';
import { findUseCase } from '../../usecases/registry';
import { hubRunOf } from '../../usecases/useCase';
import { numberIn } from '../read/readSection';
import type { Scenario } from '../scenario';
import { isSilent, lastSenders, maximumSteps, silentRounds, stepCount, stepsOf } from '../steps';
import { writtenPlace, entryPlace, startPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';

/** A run of more than a day is rarely meant. */
const longRunMs = 24 * 3_600_000;

/** Checks the steps, the senders and how the entries of a mix share them. */
export function checkSteps(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { config } = sources;
  const { connections, singleStepDurationMs } = scenario;
  const baseSending = numberIn(config, 'baseSending');
  const basePlace = writtenPlace(reading, config, 'baseSending');
  const silent = silentRounds(scenario) !== undefined;
  if (silent) reportNoSenders(reading, sources);
  if (!silent && basePlace !== undefined && baseSending > connections) {
    const text = String(connections);
    reading.report(
      'warning',
      'base-sending',
      basePlace,
      `${formatCount(baseSending)} senders are more than the ${formatCount(connections)} connections, so all connections send from the first step on.`,
      { title: `Write ${text}`, text },
    );
  }
  const steps = stepCount(scenario);
  const stepPlace =
    writtenPlace(reading, config, 'step', 'baseSending', 'connections') ??
    startPlace(reading, sources);
  if (steps > maximumSteps) {
    reading.report(
      'error',
      'too-many-steps',
      stepPlace,
      `These are ${formatCount(steps)} steps; at most ${formatCount(maximumSteps)} can run. Make step larger, or limit the steps with sendingSteps.`,
    );
  } else if (steps * singleStepDurationMs > longRunMs) {
    reading.report(
      'warning',
      'long-run',
      stepPlace,
      `These are ${formatCount(steps)} steps of ${formatDurationMs(singleStepDurationMs)}: the run takes ${formatDurationMs(steps * singleStepDurationMs)}. Make step larger, or limit the steps with sendingSteps.`,
    );
  }
  if (!silent && lastSenders(scenario) === 0) {
    reading.report(
      'error',
      'nothing-sent',
      basePlace ?? stepPlace,
      'No step has a sender, so nothing is sent or measured. Write a baseSending above 0, or use connectOnly.',
    );
  }
  checkCompany(reading, sources, scenario);
  checkStorm(reading, sources, scenario);
  checkIntervals(reading, sources, scenario);
  if (!silent) reportSilentEntries(reading, sources);
  checkMix(reading, sources, scenario);
}

/** Whoever sends to one other connection needs another one. */
function checkCompany(reading: Reading, sources: Sources, { connections }: Scenario): void {
  const alone = sources.entries.find(
    ({ useCase, entry }) => hubRunOf(useCase, entry.parameters).audience === 'client',
  );
  if (connections > 1 || alone === undefined) return;
  reading.report(
    'error',
    'nothing-sent',
    writtenPlace(reading, sources.config, 'connections') ?? entryPlace(reading, sources, alone),
    `${alone.useCase.name} sends to another connection, and there is only one: nothing would be sent. Write at least 2 connections.`,
    { title: 'Write 2', text: '2' },
  );
}

/** Keys about senders, in a scenario that sends nothing. */
function reportNoSenders(reading: Reading, { config }: Sources): void {
  for (const name of ['baseSending', 'step', 'sendingSteps']) {
    const place = writtenPlace(reading, config, name);
    if (place === undefined) continue;
    const message = `Nothing is sent here, so ${name} has no effect; the parameter rounds opens the connections in several steps.`;
    reading.report('info', 'no-effect', place, message);
  }
}

/** A storm must fall into the step, with time left to recover in. */
function checkStorm(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { dropAllAfterMs, singleStepDurationMs } = scenario;
  const place = writtenPlace(reading, sources.config, 'dropAllAfter');
  if (place === undefined || dropAllAfterMs === undefined) return;
  if (dropAllAfterMs < singleStepDurationMs) return;
  reading.report(
    'error',
    'drop-all',
    place,
    `A step is over after ${formatDurationMs(singleStepDurationMs)}, before its connections would be dropped. Write a shorter dropAllAfter, or a longer singleStepDuration.`,
  );
}

/** A sender whose interval is longer than the step may never get its turn. */
function checkIntervals(reading: Reading, sources: Sources, scenario: Scenario): void {
  for (const read of sources.entries) {
    const interval = read.entry.parameters['sendingInterval'];
    if (typeof interval !== 'number' || interval <= scenario.singleStepDurationMs) continue;
    reading.report(
      'warning',
      'nothing-sent',
      writtenPlace(reading, read.parameters, 'sendingInterval') ??
        writtenPlace(reading, sources.config, 'singleStepDuration') ??
        entryPlace(reading, sources, read),
      `A sender sends every ${formatDurationMs(interval)}, but a step lasts ${formatDurationMs(scenario.singleStepDurationMs)}: some senders never send in it.`,
    );
  }
}

/** An entry of a mix that sends nothing has no part in it: connections are opened anyway. */
function reportSilentEntries(reading: Reading, sources: Sources): void {
  for (const read of sources.entries) {
    if (sources.entries.length < 2 || !isSilent(read.entry)) continue;
    const message = `${read.useCase.name} sends nothing, so it adds nothing to a mix: all connections are opened anyway. Remove it.`;
    reading.report('warning', 'no-effect', entryPlace(reading, sources, read), message);
  }
}

/** Counts and shares together must fit into the last step. */
function checkMix(reading: Reading, sources: Sources, scenario: Scenario): void {
  const available = lastSenders(scenario);
  let taken = 0;
  let shares = 0;
  for (const read of sources.entries) {
    const senders = isSilent(read.entry) ? undefined : read.entry.senders;
    if (senders?.kind === 'count') taken += senders.count;
    if (senders?.kind === 'share') shares += senders.share;
    // Sums of shares such as 10 % + 20 % + 70 % may miss 100 % by a rounding error.
    const sum = taken + shares * available;
    if (senders === undefined || (sum <= available + 1e-6 && shares <= 1 + 1e-9)) continue;
    const message =
      taken === 0
        ? `The shares of the mix are more than 100 % (${Number((shares * 100).toFixed(1))} % up to here). Lower them.`
        : `The mix has more senders than the last step: ${formatCount(Math.ceil(sum - 1e-6))} up to here, but it has ${formatCount(available)}. Lower them, or raise connections.`;
    const place =
      writtenPlace(reading, read.section, 'senders') ?? entryPlace(reading, sources, read);
    reading.report('error', 'mix-sum', place, message);
    return;
  }
  const left = available - taken - shares * available;
  const open = sources.entries.filter(
    ({ entry }) => entry.senders === undefined && !isSilent(entry),
  );
  if (sources.entries.length < 2 || open.length === 0 || left >= 0.5) return;
  const message = 'The other entries of the mix take all senders, so this one has none.';
  reading.report('warning', 'mix-sum', entryPlace(reading, sources, open[0]!), message);
}

/** With mean lives below this, connections do not send for more than a sixth of the time. */
const shortLifeMs = 5000;

/** Checks how connections come and go, and move in and out of groups. */
export function checkLives(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { lifetimeMs, connections } = scenario;
  const place = writtenPlace(reading, sources.config, 'lifetime');
  if (place !== undefined && lifetimeMs !== undefined && lifetimeMs < shortLifeMs) {
    const leavingMs = leavingUs / 1000;
    const share = Math.round((100 * leavingMs) / (lifetimeMs + leavingMs));
    const message = `Connections do not send in the last ${formatDurationMs(leavingMs)} before they are closed: with a mean life of ${formatDurationMs(lifetimeMs)} that is ${share} % of the time. Write a longer lifetime.`;
    reading.report('warning', 'short-life', place, message);
  }
  const moving = sources.entries.find(
    ({ useCase, entry }) => hubRunOf(useCase, entry.parameters).othersMove === true,
  );
  const last = stepsOf(scenario).at(-1)?.perEntry ?? [];
  if (moving === undefined || last.reduce((sum, count) => sum + count, 0) < connections) return;
  const message = `In the last step all ${formatCount(connections)} connections send, so nobody moves in and out of groups. Limit the steps with sendingSteps, or raise connections.`;
  reading.report('warning', 'nobody-moves', entryPlace(reading, sources, moving), message);
}

/** Objectives that are finer than the generator, or than the number of deliveries, can judge. */
export function checkSlo(reading: Reading, sources: Sources, scenario: Scenario): void {
  if (scenario.kind === 'resultparser') return;
  checkLimits(reading, sources, scenario);
  checkTails(reading, sources, scenario);
}

/** With closed pacing a message is due when it leaves, so that it is never late. */
function checkLimits(reading: Reading, sources: Sources, { slo, pacing }: Scenario): void {
  if (pacing === 'closed') return;
  for (const metric of latencyMetrics) {
    const limit = slo.latencyUs[metric];
    if (limit === undefined || limit >= finestLimitUs) continue;
    const finest = formatLatencyUs(finestLimitUs);
    reading.report(
      'warning',
      'objective-too-fine',
      writtenPlace(reading, sources.slo, metric) ?? startPlace(reading, sources),
      `A limit of ${formatLatencyUs(limit)} is finer than the generator: it sends up to ${formatLatencyUs(finestLimitUs * mostSlipShare)} after the time, and a step in which that is more than ${formatShare(mostSlipShare)} of a limit is invalid. The finest limit it can judge is ${finest}.`,
      { title: `Write ${finest}`, text: finest },
    );
  }
}

/** The step with the fewest senders is the first; the others have more to tell. */
function checkTails(reading: Reading, sources: Sources, scenario: Scenario): void {
  const wanted = (['p99.9', 'p99.99'] as const).filter(
    (metric) => scenario.slo.latencyUs[metric] !== undefined,
  );
  if (wanted.length === 0) return;
  const expected = deliveriesOfFirstStep(scenario);
  // With nothing expected nothing is judged, which is said elsewhere.
  if (expected === 0) return;
  for (const metric of wanted) {
    const share = latencyShare[metric];
    if (tellsShare(expected, share)) continue;
    const finest = finestOf(expected);
    reading.report(
      'warning',
      'objective-too-fine',
      writtenPlace(reading, sources.slo, metric) ??
        writtenPlace(reading, sources.config, 'latencyPercentage') ??
        startPlace(reading, sources),
      `Too few messages for ${metric}: it takes ${formatCount(countFor(share))} deliveries, so that ${leastBeyond} lie beyond it, and step 1 expects ${formatCount(expected)}. ${finest === undefined ? 'That is too few for any percentile' : `It has enough for ${finest}`}: let the step last longer, or send more.`,
    );
  }
}

function finestOf(expected: number): LatencyMetric | undefined {
  return latencyMetrics
    .filter((metric) => metric !== 'max' && tellsShare(expected, latencyShare[metric]))
    .at(-1);
}

function deliveriesOfFirstStep(scenario: Scenario): number {
  const { connections, entries, singleStepDurationMs } = scenario;
  const [first] = stepsOf(scenario);
  const deliveries = entries.map(({ name, parameters }, position) => {
    const senders = first?.perEntry[position] ?? 0;
    const interval = parameters['sendingInterval'];
    const useCase = findUseCase(name);
    if (senders === 0 || typeof interval !== 'number' || useCase === undefined) return 0;
    const sendings = (senders * singleStepDurationMs) / Math.max(1, interval);
    return sendings * useCase.deliveries(parameters, { connections, senders });
  });
  return Math.floor(deliveries.reduce((sum, each) => sum + each, 0));
}
