/** Finds the loops in the calls of one client. */

/** `symbol` is equal for equal calls and for loops with the same body. */
export type CallOrLoop<T> =
  | { readonly symbol: number; readonly item: T }
  | { readonly symbol: number; readonly rounds: readonly (readonly CallOrLoop<T>[])[] };

const longestBody = 32;
/** Each pass can find loops around the loops of the pass before. */
const mostPasses = 12;

export class SymbolTable {
  private readonly numbers = new Map<string, number>();
  /** Calls that somebody repeated, with the symbols of their loops. */
  readonly looped = new Map<number, number>();

  of(name: string): number {
    let number = this.numbers.get(name);
    if (number === undefined) this.numbers.set(name, (number = this.numbers.size));
    return number;
  }

  ofLoop(body: readonly { readonly symbol: number }[]): number {
    return this.of(`(${body.map(({ symbol }) => symbol).join(' ')})`);
  }
}

/**
 * Finds loops, short bodies first, in linear time. An incomplete last round at the very end belongs to the loop: the client
 * left, or the recording ended.
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

function foldOnce<T>(sequence: readonly CallOrLoop<T>[], symbols: SymbolTable): CallOrLoop<T>[] {
  let folded = [...sequence];
  for (let body = 1; body <= Math.min(longestBody, folded.length / 2); body++) {
    const next = foldBodies(folded, body, symbols);
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
  // At each index: how many steps from there equal those one body later.
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

/** A call that is a loop elsewhere becomes a loop of one round. */
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
