export interface Stay {
  readonly fromUs: number;
  /** Absent when it was there at the end. */
  untilUs?: number | undefined;
}

/** How many clients were there at a time, or in a room. */
export class Presence {
  private readonly comings: readonly number[];
  private readonly goings: readonly number[];

  constructor(stays: readonly Stay[]) {
    const rising = (a: number, b: number): number => a - b;
    this.comings = stays.map(({ fromUs }) => fromUs).sort(rising);
    this.goings = stays.map(({ untilUs }) => untilUs ?? Infinity).sort(rising);
  }

  at(us: number): number {
    return upTo(this.comings, us) - upTo(this.goings, us);
  }
}

/** How many of rising numbers are not above `limit`. */
function upTo(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
