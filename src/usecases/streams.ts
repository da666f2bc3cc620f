import { numberOf, type Parameters } from './parameterSpec';

/** Which way the items of a stream go: up and back down, only up, only down. */
export const streamDirections = ['both', 'upload', 'download'] as const;
export type StreamDirection = (typeof streamDirections)[number];

/** Streams that one connection has open at the same time; see {@link openAtOnce}. */
export const mostOpenStreams = 100;

/** What the parameters say about the streams of a use case. */
export interface StreamShape {
  readonly direction: StreamDirection;
  /** Items of one stream. */
  readonly items: number;
  /** Items of a stream until it is cancelled; as many as there are when it never is. */
  readonly wanted: number;
  readonly delayMs: number;
}

export function streamShape(parameters: Parameters): StreamShape {
  const items = numberOf(parameters, 'streamingItemCount');
  const cancelAfter = parameters['streamingCancelAfter'];
  const direction = streamDirections.find((one) => one === parameters['streamDirection']);
  return {
    direction: direction ?? 'both',
    items,
    wanted: typeof cancelAfter === 'number' ? Math.min(items, cancelAfter) : items,
    delayMs: numberOf(parameters, 'streamingItemSendDelay'),
  };
}

/** Streams of one connection that are open at the same time, as long as the hub keeps up. */
export function openAtOnce(parameters: Parameters): number {
  const { direction, items, wanted, delayMs } = streamShape(parameters);
  // A hub that gives items back waits once more, and a cancelled stream ends with the item it is cancelled by.
  const waits = direction === 'both' ? wanted + 1 : wanted - 1;
  const upOnly = direction === 'upload' ? items - 1 : waits;
  return Math.ceil((upOnly * delayMs) / numberOf(parameters, 'sendingInterval')) + 1;
}
