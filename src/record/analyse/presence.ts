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
    return upTo(this.comings, us, itself) - upTo(this.goings, us, itself);
  }
}

const itself = (us: number): number => us;

/** How many are not above `limit`, of values whose numbers rise. */
export function upTo<Value>(
  values: readonly Value[],
  limit: number,
  numberOf: (value: Value) => number,
): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numberOf(values[middle]!) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
