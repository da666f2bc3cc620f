/** Checks of one entry of a scenario. */
import { formatCount, formatDurationMs } from '../../base/units';
import { parseArguments, placeholdersIn } from '../../usecases/ownArguments';
import { payloadOf, hubRunOf } from '../../usecases/useCase';
import {
  mostOpenStreams,
  openStreamsNeeded,
  ownStreamParameters,
  type StreamShape,
} from '../../usecases/streams';
import { needsGroups, smallGroup, suggestedGroups, type ScenarioFile } from '../read/buildScenario';
import { checkReply } from '../read/readArguments';
import type { ReadEntry } from '../read/readEntries';
import { nodeAt, setKey } from '../text/outline';
import type { FixDraft } from '../text/scenarioReading';
import { measureProblem } from './notRunnable';
import {
  audienceOfStep,
  listCalls,
  joinsByCalls,
  pausesOf,
  sessionStepsOf,
  usesGroup,
  type SessionStep,
} from '../../usecases/sessionSteps';

export function checkGroups(file: ScenarioFile, read: ReadEntry): void {
  const { error, warning } = file;
  const { connections } = file.scenario;
  const { useCase, parameters, entry } = read;
  if (!useCase.parameters.some(({ name }) => name === 'groupCount')) return;
  if (!needsGroups(useCase, entry)) return;
  const place = parameters.at('groupCount');
  const { groupCount: groups, groupsPerConnection: own } = entry.parameters;
  if (place === undefined) {
    // Sessions have groups of about ten.
    if (hubRunOf(useCase, entry.parameters).session !== undefined) return;
    const suggested = suggestedGroups(connections);
    const message = `${useCase.name} needs the parameter groupCount: the number of groups. ${formatCount(suggested)} makes groups of about ${smallGroup}.`;
    const fix = insertParameterFix(file, read, 'groupCount', String(suggested));
    error('group-count', read.at(), message, fix);
    return;
  }
  if (typeof groups !== 'number') return;
  if (groups > connections) {
    const most = formatCount(connections);
    const message = `${formatCount(groups)} groups are more than the ${most} connections. Write at most ${most}.`;
    error('group-count', place, message, String(connections));
    return;
  }
  if (connections % groups !== 0) {
    const members = Number((connections / groups).toFixed(1));
    const [nearest, other] = nearestDivisors(connections, groups);
    const size = (count: number): string => formatCount(connections / count);
    const message = `${formatCount(connections)} connections do not divide into ${formatCount(groups)} groups (${formatCount(members, Number.isInteger(members) ? 0 : 1)} members). ${formatCount(nearest)} makes groups of ${size(nearest)}, ${formatCount(other)} groups of ${size(other)}.`;
    warning('group-count', place, message, String(nearest));
  }
  if (typeof own !== 'number' || own <= groups) return;
  const message = `A connection cannot join ${formatCount(own)} groups when there are ${formatCount(groups)}: each joins all of them.`;
  warning('group-count', parameters.at('groupsPerConnection', 'groupCount'), message);
}

/** The divisors of `total` next to `count`, which is none itself; the nearer one first. */
export function nearestDivisors(total: number, count: number): [number, number] {
  let below = count;
  while (total % below !== 0) below -= 1;
  let above = count;
  while (total % above !== 0) above += 1;
  return above - count <= count - below ? [above, below] : [below, above];
}

export function insertParameterFix(
  { text, outline }: ScenarioFile,
  { section }: ReadEntry,
  name: string,
  value: string,
): FixDraft | undefined {
  const path = section.path.split('.');
  // Pipelines and overrides make entries that do not stand in the text.
  if (nodeAt(outline(), path) === undefined) return undefined;
  const change = setKey(text, outline(), [...path, 'parameters', name], value);
  return change && { title: `Write ${name}: ${value}`, text: change.text, at: change };
}

export function checkOwnMethod(file: ScenarioFile, read: ReadEntry): void {
  const { error } = file;
  const { useCase, entry, parameters } = read;
  const { ownCall: call, streams } = hubRunOf(useCase, entry.parameters);
  if (call === undefined) return;
  if (!parameters.written.has('method')) {
    const message = `${useCase.name} needs the parameter method: the hub method to call.`;
    const fix = insertParameterFix(file, read, 'method', useCase.starting?.['method'] ?? '');
    error('missing-method', read.at(), message, fix);
  }
  checkOwnStream(file, read, streams);
  const placeholders = placeholdersIn(parseArguments(call.arguments));
  const inItems = placeholdersIn(parseArguments(streams?.own?.items ?? '[]'));
  for (const name of ['receiver', 'group']) {
    if (!inItems.some((placeholder) => placeholder.name === name)) continue;
    const message = `Items of a stream have no {${name}}: they go to the method alone. Write a value or another placeholder.`;
    error('placeholder', read.at('streamingItems'), message);
  }
  checkReply(file, parameters, placeholders, false);
}

function checkOwnStream(
  file: ScenarioFile,
  read: ReadEntry,
  stream: StreamShape | undefined,
): void {
  const { error, warning } = file;
  const { entry, parameters } = read;
  const items = parameters.at('streamingItems');
  if (stream === undefined && items !== undefined) {
    const reply = String(entry.parameters['reply']);
    const message = `streamingItems go up in a stream, which reply: ${reply} does not wait for. Write reply: completion or reply: stream, or remove them.`;
    error('other-reply', items, message);
  } else if (stream === undefined) {
    for (const { name } of ownStreamParameters) {
      const or = name === 'streamingItemSize' ? '' : ' or streamingItems';
      const message = `${name} means nothing without a stream. Remove it, or write reply: stream${or}.`;
      warning('other-reply', parameters.at(name), message);
    }
  } else {
    const isDownload = stream.direction === 'download';
    if (!parameters.written.has('streamingItemCount')) {
      const message = isDownload
        ? 'reply: stream needs the parameter streamingItemCount: how many items the method makes for one call.'
        : 'streamingItems need the parameter streamingItemCount: how many items go up in one stream.';
      const fix = insertParameterFix(file, read, 'streamingItemCount', '10');
      error('missing-item-count', isDownload ? parameters.at('reply') : items, message, fix);
    }
    const message =
      'streamingItemSize means nothing beside streamingItems, whose size is counted. Remove it.';
    if (!isDownload) warning('other-reply', parameters.at('streamingItemSize'), message);
  }
}

export function checkStreams({ error, warning }: ScenarioFile, read: ReadEntry): void {
  const { parameters } = read.entry;
  const stream = hubRunOf(read.useCase, parameters).streams;
  if (stream === undefined) return;
  const cancel = read.parameters.at('streamingCancelAfter');
  if (cancel !== undefined && stream.direction === 'upload') {
    const instead =
      stream.own === undefined ? 'set streamDirection to both or download' : 'write reply: stream';
    const message = `An upload has nothing to cancel: remove streamingCancelAfter, or ${instead}.`;
    error('streams', cancel, message);
    return;
  }
  if (!stream.cancels) {
    const items = formatCount(stream.items);
    const message = `Streams end after ${items} items, before streamingCancelAfter: none is cancelled. Write at most ${items}, or remove it.`;
    warning('streams', cancel, message);
  }
  const open = openStreamsNeeded(stream, Number(parameters['sendingInterval']));
  if (open <= mostOpenStreams) return;
  const message = `Each sender would have ${formatCount(open)} streams open at a time, at most ${mostOpenStreams} are possible. Use fewer items, a shorter streamingItemSendDelay or a longer sendingInterval.`;
  error('streams', read.at('streamingItemSendDelay'), message);
}

export function checkDialect({ error, scenario }: ScenarioFile, read: ReadEntry): void {
  if (scenario.dialect !== 'measure') return;
  const { name, parameters } = read.entry;
  const problem = measureProblem({
    name,
    run: hubRunOf(read.useCase, parameters),
    payload: { sizes: payloadOf(parameters).sizes, content: parameters['payload'] },
  });
  if (problem === undefined) return;
  const { parameter } = problem;
  const severalSizes = parameter === 'messageSize' && 'messageSizes' in parameters;
  const names = severalSizes ? ['messageSizes'] : parameter === undefined ? [] : [parameter];
  error('dialect', read.at(...names), problem.message);
}

export function checkSession(file: ScenarioFile, read: ReadEntry): void {
  const { useCase, entry, parameters } = read;
  const { session } = hubRunOf(useCase, entry.parameters);
  if (session === undefined) return;
  const moving = file.entries.find(
    (other) => hubRunOf(other.useCase, other.entry.parameters).othersMove === true,
  );
  if (session.joins && moving !== undefined) {
    const message = `Calls of the session join groups, which cannot run beside ${moving.useCase.name}: run them one after the other.`;
    file.error('mix-groups', read.at('steps'), message);
  }
  const missing: Readonly<Record<string, string>> = session.replays
    ? { recording: 'a file that record has written' }
    : {
        sessionInterval: 'how often each sender begins a session',
        steps: 'what one user does, step after step',
      };
  for (const [name, words] of Object.entries(missing)) {
    if (parameters.written.has(name)) continue;
    const message = `${useCase.name} needs the parameter ${name}: ${words}.`;
    const fix = insertParameterFix(file, read, name, useCase.starting![name]!);
    file.error('missing-key', read.at(), message, fix);
  }
  if (session.replays) return;
  const steps = sessionStepsOf(entry.parameters);
  checkReceivers(file, read, steps);
  checkShared(file, read, steps);
  reportShortStay(file, read, steps);
  reportRise(file, read);
}

function checkReceivers(
  { error, config, scenario: { connections } }: ScenarioFile,
  { at }: ReadEntry,
  steps: readonly SessionStep[],
): void {
  const audiences = listCalls(steps).map(({ step }) => audienceOfStep(step));
  if (audiences.includes('everyone') && usesGroup(steps)) {
    const message =
      'A session whose calls reach everyone has no {group}: write the calls with a group, and those to everyone, as two sessions of a mix.';
    error('receivers', at('steps'), message);
  }
  if (!audiences.includes('client') || connections > 1) return;
  const message =
    'A call of the session goes to another connection, and there is only one. Write at least 2 connections.';
  error('nothing-sent', config.at('connections') ?? at('steps'), message, '2');
}

function checkShared(
  { error, info, entries }: ScenarioFile,
  { at, entry }: ReadEntry,
  steps: readonly SessionStep[],
): void {
  const { sharedGroups: name, groupCount } = entry.parameters;
  if (name === undefined) return;
  const place = at('sharedGroups');
  const sharing = entries.filter((other) => other.entry.parameters['sharedGroups'] === name);
  const [{ entry: first }] = sharing as [ReadEntry];
  const { groupCount: wanted } = first.parameters;
  if (!usesGroup(steps)) {
    const message =
      'sharedGroups means nothing in a session without groups: put {group} into the arguments of its calls, or remove it.';
    error('missing-placeholder', place, message);
  } else if (groupCount !== wanted) {
    const such = wanted === undefined ? '' : `, such as ${wanted}`;
    const message = `Sessions that share groups have as many of them: write the same groupCount in all of them${such}.`;
    error('group-count', at('groupCount', 'sharedGroups'), message);
  }
  if (first !== entry) return;
  if (sharing.length === 1)
    info('no-effect', place, 'No other session shares these groups. Write the same name there.');
  if (sharing.some((other) => joinsByCalls(sessionStepsOf(other.entry.parameters)))) return;
  const message =
    'Nobody is in these groups: shared groups have the members that join by a call. Write a step with group: join in one of the sessions, or remove sharedGroups, and all connections are in the groups of each session.';
  error('nobody-joins', place, message);
}

function reportShortStay({ info }: ScenarioFile, { at }: ReadEntry, steps: readonly SessionStep[]) {
  if (!listCalls(steps).some(({ step }) => audienceOfStep(step) === 'group')) return;
  const change = (step: SessionStep): string => (step.kind === 'call' ? step.group : 'none');
  const joins = steps.findIndex((step) => change(step) === 'join');
  const leaves = steps.findIndex((step, index) => index > joins && change(step) === 'leave');
  if (joins < 0 || leaves < 0 || pausesOf(steps.slice(joins, leaves)) > 0) return;
  const message =
    'The session leaves its group without a pause, so it is not known who gets what is sent to the group meanwhile: it counts as leaving, not as expected. Write a wait before the call that leaves.';
  info('short-stay', at('steps'), message);
}

/** Only for the entry with the longest interval. */
function reportRise(
  { info, config, entries, scenario }: ScenarioFile,
  { entry, parameters }: ReadEntry,
): void {
  const { warmupMs, singleStepDurationMs } = scenario;
  const intervalOf = (one: ReadEntry['entry']): number =>
    Number(one.parameters['sessionInterval'] ?? 0);
  const intervalMs = intervalOf(entry);
  const longest = entries.map((read) => read.entry).sort((a, b) => intervalOf(b) - intervalOf(a));
  if (warmupMs >= intervalMs || intervalMs > singleStepDurationMs || longest[0] !== entry) return;
  const [interval, warmup] = [formatDurationMs(intervalMs), formatDurationMs(warmupMs)];
  const rise =
    warmupMs === 0
      ? 'and the load is measured while it rises'
      : `of which only the first ${warmup} are warm-up`;
  const message = `Senders begin their sessions one after the other within ${interval}, ${rise}. With warmup: ${interval} the whole load is there when measuring begins.`;
  info('rising-load', config.at('warmup') ?? parameters.at('sessionInterval'), message);
}
