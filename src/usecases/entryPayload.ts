import { argumentBytes, ownArguments } from './ownArguments';
import type { Parameters } from './parameters';
import { meanOf, parsePayloadSizes, type PayloadSize } from './payloadSizes';
import { itemBytes, ownStreamOf } from './streams';

interface EntryPayload {
  /** Empty when nothing is sent. */
  readonly sizes: readonly PayloadSize[];
  /** Mean bytes of a message; 0 when nothing is sent. */
  readonly meanBytes: number;
}

/** By `arguments`, else `messageSizes`, else `messageSize`. */
export function payloadOf(parameters: Parameters): EntryPayload {
  const sizes = sizesOf(parameters);
  const mean = sizes.length === 0 ? 0 : meanOf(sizes, (bytes) => bytes);
  return { sizes, meanBytes: Math.round(mean) };
}

function sizesOf(parameters: Parameters): readonly PayloadSize[] {
  const { messageSizes, messageSize, arguments: args } = parameters;
  if (typeof args === 'string') {
    const stream = ownStreamOf(parameters);
    const bytes =
      stream === undefined ? argumentBytes(ownArguments(args)) : itemBytes(stream, parameters);
    return [{ bytes, weight: 1 }];
  }
  if (typeof messageSizes === 'string') {
    const read = parsePayloadSizes(messageSizes);
    if ('sizes' in read) return read.sizes;
  }
  return typeof messageSize === 'number' ? [{ bytes: messageSize, weight: 1 }] : [];
}
