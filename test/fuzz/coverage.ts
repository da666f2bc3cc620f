import { Session, type Profiler } from 'node:inspector';

type Interval = readonly [start: number, end: number];

/** By function that has run: what of it has not. */
type Taken = ReadonlyMap<string, readonly Interval[]>;

/** Which blocks of the product have run, as V8 counts them. */
export class Coverage {
  private readonly session = new Session();
  private readonly uncovered = new Map<string, readonly Interval[]>();

  /** Begins before the code that is watched is loaded. */
  constructor(private readonly isWatched: (url: string) => boolean) {
    this.session.connect();
    this.session.post('Profiler.enable');
    this.session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** Functions of which something has run. */
  get functions(): number {
    return this.uncovered.size;
  }

  /** What has run since the last call. */
  take(): Taken {
    const taken = new Map<string, readonly Interval[]>();
    // What is asked of the thread's own inspector is answered before `post` returns.
    this.session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
      for (const script of result) if (this.isWatched(script.url)) addFunctions(script, taken);
    });
    return taken;
  }

  /** Whether something of it had never run before it was kept. */
  isNew(taken: Taken): boolean {
    return [...taken].some(([place, missed]) => {
      const before = this.uncovered.get(place);
      return before === undefined || sizeOf(common(before, missed)) < sizeOf(before);
    });
  }

  keep(taken: Taken): void {
    for (const [place, missed] of taken) {
      const before = this.uncovered.get(place);
      this.uncovered.set(place, before === undefined ? missed : common(before, missed));
    }
  }

  dispose(): void {
    this.session.disconnect();
  }
}

/** V8 lists a block where its count is another than that of what is around it. */
function addFunctions(
  { scriptId, functions }: Profiler.ScriptCoverage,
  taken: Map<string, readonly Interval[]>,
): void {
  for (const { ranges } of functions) {
    const [whole] = ranges;
    if (whole === undefined || whole.count === 0) continue;
    const missed = ranges
      .filter(({ count }) => count === 0)
      .map(({ startOffset, endOffset }): Interval => [startOffset, endOffset]);
    taken.set(`${scriptId}:${whole.startOffset}:${whole.endOffset}`, missed);
  }
}

const common = (some: readonly Interval[], others: readonly Interval[]): Interval[] =>
  some.flatMap(([start, end]) =>
    others.flatMap(([otherStart, otherEnd]) => {
      const [from, to] = [Math.max(start, otherStart), Math.min(end, otherEnd)];
      return from < to ? [[from, to] as const] : [];
    }),
  );

const sizeOf = (intervals: readonly Interval[]): number =>
  intervals.reduce((sum, [start, end]) => sum + end - start, 0);
