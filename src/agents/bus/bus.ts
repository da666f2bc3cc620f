import { type Disposable, inBackground } from '../../base/async';
import { Changes, pause } from '../../engine/pause';

/**
 * What agents and coordinator of a run speak over. Subjects are names with dots; values are text. Those of a run's *log*
 * are kept in the order in which they came until the log is removed: whoever comes later or was away reads them all.
 */
export interface Bus {
  /** Whether there is a link to the bus now; it is made again by itself. */
  readonly isConnected: boolean;
  /** By TLS. */
  readonly isEncrypted: boolean;
  /** Whoever speaks on it has shown a key; else anybody who reaches it may give orders. */
  readonly hasUsers: boolean;
  /** One answer to one question; undefined when none came in time. */
  ask(subject: string, value: string, withinMs: number): Promise<string | undefined>;
  /** Answers questions; undefined leaves them unanswered. */
  answer(subject: string, reply: (value: string) => string | undefined): Disposable;
  /** For whoever listens now; lost where nobody does. */
  say(subject: string, value: string): void;
  hear(subject: string, heard: (value: string, subject: string) => void): Disposable;
  /**
   * Makes the log of a run, which holds all subjects below its name; nothing happens when there is one. A bus that comes
   * back without it gets a new one, and `renewed` is called.
   * @throws BusError
   */
  openLog(name: string, renewed?: () => void): Promise<void>;
  /** @throws BusError */
  hasLog(name: string): Promise<boolean>;
  /** Removes the log; nothing happens when there is none. */
  removeLog(name: string): Promise<void>;
  /**
   * Keeps a value; one with an id that was kept before is not kept again. Settles when the bus has it.
   * @throws BusError when it did not say so in time
   */
  append(subject: string, value: string, id: string): Promise<void>;
  /** Keeps a value where its subject has none; false when it has one. @throws BusError */
  claim(subject: string, value: string): Promise<boolean>;
  /** What the log has at a subject last; undefined where that is nothing, or the bus does not say. */
  read(log: string, subject: string): Promise<string | undefined>;
  /** All that the log has below a subject, and all that comes, in order. A log that was made anew is read from its begin. */
  follow(log: string, subject: string, seen: Follower): Promise<Following>;
  close(): Promise<void>;
}

export type Follower = (value: string, subject: string) => void;

export interface Following extends Disposable {
  /** Reads on by a new reader from where it is: one may stall while values wait. */
  again(): Promise<void>;
}

/** The bus could not be reached, refused something, or gave no answer in time; the message says what. */
export class BusError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'BusError';
  }
}

/** An address of a bus, as it may be shown. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?[^@/]*@/i, '$1');
}

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
  private readonly changes = new Changes();

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
