import { shownText } from '../wire/connectFailure';
import type { Completion } from '../wire/hubMessage';
import type { OpenStream } from './openStream';

/** What is wrong with the completion of a stream; undefined when nothing is. */
export function wrongEnd(
  { state, items }: OpenStream,
  { error, result }: Completion,
  method: string,
  { counts, early }: { readonly counts: boolean; readonly early: boolean },
): string | undefined {
  // .NET may end a cancelled stream with an error.
  if (state === 'cancelled') return undefined;
  if (typeof error === 'string') return shownText(error);
  if (early) return `${method}: completed before its last item`;
  if (!counts || result === items) return undefined;
  const counted = typeof result === 'number' ? String(result) : 'no number';
  return `${method}: the hub counted ${counted} of ${items} items`;
}
