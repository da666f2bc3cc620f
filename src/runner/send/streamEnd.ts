import type { StreamShape } from '../../usecases/streams';
import { shownText } from '../../wire/connect/connectFailure';
import type { Completion } from '../../wire/hub/hubMessage';
import type { OpenStream } from './openStream';

/**
 * What is wrong with the completion of a stream; undefined when nothing is.
 *
 * @param isOwing whether items are still due
 */
export function wrongEnd(
  { state, items, wanted, came }: OpenStream,
  { error, result }: Completion,
  { method, direction, own }: StreamShape,
  isOwing: boolean,
): string | undefined {
  // .NET may end a cancelled stream with an error; that of a late one was told.
  if (state === 'cancelled' || state === 'late') return undefined;
  if (typeof error === 'string') return shownText(error);
  if (own !== undefined && direction !== 'upload') {
    // Its items may have come before they were due. The place of a stream that was given up says nothing.
    if (state === 'free' || came >= wanted) return undefined;
    return `${method}: completed after ${came} of ${wanted} items`;
  }
  if (isOwing) return `${method}: completed before its last item`;
  if (own !== undefined || direction !== 'upload' || result === items) return undefined;
  const counted = typeof result === 'number' ? String(result) : 'no number';
  return `${method}: the hub counted ${counted} of ${items} items`;
}
