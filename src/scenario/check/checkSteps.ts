import { formatCount, formatDurationMs } from '../../base/units';
import { hubRunOf } from '../../usecases/useCase';
import { writtenPlace, entryPlace, startPlace, type Sources } from '../text/problemPlaces';
import type { Reading } from '../text/scenarioReading';
import { numberIn } from '../read/readSection';
import type { Scenario } from '../scenario';
import { isSilent, lastSenders, maximumSteps, silentRounds, stepCount } from '../steps';

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
