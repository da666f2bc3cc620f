const everyMs = 250;
/** Sentences written at a time; what is more than that is counted with the last. */
const mostAtOnce = 20;

/** What a server reports to the run that has started it: a sentence, and how often it came true. */
export interface ProblemLine {
  readonly problem: string;
  readonly count: number;
}

/** The same sentence is written once in a while with its count, so that a flood of failures is none of lines. */
export class ProblemLines {
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (line: ProblemLine) => void) {}

  report(text: string): void {
    const isKnown = this.counts.has(text) || this.counts.size < mostAtOnce;
    const key = isKnown ? text : [...this.counts.keys()].at(-1)!;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.timer ??= setTimeout(() => this.flush(), everyMs);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [problem, count] of this.counts) this.write({ problem, count });
    this.counts.clear();
  }
}
