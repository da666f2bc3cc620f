import type { StepProgress } from '../show/snapshot';

/** A wait that the latencies of what has arrived do not tell. */
export interface Stall {
  /** Nothing arrives at all, or what arrives leaves older ones behind. */
  readonly kind: 'silent' | 'behind';
  /** At least so long, with one decimal: `2.1`. */
  readonly seconds: string;
  /** Deliveries waited for. */
  readonly count: number;
}

const leastSilentS = 0.5;

/** The wait of a step that is going on; undefined when 1 % of what has arrived took as long. */
export function stallOf(
  step: Pick<StepProgress, 'waiting' | 'outstanding' | 'over' | 'latencyUs'>,
): Stall | undefined {
  const { waiting, outstanding: count, over, latencyUs } = step;
  if (over || waiting === undefined || waiting.oldestS * 1e6 <= latencyUs.p99) return undefined;
  const { oldestS, silentS } = waiting;
  // Rounded down: it is a lower bound.
  const words = (seconds: number): string => (Math.floor(seconds * 10) / 10).toFixed(1);
  return silentS >= leastSilentS
    ? { kind: 'silent', seconds: words(silentS), count }
    : { kind: 'behind', seconds: words(oldestS), count };
}
