import { deferred, Emitter, type Disposable } from '../../base/async';
import type { Snapshot } from '../../measure/snapshot';
import type { Result } from '../../results/result';
import type { StopReason } from '../../engine/lead/run';
import type { Bus } from '../bus/bus';
import { LogWriter } from '../bus/logWriter';
import {
  cutToShow,
  encode,
  type RunSubjects,
  type RunTitle,
  type ViewContent,
  type ViewMessage,
} from '../messages';

/** Characters of a result in one message: the bus takes a megabyte. */
const partLength = 200_000;
/** A result that nobody fetches is given up. */
const keptMs = 10 * 60_000;

/** Puts what people see of a run on the bus, where it can be looked at from elsewhere, now or later. */
export class RunPublisher {
  private readonly writer: LogWriter;
  private readonly answering: readonly Disposable[];
  private readonly stopEmitter = new Emitter<StopReason>();
  private isStopped = false;
  /** Somebody who looks at the run wants it to end in order; once. */
  readonly onStop = this.stopEmitter.event;
  private readonly viewed = deferred();

  constructor(bus: Bus, subjects: RunSubjects) {
    this.writer = new LogWriter(bus, subjects.view, 'view');
    // From the begin: whoever looks may have the end before this process comes to wait for it.
    this.answering = [
      bus.answer(subjects.seen, () => {
        this.viewed.resolve();
        return '';
      }),
      bus.answer(subjects.stop, (reason) => {
        // An answer to another question may have been sent here.
        if (reason !== 'stopped' && reason !== 'interrupted') return undefined;
        // Whoever has missed the answer asks again.
        if (!this.isStopped) this.stopEmitter.fire(reason);
        this.isStopped = true;
        return '';
      }),
    ];
  }

  gathered(nodes: readonly string[], agents: number): void {
    this.say({ type: 'gathered', nodes, agents });
  }

  title(title: RunTitle): void {
    this.say({ type: 'title', ...title });
  }

  snapshot(snapshot: Snapshot): void {
    this.say({ type: 'snapshot', snapshot: JSON.stringify(snapshot) }, false);
  }

  result(result: Result): void {
    const text = JSON.stringify(result);
    for (let at = 0; at < text.length; at += partLength) {
      const isLast = at + partLength >= text.length;
      this.say({
        type: 'result',
        isFirst: at === 0,
        isLast,
        text: text.slice(at, at + partLength),
      });
    }
  }

  failed(text: string): void {
    this.say({ type: 'failed', text: cutToShow(text) });
  }

  /** Waits until somebody has seen the end, for ten minutes at most; whether somebody has. */
  async seen(withinMs = keptMs): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    const published = this.writer.empty(withinMs);
    const wasSeen = await Promise.race([
      late,
      published.then(() => this.viewed.promise.then(() => true)),
    ]);
    clearTimeout(timer);
    for (const answering of this.answering) answering.dispose();
    this.writer.stop();
    return wasSeen;
  }

  /** The bus has come back without the log: begin and end are put again, what was shown between them is not. */
  renewed(): void {
    this.writer.again();
  }

  private say(message: ViewContent, isKept = true): void {
    this.writer.add((number) => encode({ number, ...message } satisfies ViewMessage), isKept);
  }
}
