/** Something that reads what others send, and what has to hold for whatever that is. */
export interface Subject {
  readonly name: string;
  /** The oracle, for a person: continues "for every input …". */
  readonly holds: string;
  /** Inputs to begin with: recorded or written by the official packages where there are such. */
  readonly seeds: () => readonly (Buffer | string)[];
  /** Pieces that are put into inputs besides those of the seeds. */
  readonly pieces?: readonly string[];
  /** What a check needs for its life, such as a server. */
  readonly prepare?: () => Promise<() => Promise<void>>;
  /** A check takes a millisecond or more: looks at what has run after fewer inputs. */
  readonly isSlow?: true;
  /** What runs differs from time to time, so that no input is known to have brought something new. */
  readonly learnsNothing?: true;
  /** @throws whatever, when the oracle does not hold: a subject swallows those errors alone that it is meant to throw */
  readonly check: (input: Buffer) => void | Promise<void>;
}

/** Longest input: of a longer one readers see no more than that lengths have more digits. */
export const maximumInputBytes = 8192;

export const seedsOf = ({ seeds }: Subject): Buffer[] =>
  seeds().map((seed) => Buffer.from(seed as string).subarray(0, maximumInputBytes));

/** Runs something that may throw only errors of these classes. @returns undefined when it has thrown one of them */
export function unless<Value>(
  allowed: readonly (abstract new (...args: never[]) => Error)[],
  read: () => Value,
): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (allowed.some((each) => error instanceof each)) return undefined;
    throw error;
  }
}

/** Numbers drawn from an input itself, so that the same input is always cut in the same places. */
export function cutsOf(input: Buffer): (limit: number) => number {
  let state = input.length;
  for (let at = 0; at < input.length; at += 7) state = Math.imul(state ^ input[at]!, 0x5bd1e995);
  return (limit) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 1;
    return (state >>> 0) % limit;
  };
}

/** The input in pieces, each in the same shared buffer at another place, as sockets have it. */
export function inPieces(
  input: Buffer,
  take: (buffer: Buffer, start: number, end: number) => void,
): void {
  const draw = cutsOf(input);
  const shared = Buffer.alloc(input.length + 8);
  for (let at = 0; at < input.length;) {
    const length = Math.min(1 + draw(draw(4) === 0 ? input.length : 12), input.length - at);
    const start = draw(8);
    input.copy(shared, start, at, at + length);
    take(shared, start, start + length);
    shared.fill(0xaa, start, start + length);
    at += length;
  }
}
