import { argumentBytes, ownArguments } from './ownArguments';
import type { Parameters, ParameterSpec } from './parameterSpec';
import { streamNumbers, streamParameters, type StreamDirection, type StreamShape } from './streams';

/** Where nothing is said: as large as the messages of the other use cases. */
const usualItemBytes = 2048;

/** What means something only where the method takes or makes a stream. */
export const ownStreamParameters: readonly ParameterSpec[] = [
  {
    name: 'streamingItems',
    type: 'list',
    optional: true,
    summary:
      'Items that go up in a stream to the method, as a list that is sent in turn, with the placeholders of `arguments`. With reply: stream each brings one back; with reply: completion the answer is the delivery.',
  },
  streamParameters.streamingItemCount,
  streamParameters.streamingItemSendDelay,
  streamParameters.streamingCancelAfter,
  {
    name: 'streamingItemSize',
    type: 'size',
    optional: true,
    minimum: 1,
    maximum: 16 * 1024 * 1024,
    summary: 'Size of the items that the method makes, for the estimate; 2 KB without this key.',
  },
];

/** The stream that a call of the user's own method opens; undefined when it opens none. */
export function ownStreamOf(parameters: Parameters): StreamShape | undefined {
  const direction = directionOf(parameters);
  if (direction === undefined) return undefined;
  return {
    method: String(parameters['method']),
    direction,
    ...streamNumbers(parameters),
    own: {
      arguments: String(parameters['arguments'] ?? '[]'),
      items: String(parameters['streamingItems'] ?? '[]'),
    },
  };
}

function directionOf(parameters: Parameters): StreamDirection | undefined {
  const goesUp = parameters['streamingItems'] !== undefined;
  const { reply = 'completion' } = parameters;
  if (reply === 'stream') return goesUp ? 'both' : 'download';
  return reply === 'completion' && goesUp ? 'upload' : undefined;
}

/**
 * Bytes that one item counts as, whichever way it goes, as JSON. What goes up carries its part of the call's
 * arguments; what the hub makes has the size that is said of it, or that of the arguments where they are
 * larger: the tables know one size for both ways.
 */
export function itemBytes(
  { direction, items, own }: StreamShape,
  { streamingItemSize }: Parameters,
): number {
  const call = argumentBytes(ownArguments(own?.arguments ?? '[]'));
  if (direction === 'download')
    return Math.max(
      call,
      typeof streamingItemSize === 'number' ? streamingItemSize : usualItemBytes,
    );
  const sent = ownArguments(own?.items ?? '[]');
  const sum = sent.reduce((total, item) => total + argumentBytes([item]) - 2, 0);
  return Math.max(1, Math.round(sum / Math.max(1, sent.length) + call / items));
}
