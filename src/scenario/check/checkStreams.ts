import { formatCount } from '../../base/units';
import { mostOpenStreams, openAtOnce } from '../../usecases/streams';
import { hubRunOf } from '../../usecases/useCase';
import { entryPlace, writtenPlace, type Sources } from '../text/problemPlaces';
import type { ReadEntry } from '../read/readEntries';
import type { Reading } from '../text/scenarioReading';

/** Checks that the streams of one entry can be cancelled as written, and that a connection can hold them. */
export function checkStreams(reading: Reading, sources: Sources, read: ReadEntry): void {
  const { parameters } = read.entry;
  const stream = read.named ? hubRunOf(read.useCase, parameters).streams : undefined;
  if (stream === undefined) return;
  const cancel = writtenPlace(reading, read.parameters, 'streamingCancelAfter');
  if (cancel !== undefined && stream.direction === 'upload') {
    const instead =
      stream.own === undefined ? 'set streamDirection to both or download' : 'write reply: stream';
    reading.report(
      'error',
      'streams',
      cancel,
      `Nothing comes down in an upload that could be cancelled: remove streamingCancelAfter, or ${instead}.`,
    );
    return;
  }
  const { items, cancels } = stream;
  if (cancel !== undefined && !cancels) {
    const message = `Streams end after ${formatCount(items)} items, before streamingCancelAfter: none is cancelled. Write at most ${formatCount(items)}, or remove it.`;
    reading.report('warning', 'streams', cancel, message);
  }
  const open = openAtOnce(stream, Number(parameters['sendingInterval']));
  if (open <= mostOpenStreams) return;
  reading.report(
    'error',
    'streams',
    writtenPlace(reading, read.parameters, 'streamingItemSendDelay') ??
      entryPlace(reading, sources, read),
    `Each sender would have ${formatCount(open)} streams open at a time, at most ${mostOpenStreams} are possible. Use fewer items, a shorter streamingItemSendDelay or a longer sendingInterval.`,
  );
}
