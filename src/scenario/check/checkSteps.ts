/** Checks of steps, stages, search, connections and objectives. */
import {
  countToShowPercentile,
  minValuesBeyond,
  canShowPercentile,
  byShare,
  isPercentile,
  latencyMetrics,
  percentileShare,
  type Percentile,
} from '../../base/objectives/percentile';
import { closeMarginUs } from '../../base/message';
import { isTimeToAll } from '../../base/objectives/times';
import { rulesFromSlo } from '../../base/slo';
import { formatCount, formatDurationMs, formatRate } from '../../base/units';
import { intervalMsOf } from '../../usecases/parameters';
import { findUseCase } from '../../usecases/registry';
import { deliveriesPerMessage, hubRunOf } from '../../usecases/useCase';
import type { ScenarioFile } from '../read/buildScenario';
import { numberIn } from '../read/readSection';
import type { Scenario, SearchSpec } from '../scenario';
import {
  sendsNothing,
  lastStepSenders,
  maximumSteps,
  meanShareOfPeak,
  peakSenders,
  repeatCount,
  connectRounds,
  stepCount,
  stepsOf,
  type StepSenders,
  singleMessageSize,
} from '../steps';
import type { SearchKind } from '../../base/searchSummary';

const longRunMs = 24 * 3_600_000;
/** With mean lives below this, connections do not send for more than a sixth of the time. */
const shortLifeMs = 5000;

export function checkSteps(file: ScenarioFile): void {
  if (connectRounds(file.scenario) === undefined) checkSenders(file);
  else
    for (const name of ['baseSending', 'step', 'sendingSteps']) {
      const message = `Nothing is sent here, so ${name} has no effect; the parameter rounds opens the connections in several steps.`;
      file.info('no-effect', file.config.at(name), message);
    }
  checkLength(file);
  checkCompany(file);
  checkIntervals(file);
  checkMix(file);
}

const stepKeys = ['step', 'baseSending', 'connections'];
const lengthKeys = [...stepKeys, 'repeat'];

function checkSenders({ error, warning, at, config, entries, scenario }: ScenarioFile): void {
  const { connections, stages } = scenario;
  const senders = numberIn(config, 'baseSending')!;
  if (senders > connections) {
    const message = `${formatCount(senders)} senders are more than the ${formatCount(connections)} connections, so all connections send from the first step on.`;
    warning('base-sending', config.at('baseSending'), message, String(connections));
  }
  if (lastStepSenders(scenario) === 0 && stages === undefined) {
    const message =
      'No step has a sender, so nothing is sent or measured. Write a baseSending above 0, or use connectOnly.';
    error('nothing-sent', at('baseSending', ...stepKeys), message);
  }
  if (entries.length < 2) return;
  for (const { useCase, at: entryAt } of entries.filter(({ entry }) => sendsNothing(entry))) {
    const message = `${useCase.name} sends nothing, so it adds nothing to a mix: all connections are opened anyway. Remove it.`;
    warning('no-effect', entryAt(), message);
  }
}

function checkLength({ error, warning, info, at, config, scenario }: ScenarioFile): void {
  const { repeat = 1, search, singleStepDurationMs: stepMs, dropAllAfterMs = 0 } = scenario;
  if (dropAllAfterMs >= stepMs) {
    const message = `A step is over after ${formatDurationMs(stepMs)}, before its connections would be dropped. Write a shorter dropAllAfter, or a longer singleStepDuration.`;
    error('drop-all', config.at('dropAllAfter'), message);
  }
  const repeats = repeatCount(scenario);
  if (repeat !== repeats) {
    const message =
      search === undefined
        ? 'Nothing is sent here, so repeat has no effect; the parameter rounds connects several times.'
        : 'A capacity search tries values again by itself, so repeat has no effect.';
    info('no-effect', config.at('repeat'), message);
  }
  // A search takes as long as its budget.
  if (search !== undefined) return;
  const steps = stepCount(scenario) * repeats;
  const fewer = 'Make step larger, or limit the steps with sendingSteps';
  const shorter = repeats > 1 ? `${fewer}, or lower repeat.` : `${fewer}.`;
  if (steps > maximumSteps) {
    const message = `These are ${formatCount(steps)} steps; at most ${formatCount(maximumSteps)} can run. ${shorter}`;
    error('too-many-steps', at(...lengthKeys), message);
  } else if (steps * stepMs > longRunMs) {
    const message = `These are ${formatCount(steps)} steps of ${formatDurationMs(stepMs)}: the run takes ${formatDurationMs(steps * stepMs)}. ${shorter}`;
    warning('long-run', at(...lengthKeys), message);
  }
}

function checkCompany({ error, config, entries, scenario }: ScenarioFile): void {
  const alone = entries.find(
    ({ useCase, entry }) => hubRunOf(useCase, entry.parameters).audience === 'client',
  );
  if (scenario.connections > 1 || alone === undefined) return;
  const message = `${alone.useCase.name} sends to another connection, and there is only one: nothing would be sent. Write at least 2 connections.`;
  error('nothing-sent', config.at('connections') ?? alone.at(), message, '2');
}

function checkIntervals({ warning, config, entries, scenario }: ScenarioFile): void {
  const stepMs = scenario.singleStepDurationMs;
  for (const { entry, parameters, at } of entries) {
    const interval = intervalMsOf(entry.parameters);
    if (interval <= stepMs) continue;
    const does = 'sessionInterval' in entry.parameters ? 'begins a session' : 'sends';
    const message = `A sender ${does} every ${formatDurationMs(interval)}, but a step lasts ${formatDurationMs(stepMs)}: some senders never send in it.`;
    const written = parameters.at('sendingInterval', 'sessionInterval');
    warning('nothing-sent', written ?? config.at('singleStepDuration') ?? at(), message);
  }
}

function checkMix({ error, warning, entries, scenario }: ScenarioFile): void {
  const available = lastStepSenders(scenario);
  let taken = 0;
  let shares = 0;
  for (const { entry, section, at } of entries) {
    const senders = sendsNothing(entry) ? undefined : entry.senders;
    if (senders?.kind === 'count') taken += senders.count;
    if (senders?.kind === 'share') shares += senders.share;
    // Sums of shares such as 10 % + 20 % + 70 % may miss 100 % by a rounding error.
    const sum = taken + shares * available;
    if (senders === undefined || (sum <= available + 1e-6 && shares <= 1 + 1e-9)) continue;
    const message =
      taken === 0
        ? `The shares of the mix are more than 100 % (${Number((shares * 100).toFixed(1))} % up to here). Lower them.`
        : `The mix has more senders than the last step: ${formatCount(Math.ceil(sum - 1e-6))} up to here, but it has ${formatCount(available)}. Lower them, or raise connections.`;
    error('mix-sum', section.at('senders') ?? at(), message);
    return;
  }
  const left = available - taken - shares * available;
  const open = entries.find(({ entry }) => entry.senders === undefined && !sendsNothing(entry));
  if (entries.length < 2 || open === undefined || left >= 0.5) return;
  const message = 'The other entries of the mix take all senders, so this one has none.';
  warning('mix-sum', open.at(), message);
}

export function checkLives({ warning, config, entries, scenario }: ScenarioFile): void {
  const { lifetimeMs, connections } = scenario;
  if (lifetimeMs !== undefined && lifetimeMs < shortLifeMs) {
    const leavingMs = closeMarginUs / 1000;
    const share = Math.round((100 * leavingMs) / (lifetimeMs + leavingMs));
    const message = `Connections do not send in the last ${formatDurationMs(leavingMs)} before they are closed: with a mean life of ${formatDurationMs(lifetimeMs)} that is ${share} % of the time. Write a longer lifetime.`;
    warning('short-life', config.at('lifetime'), message);
  }
  const moving = entries.find(
    ({ useCase, entry }) => hubRunOf(useCase, entry.parameters).othersMove === true,
  );
  const last = stepsOf(scenario).at(-1)?.perEntry ?? [];
  if (last.reduce((sum, count) => sum + count, 0) < connections) return;
  const message = `In the last step all ${formatCount(connections)} connections send, so nobody moves in and out of groups. Limit the steps with sendingSteps, or raise connections.`;
  warning('nobody-moves', moving?.at(), message);
}

export function checkSlo(file: ScenarioFile): void {
  if (file.scenario.kind === 'resultparser') return;
  checkTails(file);
  checkAborting(file);
  checkRate(file);
  checkToAll(file);
}

function checkToAll({ warning, config, slo, entries, scenario }: ScenarioFile): void {
  const hasMany = entries.some(({ useCase, entry }) => {
    const { audience, session } = hubRunOf(useCase, entry.parameters);
    return session === undefined && ['everyone', 'group'].includes(audience);
  });
  if (hasMany) return;
  const asked = rulesFromSlo(scenario.slo).find(({ metric }) => isTimeToAll(metric));
  const place =
    scenario.timeToAll === true ? config.at('timeToAll') : asked && slo.at(asked.metric);
  const inSessions = entries.some(({ entry }) => 'steps' in entry.parameters);
  const nothing = inSessions
    ? 'Of calls of sessions the time to all is not measured, and nothing else'
    : 'Nothing';
  const message = `${nothing} here goes to everyone or to a group, so there is no last receiver whose time could be measured. Remove it.`;
  if (place !== undefined) warning('no-effect', place, message);
}

function checkAborting({ warning, slo, scenario }: ScenarioFile): void {
  for (const { metric, afterMs = 0 } of rulesFromSlo(scenario.slo)) {
    if (afterMs < scenario.singleStepDurationMs) continue;
    const message = `A step is over after ${formatDurationMs(scenario.singleStepDurationMs)}, so ${metric} never ends one: it may do so after ${formatDurationMs(afterMs)} only. Write a shorter after.`;
    warning('no-effect', slo.at(metric), message);
  }
}

function checkRate({ warning, slo, scenario }: ScenarioFile): void {
  // A search finds its steps in the run.
  if (scenario.search !== undefined) return;
  const perSecond = (expected: number): number => (expected * 1000) / scenario.singleStepDurationMs;
  const steps = stepsOf(scenario);
  for (const { metric, limit, step } of rulesFromSlo(scenario.slo)) {
    if (metric !== 'rate') continue;
    const [first, last] = [steps[0], steps.at(-1)].map((one) =>
      one === undefined ? 0 : perSecond(deliveriesOfStep(scenario, one)),
    ) as [number, number];
    if (last === 0) continue;
    const [which, offered, cure] =
      last < limit
        ? [`step ${steps.length}`, last, 'Lower the rate, or send more.']
        : step === 'last' || first >= limit
          ? []
          : ['step 1', first, 'Every step is judged: write step: last beside the limit.'];
    if (which === undefined) continue;
    const message = `The rate of ${formatRate(limit)} cannot be reached in ${which}, which expects ${formatRate(Math.floor(offered! * 10) / 10)}. ${cure}`;
    warning('rate-out-of-reach', slo.at(metric), message);
  }
}

/** The default p99 is judged over however few there are, as the guides do. */
const isTail = (metric: Percentile): boolean => metric !== 'max' && percentileShare(metric) > 0.99;

/** Step 1 has the fewest deliveries. */
function checkTails({ warning, at, slo, scenario }: ScenarioFile): void {
  const expected = deliveriesOfFirstStep(scenario);
  if (expected === 0) return;
  const written = Object.keys(scenario.slo.latencyUs).filter(isPercentile).sort(byShare);
  for (const metric of written.filter(isTail)) {
    const share = percentileShare(metric);
    if (canShowPercentile(expected, share)) continue;
    const finest = latencyMetrics
      .filter((one) => one !== 'max' && canShowPercentile(expected, percentileShare(one)))
      .at(-1);
    const enough =
      finest === undefined ? 'That is too few for any percentile' : `It has enough for ${finest}`;
    const message = `Too few messages for ${metric}: it takes ${formatCount(countToShowPercentile(share))} deliveries, so that ${minValuesBeyond} lie beyond it, and step 1 expects ${formatCount(expected)}. ${enough}: let the step last longer, or send more.`;
    warning('objective-too-fine', slo.at(metric) ?? at('latencyPercentage'), message);
  }
}

function deliveriesOfFirstStep(scenario: Scenario): number {
  const [first] = stepsOf(scenario);
  return first === undefined ? 0 : deliveriesOfStep(scenario, first);
}

function deliveriesOfStep(scenario: Scenario, { perEntry }: StepSenders): number {
  const { connections, entries, singleStepDurationMs } = scenario;
  const deliveries = entries.map(({ name, parameters }, position) => {
    const senders = perEntry[position] ?? 0;
    const interval = intervalMsOf(parameters);
    const useCase = findUseCase(name);
    if (senders === 0 || interval === 0 || useCase === undefined) return 0;
    const sendings = (senders * singleStepDurationMs) / Math.max(1, interval);
    return sendings * deliveriesPerMessage(useCase, parameters, { connections });
  });
  return Math.floor(
    meanShareOfPeak(scenario.stages) * deliveries.reduce((sum, each) => sum + each, 0),
  );
}

export function checkStages(file: ScenarioFile): void {
  const { error, warning, config, scenario } = file;
  const { stages, connections, pacing, arrivals } = scenario;
  if (pacing === 'closed' && arrivals !== undefined && arrivals !== 'even') {
    const message =
      'With closed pacing a message leaves an interval after the one before, so arrivals has no effect. Write pacing: open, or an intervalDistribution.';
    warning('no-effect', config.at('arrivals'), message);
  }
  if (stages === undefined) return;
  const at = config.at('stages') ?? { offset: 0, length: 0 };
  if (connectRounds(scenario) !== undefined) {
    warning('no-effect', at, 'Nothing is sent here, so stages has no effect. Remove it.');
    return;
  }
  if (scenario.search !== undefined) {
    const message =
      'A search decides by itself how many send, so it cannot have stages. Remove one of them.';
    error('stages', at, message);
  }
  const peak = peakSenders(stages);
  if (peak > connections) {
    const message = `The stages go up to ${formatCount(peak)} senders, and there are ${formatCount(connections)} connections. Lower them, or raise connections.`;
    error('stages', at, message);
  } else if (peak === 0) {
    error('nothing-sent', at, 'No stage has a sender, so nothing is sent or measured.');
  }
  for (const name of ['step', 'sendingSteps', 'singleStepDuration']) {
    if (!config.written.has(name)) continue;
    const message = `The stages are the only step of the run, so ${name} has no effect. Remove it.`;
    warning('no-effect', config.written.get(name)?.key, message);
  }
}

const mostConnections = 1_000_000;

const highest: Readonly<Record<SearchKind, number>> = {
  senders: mostConnections,
  connections: mostConnections,
  rate: 1_000_000_000,
  messageSize: 16 * 1024 * 1024,
};

export function checkSearch(file: ScenarioFile): void {
  const { search: spec } = file.scenario;
  if (spec === undefined) return;
  if (checkKind(file, spec)) checkRange(file, spec);
}

function checkKind({ error, search, top, scenario }: ScenarioFile, { of }: SearchSpec): boolean {
  const problem = kindProblem(scenario, of);
  if (problem === undefined) return true;
  error('search-of', search.at('of') ?? top.at('search') ?? { offset: 0, length: 0 }, problem);
  return false;
}

function kindProblem(scenario: ScenarioFile['scenario'], of: SearchKind): string | undefined {
  if (connectRounds(scenario) !== undefined && of !== 'connections')
    return `Nothing is sent here, so there is no limit of ${of} to find. Write of: connections.`;
  if (of === 'rate' && scenario.pacing === 'closed')
    return 'With closed pacing the server sets the rate, so it cannot be searched. Write of: senders, or pacing: open.';
  if (of === 'messageSize' && singleMessageSize(scenario) === undefined)
    return 'No entry has a messageSize of its own that could be varied. Write one instead of messageSizes, payloadFile or arguments.';
  return undefined;
}

function checkRange({ error, search, top, scenario }: ScenarioFile, spec: SearchSpec): void {
  const { of, from, to } = spec;
  const at = search.at('to', 'from', 'of') ?? top.at('search') ?? { offset: 0, length: 0 };
  if (of === 'senders' && to > scenario.connections) {
    const count = formatCount(scenario.connections);
    const message = `There are ${count} connections, so at most ${count} can send: to cannot be ${formatCount(to)}. Raise connections.`;
    error(
      'search-range',
      at,
      message,
      search.written.has('to') ? String(scenario.connections) : undefined,
    );
  } else if (to > highest[of]) {
    error('search-range', at, `to is at most ${formatCount(highest[of])} for ${of}.`);
  } else if (from > to) {
    const message = `from is ${formatCount(from)}, above to, which is ${formatCount(to)}: there is nothing to search.`;
    error('search-range', search.at('from') ?? at, message);
  }
}
