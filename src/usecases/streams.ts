import { argumentBytes, ownArguments } from './ownArguments';
import { count, duration, list, listOf, numberOf, size } from './parameters';
import type { Parameters, ParameterSpec } from './parameters';

/** Which way the items of a stream go: up and back down, only up, only down. */
export const streamDirections = ['both', 'upload', 'download'] as const;
export type StreamDirection = (typeof streamDirections)[number];

/** Streams that one connection has open at the same time; see {@link openAtOnce}. */
export const mostOpenStreams = 100;

/** One for each that may be open at a time, and one for items whose coming back nobody wants. */
export const sourcesOfStreams = mostOpenStreams + 1;

export interface StreamShape {
  /** Hub method that takes or makes the items. */
  readonly method: string;
  readonly direction: StreamDirection;
  readonly items: number;
  /** Items of a stream until it is cancelled; as many as there are when it never is. */
  readonly wanted: number;
  /** It is cancelled when the last wanted item has come. */
  readonly cancels: boolean;
  readonly delayMs: number;
  /**
   * Arguments of the method, and items that go up in turn, as JSON text of lists, see
   * {@link import('./ownArguments').ownArguments}; absent: those of the bench contract. Items of one's own
   * carry no stamp: they are distinguished by their order.
   */
  readonly own?: { readonly arguments: string; readonly items: string };
}

export const streamParameters = {
  streamingItemCount: count(
    { range: [1, 1_000_000], default: 2 },
    'Items in one stream: as many as go up, or as the hub makes. A stream of `invoke` needs it written.',
  ),
  streamingItemSendDelay: duration(
    { range: [0, 3_600_000], default: 0 },
    `Pause for each item: ours between those that go up; that of the hub before it gives one back or makes the next, which \`streamingEcho\` asks of it, and which \`invoke\` expects it to have by itself. A connection has at most ${mostOpenStreams} streams open at a time.`,
    'The Azure SignalR benchmark stamped the same object again for each item, so early items could look too fast.',
  ),
  streamingCancelAfter: count(
    { range: [1, 1_000_000], optional: true },
    'Cancels each stream when its item of that number has come; what comes of later items counts as extra. Not for uploads.',
  ),
};

export function streamNumbers(
  parameters: Parameters,
): Pick<StreamShape, 'items' | 'wanted' | 'cancels' | 'delayMs'> {
  const items = numberOf(parameters, 'streamingItemCount');
  const cancelAfter = parameters['streamingCancelAfter'];
  const cancels = typeof cancelAfter === 'number' && cancelAfter <= items;
  return {
    items,
    wanted: cancels ? cancelAfter : items,
    cancels,
    delayMs: numberOf(parameters, 'streamingItemSendDelay'),
  };
}

/** As long as the hub keeps up, with one begun each `intervalMs`. */
export function openAtOnce(stream: StreamShape, intervalMs: number): number {
  const { direction, items, wanted, delayMs } = stream;
  // A hub that gives items back waits once more, and a cancelled stream ends with the item it is cancelled by.
  const waits = direction === 'both' ? wanted + 1 : wanted - 1;
  const upOnly = direction === 'upload' ? items - 1 : waits;
  return Math.ceil((upOnly * delayMs) / intervalMs) + 1;
}

/** Messages that one stream takes to the hub. */
export const itemsUp = ({ direction, items }: StreamShape): number =>
  direction === 'download' ? 1 : items;

/** Items, or the answer to an upload. */
export const itemsDown = ({ direction, wanted }: StreamShape): number =>
  direction === 'upload' ? 1 : wanted;

interface StreamTraffic {
  readonly intervalS: number;
  readonly inEach: number;
  readonly outEach: number;
}

/** The published tables have no streams: an item that goes either way counts as an echo, as far as it goes there. */
export function streamTraffic(stream: StreamShape, intervalS: number): StreamTraffic {
  const items = stream.direction === 'download' ? stream.wanted : stream.items;
  return {
    intervalS: intervalS / items,
    ...{ inEach: itemsUp(stream) / items, outEach: itemsDown(stream) / items },
  };
}

/** As large as the messages of the other use cases. */
const usualItemBytes = 2048;

/** Only where the method takes or makes a stream. */
export const ownStreamParameters: readonly ParameterSpec[] = listOf({
  streamingItems: list(
    { optional: true },
    'Items that go up in a stream to the method, as a list that is sent in turn, with the placeholders of `arguments`. With reply: stream each brings one back; with reply: completion the answer is the delivery.',
  ),
  ...streamParameters,
  streamingItemSize: size(
    { range: [1, 16 * 1024 * 1024], optional: true },
    'Size of the items that the method makes, for the estimate; 2 KB without this key.',
  ),
});

/** Undefined when the call opens none. */
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
export function itemBytes(stream: StreamShape, parameters: Parameters): number {
  const { direction, items, own } = stream;
  const { streamingItemSize } = parameters;
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
