/** Checks of one entry: its groups, the call of the user's own method, its streams, and its dialect. */
import { formatCount } from '../../base/units';
import { ownArguments, placeholdersIn } from '../../usecases/ownArguments';
import { payloadOf } from '../../usecases/entryPayload';
import {
  mostOpenStreams,
  openAtOnce,
  ownStreamParameters,
  type StreamShape,
} from '../../usecases/streams';
import { hubRunOf } from '../../usecases/useCase';
import { needsGroups, smallGroup, suggestedGroups, type ScenarioFile } from '../read/buildScenario';
import { checkReply } from '../read/readArguments';
import type { ReadEntry } from '../read/readEntries';
import { nodeAt } from '../text/outline';
import { setKey } from '../text/editYaml';
import type { FixDraft, Place } from '../text/scenarioReading';
import { measureProblem } from './notRunnable';

/** Checks `groupCount` and `groupsPerConnection` of one entry against the number of connections. */
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
    const fix = missingFix(file, read, 'groupCount', String(suggested));
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
  if (connections % groups !== 0) reportRest(file, place, groups);
  if (typeof own !== 'number' || own <= groups) return;
  const message = `A connection cannot join ${formatCount(own)} groups when there are ${formatCount(groups)}: each joins all of them.`;
  warning('group-count', parameters.at('groupsPerConnection', 'groupCount'), message);
}

function reportRest({ warning, scenario }: ScenarioFile, place: Place, groups: number): void {
  const { connections } = scenario;
  const members = Number((connections / groups).toFixed(1));
  const [nearest, other] = nearestDivisors(connections, groups);
  const size = (count: number): string => formatCount(connections / count);
  const message = `${formatCount(connections)} connections do not divide into ${formatCount(groups)} groups (${formatCount(members, Number.isInteger(members) ? 0 : 1)} members). ${formatCount(nearest)} makes groups of ${size(nearest)}, ${formatCount(other)} groups of ${size(other)}.`;
  warning('group-count', place, message, String(nearest));
}

/** The divisors of `total` right below and above `count`, which is none itself; the nearer one first. */
export function nearestDivisors(total: number, count: number): [number, number] {
  let below = count;
  while (total % below !== 0) below -= 1;
  let above = count;
  while (total % above !== 0) above += 1;
  return above - count <= count - below ? [above, below] : [below, above];
}

export function missingFix(
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
    const fix = missingFix(file, read, 'method', useCase.starting?.['method'] ?? '');
    error('missing-method', read.at(), message, fix);
  }
  if (streams === undefined) reportNoStream(file, read);
  else checkOwnStream(file, read, streams);
  const placeholders = placeholdersIn(ownArguments(call.arguments));
  const inItems = placeholdersIn(ownArguments(streams?.own?.items ?? '[]'));
  for (const name of ['receiver', 'group']) {
    if (!inItems.some((placeholder) => placeholder.name === name)) continue;
    const message = `Items of a stream have no {${name}}: they go to the method alone. Write a value or another placeholder.`;
    error('placeholder', read.at('streamingItems'), message);
  }
  checkReply(file, parameters, placeholders, false);
}

function checkOwnStream(file: ScenarioFile, read: ReadEntry, { direction }: StreamShape): void {
  const { parameters } = read;
  const isDownload = direction === 'download';
  if (!parameters.written.has('streamingItemCount')) {
    const message = isDownload
      ? 'reply: stream needs the parameter streamingItemCount: how many items the method makes for one call.'
      : 'streamingItems need the parameter streamingItemCount: how many items go up in one stream.';
    const place = parameters.at(isDownload ? 'reply' : 'streamingItems');
    const fix = missingFix(file, read, 'streamingItemCount', '10');
    file.error('missing-item-count', place, message, fix);
  }
  const message =
    'streamingItemSize means nothing beside streamingItems, whose size is counted. Remove it.';
  if (!isDownload) file.warning('other-reply', parameters.at('streamingItemSize'), message);
}

/** Keys of streams, where the method has none. */
function reportNoStream({ error, warning }: ScenarioFile, { entry, parameters }: ReadEntry): void {
  const items = parameters.at('streamingItems');
  if (items !== undefined) {
    const reply = String(entry.parameters['reply']);
    const message = `streamingItems go up in a stream, which reply: ${reply} does not wait for. Write reply: completion or reply: stream, or remove them.`;
    error('other-reply', items, message);
    return;
  }
  for (const { name } of ownStreamParameters) {
    const instead =
      name === 'streamingItemSize' ? 'reply: stream' : 'reply: stream or streamingItems';
    const message = `${name} means nothing without a stream. Remove it, or write ${instead}.`;
    warning('other-reply', parameters.at(name), message);
  }
}

/** Checks that the streams of one entry can be cancelled as written, and that a connection can hold them. */
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
  const open = openAtOnce(stream, Number(parameters['sendingInterval']));
  if (open <= mostOpenStreams) return;
  const message = `Each sender would have ${formatCount(open)} streams open at a time, at most ${mostOpenStreams} are possible. Use fewer items, a shorter streamingItemSendDelay or a longer sendingInterval.`;
  error('streams', read.at('streamingItemSendDelay'), message);
}

/** Reports what the dialect measure has no room for, where the file asks for that dialect. */
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
