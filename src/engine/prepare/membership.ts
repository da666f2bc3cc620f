import type { Population } from '../../plan/population';

/** What joining and leaving holds for: all messages, those to groups where nobody moves, or those where some do. */
export type ChangedWhere = 'everywhere' | 'outside' | 'inside';

/** A connection of this worker joins or leaves at that whole microsecond of run time. */
export interface MemberChange {
  readonly index: number;
  readonly atUs: number;
  readonly joins: boolean;
  readonly where: ChangedWhere;
  /** Inside: the population into whose group it moves, or out of it. */
  readonly population?: Population;
}

export type MemberChanged = (change: MemberChange) => void;

/**
 * Which connections take part, over all workers: who was meant to get a message, and under which id it is reached.
 * Threads of one agent share it in memory; what is said here of all workers and of any of them means those of the agent.
 */
export interface Membership {
  /** Rises with every change; what was read between two equal versions belongs together. */
  version(): number;
  /** Of any worker. */
  isOpen(index: number): boolean;
  /** Members of a group now, counted over all entries; of everyone where the audience has no groups. */
  count(group: number): number;
  /** Whether a message counted at `sentUs` (run time) was meant for this worker's connection; `othersMove`: where some may move. */
  wasMember(index: number, sentUs: number, othersMove: boolean): boolean;
  /** Whether the last change of this worker's connection lies within that time of `sentUs`. */
  changedNear(index: number, sentUs: number, othersMove: boolean, withinUs: number): boolean;
  /** Of any connection that was ever prepared, as it is written into messages. */
  idOf(index: number): Buffer | undefined;
  /** One of this worker's takes part from now on, reached by `id`; false when that is too long. */
  join(index: number, id?: Buffer): boolean;
  /** The same for one that moves in and out of its groups: there it is no receiver. */
  joinOutside(index: number, id?: Buffer): boolean;
  /** Whether this worker's connection is open and a receiver everywhere. */
  isInside(index: number): boolean;
  leave(index: number): void;
  /**
   * One of this worker's, which is outside, comes into the group of that population, or leaves it again; it is in those of
   * one population at most.
   */
  move(index: number, population: Population, inside: boolean): void;
  /** Around the counting of a message to a group whose members move by calls of their own. */
  counting(group: number, begins: boolean): void;
  /** Such a message has reached this worker's connection, for which it was meant. */
  came(index: number): void;
  /** How many that were meant for this worker's connection, which was moved out, have not come: at most. */
  missing(index: number): number;
}
