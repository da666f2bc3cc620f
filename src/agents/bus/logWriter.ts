import { inBackground } from '../../base/async';
import { ChangeSignal, pause } from '../../engine/pause';
import type { Bus } from './bus';

const retryMs = 500;
/** Of what is kept, characters: a bus that is away must not take the machine's memory. */
const mostLength = 256 * 1024 * 1024;

interface Entry {
  readonly number: number;
  readonly text: string;
  /** Whether it is kept until it was taken. */
  readonly isKept: boolean;
  /** When it was said, or last acknowledged, milliseconds. */
  readonly sinceMs: number;
}

interface LogWriterOptions {
  /** Entries that may be on their way at once; with 1, the log has them in their order. */
  readonly inFlight?: number;
  /** Each entry has a subject of its own, which ends in its number; absent: all have one. */
  readonly ownSubjects?: true;
  /** What the bus has not acknowledged after so long is given up, and all that follows; absent: never. */
  readonly keptMs?: number;
  /** Called once, when something was given up. */
  readonly lost?: () => void;
}

/**
 * Entries of one writer below one subject of a log: numbered from 1, and offered to the bus until it has them. Those that
 * are kept until they were taken can be put again, in case the bus has lost them; readers pass over what they have by the
 * number, see {@link InOrder}.
 */
export class LogWriter {
  /** Number of the last entry. */
  last = 0;
  private waiting: Entry[] = [];
  /** Acknowledged by the bus, and not taken yet. */
  private readonly kept = new Map<number, Entry>();
  private length = 0;
  private sending = 0;
  private takenUpTo = 0;
  private isOver = false;
  private readonly changes = new ChangeSignal();

  /** @param writer part of the ids of its messages: nobody else in the log has it */
  constructor(
    private readonly bus: Pick<Bus, 'append'>,
    private readonly subject: string,
    private readonly writer: string,
    private readonly options: LogWriterOptions = {},
  ) {}

  /** @param isKept until {@link LogWriter.taken} says that whoever reads it has it; else until the bus has it */
  add(textOf: (number: number) => string, isKept: boolean): void {
    if (this.isOver) return;
    const number = (this.last += 1);
    this.offer({ number, text: textOf(number), isKept, sinceMs: performance.now() });
  }

  /** Whoever reads has all up to this one. */
  taken(number: number): void {
    // Nobody has what was not said yet: it would never be sent.
    if (number > this.last) return;
    this.takenUpTo = Math.max(this.takenUpTo, number);
    for (const entry of this.kept.values()) if (entry.number <= number) this.drop(entry);
    this.changes.changed();
  }

  /** Puts once more what the bus has had for so long and nobody has taken: it may have come back without it. */
  again(longerThanMs = 0): void {
    const sinceMs = performance.now();
    const untaken = [...this.kept.values()]
      .filter((entry) => sinceMs - entry.sinceMs >= longerThanMs)
      .sort((a, b) => a.number - b.number);
    for (const { number } of untaken) this.kept.delete(number);
    this.waiting = [...untaken.map((entry) => ({ ...entry, sinceMs })), ...this.waiting];
    this.pump();
  }

  /** Whether the bus has everything; settles when it has, or when the time is over. */
  empty(withinMs: number): Promise<boolean> {
    return this.until(() => this.waiting.length === 0 && this.sending === 0, withinMs);
  }

  /** The same for whoever reads. */
  allTaken(withinMs: number): Promise<boolean> {
    return this.until(() => this.takenUpTo >= this.last, withinMs);
  }

  /** Nothing more is offered. */
  stop(): void {
    this.isOver = true;
    this.waiting = [];
    this.kept.clear();
    this.changes.changed();
  }

  private offer(entry: Entry): void {
    this.waiting.push(entry);
    this.length += entry.text.length;
    if (this.length > mostLength) this.giveUp();
    else this.pump();
  }

  private drop({ number, text }: Entry): void {
    this.kept.delete(number);
    this.length -= text.length;
  }

  private pump(): void {
    const { inFlight = 1 } = this.options;
    while (this.sending < inFlight) {
      const next = this.waiting.shift();
      if (next === undefined) break;
      if (next.number <= this.takenUpTo) {
        this.drop(next);
        continue;
      }
      this.sending += 1;
      inBackground(
        this.send(next).finally(() => {
          this.sending -= 1;
          this.pump();
        }),
      );
    }
    this.changes.changed();
  }

  private async send(entry: Entry): Promise<void> {
    const { number, text, sinceMs } = entry;
    const { keptMs = Infinity, ownSubjects } = this.options;
    const subject = ownSubjects ? `${this.subject}.${number}` : this.subject;
    // Where whoever reads has it, the log may be gone before the bus acknowledges it.
    while (!this.isOver && number > this.takenUpTo) {
      try {
        await this.bus.append(subject, text, `${this.writer}.${number}`);
        this.kept.set(number, { ...entry, sinceMs: performance.now() });
        if (!entry.isKept || number <= this.takenUpTo) this.drop(entry);
        return;
      } catch {
        if (performance.now() - sinceMs > keptMs) this.giveUp();
        else await pause(retryMs);
      }
    }
    this.drop(entry);
  }

  private giveUp(): void {
    if (this.isOver) return;
    this.stop();
    this.options.lost?.();
  }

  private async until(holds: () => boolean, withinMs: number): Promise<boolean> {
    await this.changes.until(() => holds() || this.isOver, withinMs);
    return holds() && !this.isOver;
  }
}

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
