import { ownStreamParameters } from '../../usecases/ownStreams';
import type { StreamShape } from '../../usecases/streams';
import { missingFix } from './checkGroups';
import { writtenPlace } from '../text/problemPlaces';
import type { ReadEntry } from '../read/readEntries';
import type { Reading } from '../text/scenarioReading';

/**
 * Checks the keys of a stream to or from the user's own method.
 *
 * @param stream undefined when the method has none: what only streams need means nothing
 */
export function checkOwnStream(
  reading: Reading,
  read: ReadEntry,
  stream: StreamShape | undefined,
): void {
  if (stream === undefined) {
    reportUnused(reading, read);
    return;
  }
  const placeOf = (name: string) => writtenPlace(reading, read.parameters, name)!;
  const { direction } = stream;
  if (!read.parameters.written.has('streamingItemCount')) {
    const [key, needs, many] =
      direction === 'download'
        ? ['reply', 'reply: stream needs', 'how many items the method makes for one call']
        : ['streamingItems', 'streamingItems need', 'how many items go up in one stream'];
    const message = `${needs} the parameter streamingItemCount: ${many}.`;
    const fix = missingFix(reading, read, 'streamingItemCount', '10');
    reading.report('error', 'missing-item-count', placeOf(key), message, fix);
  }
  const size = writtenPlace(reading, read.parameters, 'streamingItemSize');
  if (size === undefined || direction === 'download') return;
  const message =
    'streamingItemSize means nothing beside streamingItems, whose size is counted. Remove it.';
  reading.report('warning', 'other-reply', size, message);
}

function reportUnused(reading: Reading, { entry, parameters }: ReadEntry): void {
  const placeOf = (name: string) => writtenPlace(reading, parameters, name);
  const items = placeOf('streamingItems');
  if (items !== undefined) {
    const reply = String(entry.parameters['reply']);
    const message = `streamingItems go up in a stream, which reply: ${reply} does not wait for. Write reply: completion or reply: stream, or remove them.`;
    reading.report('error', 'other-reply', items, message);
    return;
  }
  for (const { name } of ownStreamParameters) {
    const place = placeOf(name);
    if (place === undefined) continue;
    const instead =
      name === 'streamingItemSize' ? 'reply: stream' : 'reply: stream or streamingItems';
    const message = `${name} means nothing without a stream. Remove it, or write ${instead}.`;
    reading.report('warning', 'other-reply', place, message);
  }
}
