import { seededRandom, type Random } from '../base/random';
import type { PayloadSize } from '../usecases/payloadSizes';
import type { Plan } from './plan';

/** Independent random sequences, so that draws for one purpose do not change another; values are arbitrary. */
const purposes = {
  population: 0,
  ramp: 0x3c6ef372,
  sending: 0x5bd1e995,
  lives: 0x6c8e9cf5,
  reconnects: 0x2545f491,
  payloads: 0x9e3779b9,
  intervals: 0x7f4a7c15,
} as const;

/** Without `worker` the same in all workers. */
export const randomFor = (
  { seed }: Pick<Plan, 'seed'>,
  purpose: keyof typeof purposes,
  worker = 0,
  entry = 0,
): Random => seededRandom(seed ^ purposes[purpose] ^ worker ^ (entry << 16));

/** The same in all workers. */
export const intervalSeed = ({ seed }: Pick<Plan, 'seed'>, entry: number, step: number): number =>
  mixBits(seed ^ purposes.intervals ^ mixBits((entry << 16) ^ step));

/** Index of the URL a connection uses; the same in every worker and after a reconnect. */
export function urlIndexOf(
  { targetChoice, seed }: Pick<Plan, 'targetChoice' | 'seed'>,
  count: number,
  connection: number,
): number {
  if (targetChoice !== 'random') return connection % count;
  return seededRandom(seed ^ Math.imul(connection + 1, 0x9e3779b1)).below(count);
}

export interface PayloadPicker {
  readonly sizes: readonly number[];
  /** Index in `sizes`: receivers compute the same from what the message carries. */
  pick(source: number, stream: number, sequence: number): number;
}

export function createPayloadPicker(found: readonly PayloadSize[], seed: number): PayloadPicker {
  const sizes = found.map(({ bytes }) => bytes);
  if (sizes.length <= 1) return { sizes, pick: () => 0 };
  const bounds = boundsOf(found);
  return {
    sizes,
    pick(source, stream, sequence) {
      const drawn = mixBits(seed ^ mixBits(source ^ mixBits(stream ^ mixBits(sequence))));
      let at = 0;
      while (drawn >= bounds[at]!) at++;
      return at;
    },
  };
}

/** Upper bounds of each size's part of all 32-bit numbers. */
function boundsOf(sizes: readonly PayloadSize[]): Float64Array {
  const total = sizes.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  const bounds = Float64Array.from(sizes, ({ weight }) => ((sum += weight) / total) * 2 ** 32);
  bounds[bounds.length - 1] = Infinity;
  return bounds;
}

/** Finalizer of MurmurHash3. */
export function mixBits(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
