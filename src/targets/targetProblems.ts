/** Told a sentence about a server of the run, and how often it came true. */
export type ProblemListener = (text: string, count: number) => void;

/** Sentences that are kept for somebody who does not listen yet. */
const mostWaiting = 100;

/** What goes wrong with the servers that were started for a target, from its opening to the run's end. */
export class TargetProblems {
  private waiting: (readonly [string, number])[] = [];
  private listener: ProblemListener | undefined;

  readonly tell: ProblemListener = (text, count) => {
    if (this.listener !== undefined) this.listener(text, count);
    else if (this.waiting.length < mostWaiting) this.waiting.push([text, count]);
  };

  /** What was told before comes first. */
  listen(listener: ProblemListener): void {
    this.listener = listener;
    for (const [text, count] of this.waiting.splice(0)) listener(text, count);
  }
}
