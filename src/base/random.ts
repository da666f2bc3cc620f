export interface Random {
  next(): number;
  below(bound: number): number;
}

/** Mulberry32: 32 bits of state and seed; enough for choosing senders and targets, not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return { next, below: (bound) => Math.floor(next() * bound) };
}

/** Numbers 0 … count−1 in random order (Fisher–Yates). */
export const shuffled = (count: number, random: Random): Uint32Array =>
  swapWithDrawn(count, (index) => random.below(index + 1));

/** A permutation where no number stands at its own place, if there are two or more (Sattolo's algorithm). */
export const derangement = (count: number, random: Random): Uint32Array =>
  swapWithDrawn(count, (index) => random.below(index));

function swapWithDrawn(count: number, drawn: (index: number) => number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  for (let index = count - 1; index > 0; index--) {
    const other = drawn(index);
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
  return order;
}
