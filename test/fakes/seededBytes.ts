import { randomInt } from 'node:crypto';

/** Random numbers that a seed repeats; tests print it when they fail. Source: "Xorshift RNGs", G. Marsaglia. */
export class SeededRandom {
  private state: number;

  /** Without a seed of its own: that of the run of all tests. */
  constructor(readonly seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31))) {
    this.state = seed | 1;
  }

  /** A whole number from 0 to below `limit`. */
  below(limit: number): number {
    let { state } = this;
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    this.state = state;
    return (state >>> 0) % limit;
  }
}
