import { formatCount, formatDurationMs } from '../base/units';
import { writtenPlace, entryPlace, startPlace, type Sources } from './places';
import type { Reading } from './reading';
import { numberIn } from './readSection';
import type { Scenario } from './scenario';
import { lastSenders, maximumSteps, stepCount } from './steps';

/** A run of more than a day is rarely meant. */
const longRunMs = 24 * 3_600_000;

/** Checks the steps, the senders and how the entries of a mix share them. */
export function checkSteps(reading: Reading, sources: Sources, scenario: Scenario): void {
  const { config } = sources;
  const { connections, singleStepDurationMs } = scenario;
  const baseSending = numberIn(config, 'baseSending');
  const basePlace = writtenPlace(reading, config, 'baseSending');
  if (basePlace !== undefined && baseSending > connections) {
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
  const sends = scenario.entries.some(({ name }) => name !== 'connectOnly');
  if (sends && lastSenders(scenario) === 0) {
    reading.report(
      'warning',
      'nothing-sent',
      basePlace ?? stepPlace,
      'No step has a sender, so nothing is sent or measured. Write a baseSending above 0, or use connectOnly.',
    );
  }
  checkIntervals(reading, sources, scenario);
  checkMix(reading, sources, scenario);
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

/** Counts and shares together must fit into the last step. */
function checkMix(reading: Reading, sources: Sources, scenario: Scenario): void {
  const available = lastSenders(scenario);
  let taken = 0;
  let shares = 0;
  for (const read of sources.entries) {
    const senders = read.entry.senders;
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
  const open = sources.entries.filter(({ entry }) => entry.senders === undefined);
  if (sources.entries.length < 2 || open.length === 0 || left >= 0.5) return;
  const message = 'The other entries of the mix take all senders, so this one has none.';
  reading.report('warning', 'mix-sum', entryPlace(reading, sources, open[0]!), message);
}
