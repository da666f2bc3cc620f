import type { StepProgress, Waiting } from '../snapshot';

/** What less than this is waited for may well be on its way. */
const leastShownS = 0.5;
/** An hour of silence and more. */
const mostMarks = 4096;

/** Deliveries that were due, and that had arrived, at a moment of run time. */
interface Mark {
  readonly atUs: number;
  readonly expected: number;
  readonly received: number;
}

/** Fewer arrived up to now than were due at a moment before: at least one of those is missing, whichever. */
export class WaitingWatch {
  /** Rising; of each more were due than have arrived by now. */
  private marks: Mark[] = [];
  private knownUs = 0;
  private received = 0;

  /** Every arrival up to `knownUs` (run time) is in `received`; nothing in `expected` was due after `countedUs`. */
  note(knownUs: number, countedUs: number, expected: number, received: number): void {
    [this.knownUs, this.received] = [knownUs, received];
    const last = this.marks.at(-1);
    const isNew = last?.expected !== expected || last.received !== received;
    const first = this.marks.findIndex((mark) => mark.expected > received);
    this.marks = first < 0 ? [] : this.marks.slice(first);
    if (isNew && expected > received) this.marks.push({ atUs: countedUs, expected, received });
    if (this.marks.length > mostMarks) this.marks = this.marks.filter((_, at) => at % 2 === 0);
  }

  waiting(): Waiting | undefined {
    const { marks, knownUs, received } = this;
    const secondsSince = (mark: Mark | undefined): number =>
      Math.max(0, (knownUs - (mark?.atUs ?? knownUs)) / 1_000_000);
    const oldestS = secondsSince(marks[0]);
    if (oldestS < leastShownS) return undefined;
    return { oldestS, silentS: secondsSince(marks.find((mark) => mark.received === received)) };
  }
}

/** A wait that the latencies of what has arrived do not show. */
interface Stall {
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
