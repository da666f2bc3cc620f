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

/** Mean bytes of the items that go up as JSON; those that the hub makes have the size that is said of them. */
export function itemBytes({ direction, own }: StreamShape, parameters: Parameters): number {
  const { streamingItemSize } = parameters;
  if (direction === 'download')
    return typeof streamingItemSize === 'number' ? streamingItemSize : usualItemBytes;
  const items = ownArguments(own?.items ?? '[]');
  const sum = items.reduce((total, item) => total + argumentBytes([item]) - 2, 0);
  return Math.max(1, Math.round(sum / Math.max(1, items.length)));
}
