import { argumentBytes, parseArguments } from './ownArguments';
import { count, duration, list, namedSpecs, numberParameter, size } from './parameters';
import type { Parameters, ParameterSpec } from './parameters';

/** `both`: up and back down. */
export const streamDirections = ['both', 'upload', 'download'] as const;
export type StreamDirection = (typeof streamDirections)[number];

export const mostOpenStreams = 100;

/** One per open stream, and one for items after a cancel. */
export const sourcesOfStreams = mostOpenStreams + 1;

export interface StreamShape {
  readonly method: string;
  readonly direction: StreamDirection;
  readonly items: number;
  /** Items until it is cancelled; all when it never is. */
  readonly wanted: number;
  readonly cancels: boolean;
  readonly delayMs: number;
  /**
   * The user's own arguments and items, as JSON lists (see {@link import('./ownArguments').parseArguments}); absent:
   * those of the bench hub. They carry no stamp and are distinguished by their order.
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
  const items = numberParameter(parameters, 'streamingItemCount');
  const cancelAfter = parameters['streamingCancelAfter'];
  const cancels = typeof cancelAfter === 'number' && cancelAfter <= items;
  return {
    items,
    wanted: cancels ? cancelAfter : items,
    cancels,
    delayMs: numberParameter(parameters, 'streamingItemSendDelay'),
  };
}

/** Assumes that the hub keeps up. */
export function openStreamsNeeded(stream: StreamShape, intervalMs: number): number {
  const { direction, items, wanted, delayMs } = stream;
  // An echo waits once more; a cancelled stream ends with its last wanted item.
  const waits = direction === 'both' ? wanted + 1 : wanted - 1;
  const upOnly = direction === 'upload' ? items - 1 : waits;
  return Math.ceil((upOnly * delayMs) / intervalMs) + 1;
}

export const itemsSent = ({ direction, items }: StreamShape): number =>
  direction === 'download' ? 1 : items;

/** Items, or the completion of an upload. */
export const deliveriesOfStream = ({ direction, wanted }: StreamShape): number =>
  direction === 'upload' ? 1 : wanted;

interface StreamTraffic {
  readonly intervalS: number;
  readonly inEach: number;
  readonly outEach: number;
}

/** The published tables have no streams: each item counts as half an echo per direction. */
export function streamTraffic(stream: StreamShape, intervalS: number): StreamTraffic {
  const items = stream.direction === 'download' ? stream.wanted : stream.items;
  return {
    intervalS: intervalS / items,
    ...{ inEach: itemsSent(stream) / items, outEach: deliveriesOfStream(stream) / items },
  };
}

const usualItemBytes = 2048;

export const ownStreamParameters: readonly ParameterSpec[] = namedSpecs({
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
 * Bytes of one item as JSON. Uploaded items include their part of the call's arguments; for downloads the larger of
 * item and arguments counts, since the tables have one size for both directions.
 */
export function itemBytes(stream: StreamShape, parameters: Parameters): number {
  const { direction, items, own } = stream;
  const { streamingItemSize } = parameters;
  const call = argumentBytes(parseArguments(own?.arguments ?? '[]'));
  if (direction === 'download')
    return Math.max(
      call,
      typeof streamingItemSize === 'number' ? streamingItemSize : usualItemBytes,
    );
  const sent = parseArguments(own?.items ?? '[]');
  const sum = sent.reduce((total, item) => total + argumentBytes([item]) - 2, 0);
  return Math.max(1, Math.round(sum / Math.max(1, sent.length) + call / items));
}
