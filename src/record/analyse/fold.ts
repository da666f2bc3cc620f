/** Finds what was done again and again in what one client did. */

/** One call, or a loop with what was done in each round; `symbol` is the same for what counts as the same. */
export type CallOrLoop<T> =
  | { readonly symbol: number; readonly item: T }
  | { readonly symbol: number; readonly rounds: readonly (readonly CallOrLoop<T>[])[] };

/** The longest body of a loop that is looked for, in steps. */
const longestBody = 32;
/** How often folded sequences are folded again: loops in loops, and those of other lengths. */
const mostPasses = 12;

/** Gives the same number to the same text, and to loops with the same body. */
export class SymbolTable {
  private readonly numbers = new Map<string, number>();
  /** Steps that somebody did several times in a row, with the symbols of those loops. */
  readonly looped = new Map<number, number>();

  of(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) this.numbers.set(name, (number = this.numbers.size));
    return number;
  }

  /** Of a loop, however often it goes round. */
  ofLoop(body: readonly { readonly symbol: number }[]): number {
    return this.of(`(${body.map(({ symbol }) => symbol).join(' ')})`);
  }
}

/**
 * The same sequence with its loops found, short bodies before long ones, in time linear in its length. What
 * is left over of a last round at the very end belongs to the loop: the client left, or the recording ended.
 */
export function foldLoops<T>(
  items: readonly T[],
  symbolOf: (item: T) => number,
  symbols: SymbolTable,
): readonly CallOrLoop<T>[] {
  let sequence: CallOrLoop<T>[] = items.map((item) => ({ symbol: symbolOf(item), item }));
  for (let pass = 0; pass < mostPasses; pass++) {
    const folded = foldOnce(sequence, symbols);
    const shorter = folded.length < sequence.length;
    sequence = singlesAsLoops(folded, symbols);
    if (!shorter) break;
  }
  return withRestInLoop(sequence);
}

export const isLoop = <T>(one: CallOrLoop<T>): one is Extract<CallOrLoop<T>, { rounds: unknown }> =>
  'rounds' in one;

/** The shortest body first, so that loops within loops are found from within. */
function foldOnce<T>(sequence: readonly CallOrLoop<T>[], symbols: SymbolTable): CallOrLoop<T>[] {
  let folded = [...sequence];
  for (let body = 1; body <= Math.min(longestBody, folded.length / 2); body++) {
    const next = foldBodies(folded, body, symbols);
    // What a shorter body can be found in now comes first again.
    if (next.length < folded.length && body > 1) return next;
    folded = next;
  }
  return folded;
}

function foldBodies<T>(
  sequence: readonly CallOrLoop<T>[],
  length: number,
  symbols: SymbolTable,
): CallOrLoop<T>[] {
  // From each place on, how many steps are the same as those one body later.
  const same = new Uint32Array(sequence.length + 1);
  for (let at = sequence.length - length - 1; at >= 0; at--)
    same[at] = sequence[at]!.symbol === sequence[at + length]!.symbol ? same[at + 1]! + 1 : 0;
  const folded: CallOrLoop<T>[] = [];
  let at = 0;
  while (at < sequence.length) {
    const rounds = Math.floor(same[at]! / length) + 1;
    if (rounds < 2) {
      folded.push(sequence[at++]!);
      continue;
    }
    const bodies = Array.from({ length: rounds }, (_, round) =>
      sequence.slice(at + round * length, at + (round + 1) * length),
    );
    at += rounds * length;
    folded.push(loopOf(bodies, symbols));
  }
  return folded;
}

/** A loop of nothing but one loop is that loop. */
function loopOf<T>(
  bodies: readonly (readonly CallOrLoop<T>[])[],
  symbols: SymbolTable,
): CallOrLoop<T> {
  const [first] = bodies[0]!;
  if (bodies[0]!.length === 1 && isLoop(first!)) {
    const rounds = bodies.flatMap(([loop]) => (isLoop(loop!) ? loop.rounds : []));
    return { symbol: first.symbol, rounds };
  }
  return { symbol: symbols.ofLoop(bodies[0]!), rounds: bodies };
}

/** A step that is a loop in other places, or of other clients, is one of a single round here. */
function singlesAsLoops<T>(
  sequence: readonly CallOrLoop<T>[],
  symbols: SymbolTable,
): CallOrLoop<T>[] {
  for (const one of sequence)
    if (isLoop(one) && one.rounds[0]!.length === 1)
      symbols.looped.set(one.rounds[0]![0]!.symbol, one.symbol);
  return sequence.map((one) => {
    const symbol = symbols.looped.get(one.symbol);
    return symbol === undefined ? one : { symbol, rounds: [[one]] };
  });
}

function withRestInLoop<T>(sequence: readonly CallOrLoop<T>[]): readonly CallOrLoop<T>[] {
  const at = sequence.map(isLoop).lastIndexOf(true);
  const loop = sequence[at];
  const rest = sequence.slice(at + 1);
  if (loop === undefined || !isLoop(loop) || rest.length === 0) return sequence;
  const body = loop.rounds[0]!;
  const isBegun =
    rest.length < body.length && rest.every(({ symbol }, index) => symbol === body[index]!.symbol);
  if (!isBegun) return sequence;
  return [...sequence.slice(0, at), { symbol: loop.symbol, rounds: [...loop.rounds, rest] }];
}
