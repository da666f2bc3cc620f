/** Random numbers that a seed repeats; tests print it when they fail. Source: "Xorshift RNGs", G. Marsaglia. */
export class SeededRandom {
  private state: number;

  constructor(seed: number) {
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
