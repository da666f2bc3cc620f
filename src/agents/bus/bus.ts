import type { Disposable } from '../../base/async';

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
