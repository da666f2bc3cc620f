/** Values that came before their turn: whoever writes has far fewer on their way. */
const mostEarly = 10_000;

/** Takes the numbered values of one writer, each once and in their order, however often and in whatever order they come. */
export class InOrder<T> {
  /** Number of the last one that was taken. */
  taken = 0;
  private readonly early = new Map<number, T>();

  constructor(private readonly take: (value: T) => void) {}

  add(number: number, value: T): void {
    if (number <= this.taken) return;
    if (this.early.size >= mostEarly && number > this.taken + 1) return;
    this.early.set(number, value);
    for (;;) {
      const next = this.early.get(this.taken + 1);
      if (next === undefined) return;
      this.early.delete((this.taken += 1));
      this.take(next);
    }
  }
}
