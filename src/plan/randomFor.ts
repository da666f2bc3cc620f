import { seededRandom, type Random } from '../base/random';
import type { Plan } from './plan';

/** What random numbers are drawn for, so that more draws of one kind change no other; values are arbitrary. */
const purposes = {
  population: 0,
  ramp: 0x3c6ef372,
  sending: 0x5bd1e995,
  lives: 0x6c8e9cf5,
  reconnects: 0x2545f491,
  payloads: 0x9e3779b9,
} as const;

/**
 * Random numbers of a plan for one purpose: the same in every run with its seed.
 *
 * @param worker that draws them; absent where all draw the same
 * @param entry position in the plan, where each entry draws its own
 */
export const randomFor = (
  { seed }: Pick<Plan, 'seed'>,
  purpose: keyof typeof purposes,
  worker = 0,
  entry = 0,
): Random => seededRandom(seed ^ purposes[purpose] ^ worker ^ (entry << 16));
