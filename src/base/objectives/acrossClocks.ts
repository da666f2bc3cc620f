/** Percentiles of deliveries whose senders and receivers read two clocks: what they can say of a limit. */
import { countFor } from '../measuringLimits';
import { formatCount } from '../units';
import { sentence, type Words } from '../sentence';
import { latencyWords, latencyWordsBeside } from './limitWords';

/** The latencies that two clocks have given, and those that needed one. */
export interface AcrossClocks {
  /** What is between two agents may be off by so much either way, microseconds. */
  readonly errorUs: number;
  /** Why it may be off by more than that, in a sentence; absent: it may not. */
  readonly wrong?: Words;
  /** Deliveries that stayed inside one agent, and with it on one clock. */
  readonly inside: {
    readonly count: number;
    /** Microseconds at or below which this share (0…1] of them lies. */
    latencyAtShareUs(share: number): number;
  };
}

/** A percentile beside its limit. */
interface BesideLimit {
  /** 0…1; of all that was expected. */
  readonly share: number;
  /** The same among what was received. */
  readonly ofReceived: number;
  readonly valueUs: number;
  readonly limitUs: number;
}

/** What decides in place of the value: the deliveries inside single agents, or nothing that is known. */
type ClockRuling =
  | { readonly by: 'inside'; readonly valueUs: number; readonly count: number }
  | { readonly by: 'nothing' };

/** Source: decision record on several machines, "Clocks". */
const leastInside = 1000;

/** Those that show the share at all, too, where anything can: the largest of them is one value. */
const countThatDecides = (share: number): number =>
  share < 1 ? Math.max(leastInside, countFor(share)) : leastInside;

/**
 * Undefined where the value decides by itself: each latency is off by the error at most, and so is each percentile of them.
 * Where the limit lies within that error, or the error itself cannot be believed, the same rank of what needs no two clocks
 * decides, if that is enough to show it.
 */
export function rulingAcross(
  { errorUs, wrong, inside }: AcrossClocks,
  { share, ofReceived, valueUs, limitUs }: BesideLimit,
): ClockRuling | undefined {
  const isCertain = valueUs + errorUs <= limitUs || valueUs - errorUs > limitUs;
  if (wrong === undefined && (isCertain || errorUs === 0)) return undefined;
  const { count } = inside;
  if (count < countThatDecides(share)) return { by: 'nothing' };
  return { by: 'inside', valueUs: inside.latencyAtShareUs(ofReceived), count };
}

/** `deliveries`: of the percentile, in words. */
export const insideWords = (deliveries: Words, valueUs: number, limitUs: number): Words =>
  sentence(
    '{0} inside single agents within {1}, above the limit of {2}',
    deliveries,
    latencyWordsBeside(valueUs, limitUs),
    latencyWords(limitUs),
  );

export function openWords(
  { errorUs, wrong, inside }: AcrossClocks,
  deliveries: Words,
  { valueUs, limitUs }: Pick<BesideLimit, 'valueUs' | 'limitUs'>,
): Words {
  const limit = latencyWords(limitUs);
  const few = formatCount(inside.count);
  if (wrong !== undefined)
    return sentence(
      'whether {0} came within {1} is open: {2}, and only {3} of them stayed inside one agent',
      ...[deliveries, limit, wrong, few],
    );
  const measured = latencyWordsBeside(valueUs, limitUs);
  return sentence(
    'whether {0} came within {1} is open: {2} were measured, clocks may differ by {3}, and only {4} of them stayed inside one agent',
    ...[deliveries, limit, measured, latencyWords(errorUs), few],
  );
}
