/** A message to several receivers, as its stamp names it. */
export interface ReachingMessage {
  readonly step: number;
  readonly source: number;
  readonly sequence: number;
}

/** When messages have reached the last of their receivers, which may be connections of several workers. */
export interface Reach {
  /** The message is about to leave, to that many receivers, at least one. */
  sent(message: ReachingMessage, receivers: number): void;
  /**
   * One of its receivers has it, for the first time, so long after it was due (microseconds); −1, or the time that the
   * last of them took when this was the last one missing.
   */
  arrived(message: ReachingMessage, afterUs: number): number;
}
