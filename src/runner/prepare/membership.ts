/**
 * Which connections take part, over all workers, so that the receivers of a message are known at the
 * moment it is due, and under which id they are reached.
 *
 * Connections join and leave while others send. A sender must count exactly those receivers that will
 * count the message as meant for them, so both sides go by one moment: a change takes place at a whole
 * microsecond of run time, and the send time in the stamp says on which side of it a message was counted.
 */
export interface Membership {
  /** Rises with every change; what was read between two equal versions belongs together. */
  version(): number;
  /** Whether any connection of the run takes part. */
  isOpen(index: number): boolean;
  /** Members of a group, counted over all entries; of everyone where the audience has no groups. */
  count(group: number): number;
  /** Id of any connection that was ever prepared, as it is written into messages. */
  idOf(index: number): Buffer | undefined;
  /**
   * Whether a message that was counted at `sentUs` (run time) was meant for this worker's connection.
   *
   * @param othersMove whether it was a message of an entry in whose groups connections may move
   */
  wasMember(index: number, sentUs: number, othersMove: boolean): boolean;
  /**
   * This worker's connection takes part from now on.
   *
   * @param id what the connection is reached by, where the use case needs it
   * @returns false when the id is too long to be kept
   */
  join(index: number, id?: Buffer): boolean;
  /** The same for one that moves in and out of its groups, where connections do: there it is no receiver. */
  joinOutside(index: number, id?: Buffer): boolean;
  /** Whether this worker's connection is open and a receiver everywhere. */
  isInside(index: number): boolean;
  leave(index: number): void;
}
