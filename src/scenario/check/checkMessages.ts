import { stampBytes } from '../../base/message';
import { formatCount } from '../../base/units';
import { ownArguments, placeholdersIn, type Placeholder } from '../../usecases/ownArguments';
import {
  mostOpenStreams,
  openAtOnce,
  ownStreamParameters,
  type StreamShape,
} from '../../usecases/streams';
import { hubRunOf } from '../../usecases/useCase';
import { needsGroups, smallGroup, suggestedGroups } from '../read/buildScenario';
import type { ReadEntry } from '../read/readEntries';
import { setKey } from '../text/editYaml';
import { nodeAt } from '../text/outline';
import { writing, type Reading, type FixDraft, type Place } from '../text/scenarioReading';
import { entryPlace, writtenPlace, type Checked } from './checked';

/** Checks a call of the user's own hub method: what its keys need of each other. */
export function checkOwnMethod(checked: Checked, read: ReadEntry): void {
  const { reading } = checked;
  const { useCase, entry, parameters } = read;
  const { ownCall: call, streams } = hubRunOf(useCase, entry.parameters);
  if (call === undefined || !read.named) return;
  const report = (names: readonly string[], code: string, message: string): void =>
    reading.report('error', code, entryPlace(checked, read, ...names), message);
  if (!parameters.written.has('method')) {
    const message = `${useCase.name} needs the parameter method: the hub method to call.`;
    const fix = missingFix(reading, read, 'method', useCase.starting?.['method'] ?? '');
    reading.report('error', 'missing-method', entryPlace(checked, read), message, fix);
  }
  if (streams === undefined) reportNoStream(reading, read);
  else checkOwnStream(reading, read, streams);
  const placeholders = placeholdersIn(ownArguments(call.arguments));
  const inItems = placeholdersIn(ownArguments(streams?.own?.items ?? '[]'));
  const calledBack = call.reply === 'callback';
  if (calledBack && call.callback === undefined) {
    const message =
      'reply: callback needs the parameter callback: the client method that the hub calls.';
    report(['reply'], 'missing-callback', message);
  }
  if (!calledBack) reportUnused(reading, read, call.reply);
  const receivers = calledBack ? entry.parameters['receivers'] : 'self';
  for (const [name, value] of [
    ['receiver', 'client'],
    ['group', 'group'],
  ] as const) {
    const isUsed = placeholders.some((placeholder) => placeholder.name === name);
    if (inItems.some((placeholder) => placeholder.name === name)) {
      const message = `Items of a stream have no {${name}}: they go to the method alone. Write a value or another placeholder.`;
      report(['streamingItems'], 'placeholder', message);
    }
    if (isUsed && receivers !== value) {
      const message = `{${name}} needs reply: callback and receivers: ${value}.`;
      report(['arguments'], 'placeholder', message);
    } else if (!isUsed && receivers === value) {
      const message = `receivers: ${value} needs {${name}} in the arguments, so that the hub knows whom to call back.`;
      report(['receivers'], 'missing-placeholder', message);
    }
  }
  const problem = calledBack ? stampProblem(placeholders) : undefined;
  if (problem !== undefined) report(['arguments', 'reply'], 'no-stamp', problem);
}

/** Callbacks are recognised by our stamp, with which the first random text begins. */
function stampProblem(placeholders: readonly Placeholder[]): string | undefined {
  const text = placeholders.find(({ name }) => name === 'text');
  if (text?.name !== 'text') {
    return 'Callbacks are recognised by a text that they bring back: put {text:2KB} into the arguments.';
  }
  return text.bytes < stampBytes
    ? `The first {text:…} carries our stamp, by which callbacks are recognised: it must have at least ${stampBytes} bytes.`
    : undefined;
}

function reportUnused(reading: Reading, { parameters }: ReadEntry, reply: string): void {
  for (const name of ['callback', 'receivers']) {
    const place = writtenPlace(reading, parameters, name);
    if (place === undefined || parameters.values.get(name) === 'self') continue;
    const message = `${name} means nothing with reply: ${reply}. Remove it, or write reply: callback.`;
    reading.report('warning', 'other-reply', place, message);
  }
}

/** Checks the keys of a stream to or from the user's own method. */
function checkOwnStream(reading: Reading, read: ReadEntry, { direction }: StreamShape): void {
  const { parameters } = read;
  const isDownload = direction === 'download';
  if (!parameters.written.has('streamingItemCount')) {
    const place = writtenPlace(reading, parameters, isDownload ? 'reply' : 'streamingItems')!;
    const message = isDownload
      ? 'reply: stream needs the parameter streamingItemCount: how many items the method makes for one call.'
      : 'streamingItems need the parameter streamingItemCount: how many items go up in one stream.';
    const fix = missingFix(reading, read, 'streamingItemCount', '10');
    reading.report('error', 'missing-item-count', place, message, fix);
  }
  const size = writtenPlace(reading, parameters, 'streamingItemSize');
  if (size === undefined || isDownload) return;
  const message =
    'streamingItemSize means nothing beside streamingItems, whose size is counted. Remove it.';
  reading.report('warning', 'other-reply', size, message);
}

/** Keys of streams, where the method has none. */
function reportNoStream(reading: Reading, { entry, parameters }: ReadEntry): void {
  const items = writtenPlace(reading, parameters, 'streamingItems');
  if (items !== undefined) {
    const reply = String(entry.parameters['reply']);
    const message = `streamingItems go up in a stream, which reply: ${reply} does not wait for. Write reply: completion or reply: stream, or remove them.`;
    reading.report('error', 'other-reply', items, message);
    return;
  }
  for (const { name } of ownStreamParameters) {
    const place = writtenPlace(reading, parameters, name);
    if (place === undefined) continue;
    const instead =
      name === 'streamingItemSize' ? 'reply: stream' : 'reply: stream or streamingItems';
    const message = `${name} means nothing without a stream. Remove it, or write ${instead}.`;
    reading.report('warning', 'other-reply', place, message);
  }
}

/** Checks that the streams of one entry can be cancelled as written, and that a connection can hold them. */
export function checkStreams(checked: Checked, read: ReadEntry): void {
  const { reading } = checked;
  const { parameters } = read.entry;
  const stream = read.named ? hubRunOf(read.useCase, parameters).streams : undefined;
  if (stream === undefined) return;
  const cancel = writtenPlace(reading, read.parameters, 'streamingCancelAfter');
  if (cancel !== undefined && stream.direction === 'upload') {
    const instead =
      stream.own === undefined ? 'set streamDirection to both or download' : 'write reply: stream';
    const message = `Nothing comes down in an upload that could be cancelled: remove streamingCancelAfter, or ${instead}.`;
    reading.report('error', 'streams', cancel, message);
    return;
  }
  if (cancel !== undefined && !stream.cancels) {
    const items = formatCount(stream.items);
    const message = `Streams end after ${items} items, before streamingCancelAfter: none is cancelled. Write at most ${items}, or remove it.`;
    reading.report('warning', 'streams', cancel, message);
  }
  const open = openAtOnce(stream, Number(parameters['sendingInterval']));
  if (open <= mostOpenStreams) return;
  const place = entryPlace(checked, read, 'streamingItemSendDelay');
  const message = `Each sender would have ${formatCount(open)} streams open at a time, at most ${mostOpenStreams} are possible. Use fewer items, a shorter streamingItemSendDelay or a longer sendingInterval.`;
  reading.report('error', 'streams', place, message);
}

/** Checks `groupCount` and `groupsPerConnection` of one entry against the number of connections. */
export function checkGroups(checked: Checked, read: ReadEntry): void {
  const { reading, scenario } = checked;
  const { connections } = scenario;
  const { useCase, parameters, entry } = read;
  if (!useCase.parameters.some(({ name }) => name === 'groupCount')) return;
  if (!read.named || !needsGroups(useCase, entry)) return;
  const place = writtenPlace(reading, parameters, 'groupCount');
  const { groupCount: groups, groupsPerConnection } = entry.parameters;
  if (place === undefined) {
    const suggested = suggestedGroups(connections);
    const message = `${useCase.name} needs the parameter groupCount: the number of groups. ${formatCount(suggested)} makes groups of about ${smallGroup}.`;
    const fix = missingFix(reading, read, 'groupCount', String(suggested));
    reading.report('error', 'group-count', entryPlace(checked, read), message, fix);
    return;
  }
  if (typeof groups !== 'number') return;
  if (groups > connections) {
    const most = formatCount(connections);
    const message = `${formatCount(groups)} groups are more than the ${most} connections. Write at most ${most}.`;
    reading.report('error', 'group-count', place, message, writing(String(connections)));
    return;
  }
  if (connections % groups !== 0) reportRest(reading, place, groups, connections);
  if (typeof groupsPerConnection === 'number' && groupsPerConnection > groups) {
    const at = writtenPlace(reading, parameters, 'groupsPerConnection') ?? place;
    const message = `A connection cannot join ${formatCount(groupsPerConnection)} groups when there are ${formatCount(groups)}: each joins all of them.`;
    reading.report('warning', 'group-count', at, message);
  }
}

function reportRest(reading: Reading, place: Place, groups: number, connections: number): void {
  const members = Number((connections / groups).toFixed(1));
  const [nearest, other] = nearestDivisors(connections, groups);
  const size = (count: number): string => formatCount(connections / count);
  const message = `${formatCount(connections)} connections do not divide into ${formatCount(groups)} groups (${formatCount(members, Number.isInteger(members) ? 0 : 1)} members). ${formatCount(nearest)} makes groups of ${size(nearest)}, ${formatCount(other)} groups of ${size(other)}.`;
  reading.report('warning', 'group-count', place, message, writing(String(nearest)));
}

/** The divisors of `total` right below and above `count`, which is none itself; the nearer one first. */
export function nearestDivisors(total: number, count: number): [number, number] {
  let below = count;
  while (total % below !== 0) below -= 1;
  let above = count;
  while (total % above !== 0) above += 1;
  return above - count <= count - below ? [above, below] : [below, above];
}

/** A fix that writes a parameter of an entry of the text. */
function missingFix(
  reading: Reading,
  { section }: ReadEntry,
  name: string,
  value: string,
): FixDraft | undefined {
  const path = section.path.split('.');
  // Pipelines and overrides make entries that do not stand in the text.
  if (nodeAt(reading.outline(), path) === undefined) return undefined;
  const change = setKey(reading.text, reading.outline(), [...path, 'parameters', name], value);
  return change && { title: `Write ${name}: ${value}`, text: change.text, at: change };
}
