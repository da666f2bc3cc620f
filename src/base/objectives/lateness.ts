/** What the load generator itself may have added to the times that it measured, and what these then say of a limit. */

/** Of a step, by the worst worker, microseconds. */
export interface Lateness {
  /** The longest that a message left after it was due, one of the warm-up included: what queues behind it is measured. */
  readonly slipMaxUs: number;
  /** The longest time in which a worker did not read, while it was measured or drained. */
  readonly readGapMaxUs: number;
  /** Deliveries that came by the end of the drain, or after it: a worker did not read at that moment. Absent: none. */
  readonly unread?: number;
}

/**
 * Nothing was measured later than this by the generator. It holds for a queue too: where all come late by no more than a
 * constant, none leaves the queue later than by that constant, bunches included. A difference of percentiles says less.
 */
export const latenessUs = ({ slipMaxUs, readGapMaxUs }: Lateness): number =>
  slipMaxUs + readGapMaxUs;

export type LatencyRuling = 'met' | 'missed' | 'open';

/**
 * Lateness only adds to a time: one within its limit has met it, and one that is beyond it without all of the lateness has
 * missed it. Nobody can say of one in between.
 *
 * @param valueUs from the intended time; null: lost, and with it beyond any limit
 * @param byUs how late the generator was at most, see {@link latenessUs}
 */
export function latencyRuling(
  valueUs: number | null,
  limitUs: number,
  byUs: number,
): LatencyRuling {
  if (valueUs === null) return 'missed';
  if (valueUs <= limitUs) return 'met';
  return valueUs - byUs > limitUs ? 'missed' : 'open';
}
