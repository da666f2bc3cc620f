import { type Disposable, inBackground } from '../../base/async';
import { ChangeSignal, pause } from '../../engine/pause';

/**
 * What agents and coordinator of a run talk over. Subjects are dotted names, values are text. A run's *log* keeps its values in
 * order until it is removed, so that late readers get them all.
 */
export interface Bus {
  readonly isConnected: boolean;
  readonly isEncrypted: boolean;
  /** Clients show a key; without users anybody who reaches the bus may give orders. */
  readonly requiresKey: boolean;
  ask(subject: string, value: string, withinMs: number): Promise<string | undefined>;
  /** Undefined leaves the question unanswered. */
  answer(subject: string, reply: (value: string) => string | undefined): Disposable;
  /** Lost where nobody listens now. */
  say(subject: string, value: string): void;
  hear(subject: string, heard: (value: string, subject: string) => void): Disposable;
  /** Creates the log of a run if there is none. `renewed` is called when a bus has come back without it. @throws BusError */
  openLog(name: string, renewed?: () => void): Promise<void>;
  hasLog(name: string): Promise<boolean>;
  removeLog(name: string): Promise<void>;
  /** Settles when the bus has it; a known id is ignored. @throws BusError when the bus did not say so in time */
  append(subject: string, value: string, id: string): Promise<void>;
  /** Stores the first value of a subject; false when it has one. @throws BusError */
  claim(subject: string, value: string): Promise<boolean>;
  /** Last value of a subject; undefined where there is none, or the bus does not answer. */
  read(log: string, subject: string): Promise<string | undefined>;
  /** All values below a subject, then new ones, in order; a log that was made again is read from its start. */
  follow(log: string, subject: string, seen: Follower): Promise<Following>;
  close(): Promise<void>;
}

export type Follower = (value: string, subject: string) => void;

export interface Following extends Disposable {
  /** Goes on with a new reader: one may stall while values wait. */
  again(): Promise<void>;
}

/** The bus could not be reached, refused something, or gave no answer in time. */
export class BusError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'BusError';
  }
}

export function hideUrlPassword(url: string): string {
  return url.replace(/^([a-z]+:\/\/)?[^@/]*@/i, '$1');
}

const retryMs = 500;
/** Characters: a bus that is away must not fill the memory. */
const mostLength = 256 * 1024 * 1024;

interface Entry {
  readonly number: number;
  readonly text: string;
  readonly isKept: boolean;
  readonly sinceMs: number;
}

interface LogWriterOptions {
  /** Entries on their way at once; with 1 the log keeps their order. */
  readonly inFlight?: number;
  /** Each entry gets a subject that ends in its number; absent: all share one. */
  readonly ownSubjects?: true;
  /** Entries without acknowledgement for so long are given up, with all that follow; absent: never. */
  readonly keptMs?: number;
  readonly lost?: () => void;
}

/**
 * Numbered entries of one writer, offered to the bus until it has them. Kept entries can be sent again, in case the bus has lost
 * them; readers skip known numbers, see {@link InOrder}.
 */
export class LogWriter {
  last = 0;
  private waiting: Entry[] = [];
  private readonly kept = new Map<number, Entry>();
  private length = 0;
  private sending = 0;
  private takenUpTo = 0;
  private isOver = false;
  private readonly changes = new ChangeSignal();

  /** @param writer unique in the log: part of the ids of its messages */
  constructor(
    private readonly bus: Pick<Bus, 'append'>,
    private readonly subject: string,
    private readonly writer: string,
    private readonly options: LogWriterOptions = {},
  ) {}

  /** @param isKept until a reader has taken it; else until the bus has it */
  add(textOf: (number: number) => string, isKept: boolean): void {
    if (this.isOver) return;
    const number = (this.last += 1);
    this.offer({ number, text: textOf(number), isKept, sinceMs: performance.now() });
  }

  /** The reader has all entries up to this one. */
  taken(number: number): void {
    // A number from the future would keep entries from being sent.
    if (number > this.last) return;
    this.takenUpTo = Math.max(this.takenUpTo, number);
    for (const entry of this.kept.values()) if (entry.number <= number) this.drop(entry);
    this.changes.changed();
  }

  /** Sends entries again that nobody has taken for so long: the bus may have lost them. */
  again(longerThanMs = 0): void {
    const sinceMs = performance.now();
    const untaken = [...this.kept.values()]
      .filter((entry) => sinceMs - entry.sinceMs >= longerThanMs)
      .sort((a, b) => a.number - b.number);
    for (const { number } of untaken) this.kept.delete(number);
    this.waiting = [...untaken.map((entry) => ({ ...entry, sinceMs })), ...this.waiting];
    this.pump();
  }

  empty(withinMs: number): Promise<boolean> {
    return this.until(() => this.waiting.length === 0 && this.sending === 0, withinMs);
  }

  allTaken(withinMs: number): Promise<boolean> {
    return this.until(() => this.takenUpTo >= this.last, withinMs);
  }

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
    // When the reader has it, the log may be gone before the bus acknowledges it.
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

/** Values ahead of their turn: a writer has far fewer on their way. */
const mostEarly = 10_000;

/** Passes on the numbered values of one writer, each once and in order. */
export class InOrder<T> {
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
