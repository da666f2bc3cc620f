import type { Disposable } from '../../base/event';
import type { Snapshot } from '../../measure/snapshot';
import type { Result } from '../../results/result';
import type { Bus } from '../bus/bus';
import { encode, type RunSubjects, type RunTitle, type ViewMessage } from '../messages';

/** Characters of a result in one message: the bus takes a megabyte. */
const partLength = 200_000;
const retryMs = 500;
/** A result that nobody fetches is given up. */
const keptMs = 10 * 60_000;

/** Puts what people see of a run on the bus, where it can be looked at from elsewhere, now or later. */
export class RunPublisher {
  private publishing = Promise.resolve();
  private count = 0;
  private isOver = false;
  private readonly answering: Disposable;
  private readonly wasSeen: Promise<void>;

  constructor(
    private readonly bus: Bus,
    private readonly subjects: RunSubjects,
  ) {
    let noteSeen: () => void = () => undefined;
    this.wasSeen = new Promise((resolve) => {
      noteSeen = resolve;
    });
    // From the begin: whoever looks may have the end before this process comes to wait for it.
    this.answering = bus.answer(subjects.seen, () => {
      noteSeen();
      return '';
    });
  }

  gathered(nodes: readonly string[], agents: number): void {
    this.say({ type: 'gathered', nodes, agents });
  }

  title(title: RunTitle): void {
    this.say({ type: 'title', ...title });
  }

  snapshot(snapshot: Snapshot): void {
    this.say({ type: 'snapshot', snapshot: JSON.stringify(snapshot) });
  }

  result(result: Result): void {
    const text = JSON.stringify(result);
    for (let at = 0; at < text.length; at += partLength) {
      const isLast = at + partLength >= text.length;
      this.say({ type: 'result', isLast, text: text.slice(at, at + partLength) });
    }
  }

  failed(text: string): void {
    this.say({ type: 'failed', text });
  }

  /** Waits until somebody has seen the end, for ten minutes at most. */
  async seen(withinMs = keptMs): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, withinMs);
    });
    await Promise.race([late, this.publishing.then(() => this.wasSeen)]);
    clearTimeout(timer);
    this.answering.dispose();
    this.isOver = true;
  }

  private say(message: ViewMessage): void {
    const id = `view.${(this.count += 1)}`;
    const text = encode(message);
    this.publishing = this.publishing.then(async () => {
      while (!this.isOver) {
        try {
          await this.bus.append(this.subjects.view, text, id);
          return;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, retryMs));
        }
      }
    });
  }
}
