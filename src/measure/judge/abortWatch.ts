/** Objectives that end a step while it goes on. */
import type {
  JudgedConnections,
  JudgedDeliveries,
  LiveDeliveries,
} from '../../base/objectives/objective';
import { latenessUs } from '../../base/objectives/lateness';
import { isLatency, rulesOf, type Rule, type Slo, objectiveOf, type Metric } from '../../base/slo';
import type { VerdictReason } from '../summary';
import { isOpen, judgeConnectionsBy, judgeDeliveries } from './verdict';
import type { MissedSoFar } from '../snapshot';

/** Four hours of them at one a second. */
const mostMarks = 16_384;

/** Deliveries, and messages to reach all, that were due by a moment of run time, at least. */
interface Mark {
  readonly atUs: number;
  readonly expected: number;
  readonly toReach: number;
}

/** What a step has measured so far, up to a moment of run time. */
interface SoFar {
  readonly deliveries: JudgedDeliveries;
  readonly connections: JudgedConnections;
  /** Every arrival up to then is counted. */
  readonly knownUs: number;
  /** Measured time of the step up to then. */
  readonly measuredMs: number;
}

/**
 * Looks whether an objective with `abort` is missed by what is known for certain: a delivery that is still on its way is
 * none that was lost. For a latency those count as missing that have been due for longer than its limit, for other
 * objectives those that have been due for longer than the drain waits, each by as much more as the generator was late; so does a rate. How many that are is a lower bound: so many
 * more were due at an earlier sample than have arrived by now.
 */
export class AbortWatch {
  private readonly rules: readonly Rule[];
  private marks: Mark[] = [];

  constructor(
    slo: Slo,
    private readonly drainMs: number,
  ) {
    this.rules = rulesOf(slo).filter(({ abort }) => abort === true);
  }

  /** Undefined where no objective may end the step. */
  static of(slo: Slo, drainMs: number): AbortWatch | undefined {
    const watch = new AbortWatch(slo, drainMs);
    return watch.rules.length > 0 ? watch : undefined;
  }

  /** Nothing in `expected` and `toReach` was due after `atUs`. */
  note(atUs: number, expected: number, toReach = 0): void {
    if (this.rules.length === 0 || this.marks.at(-1)?.expected === expected) return;
    this.marks.push({ atUs, expected, toReach });
    // The oldest half is further back than any limit that is judged so.
    if (this.marks.length > mostMarks) this.marks = this.marks.slice(mostMarks / 2);
  }

  /** Why the step is to end now; undefined while it is not. */
  missed(soFar: SoFar): VerdictReason | undefined {
    for (const rule of this.rules) {
      if (soFar.measuredMs < (rule.afterMs ?? 0)) continue;
      const [found] = [
        ...judgeDeliveries(this.overdue(rule, soFar), [rule]),
        ...judgeConnectionsBy(soFar.connections, [rule]),
      ];
      if (found?.reason !== undefined && !isOpen(found.check)) return found.reason;
    }
    return undefined;
  }

  /** The deliveries without those that are not missing yet. */
  private overdue({ metric, limit }: Rule, soFar: SoFar): JudgedDeliveries {
    const { deliveries, knownUs, measuredMs } = soFar;
    const { lateness } = deliveries;
    const byUs = lateness === undefined ? 0 : latenessUs(lateness);
    const sinceUs = knownUs - (isLatency(metric) ? limit : this.drainMs * 1000) - byUs;
    const due = this.marks.filter(({ atUs }) => atUs <= sinceUs).at(-1);
    const { timeToAll, received } = deliveries;
    const messages = Math.max(timeToAll?.reached ?? 0, due?.toReach ?? 0);
    return {
      ...deliveries,
      // All that was due up to then has had the time to arrive.
      seconds: Math.max(0, measuredMs - this.drainMs) / 1000,
      expected: Math.max(received, due?.expected ?? 0),
      ...(timeToAll && { timeToAll: { ...timeToAll, messages } }),
    };
  }
}

/** The first objective that a step which goes on has missed so far, by what its panel says of it. */
export function missedSoFar(step: LiveDeliveries, slo: Slo): MissedSoFar<Metric> | undefined {
  if (step.latencyUs.count === 0) return undefined;
  for (const { metric, limit } of rulesOf(slo)) {
    const objective = objectiveOf(metric);
    const values = objective?.of === 'step' ? objective.live?.missed(step, limit) : undefined;
    if (values !== undefined) return { metric, values };
  }
  return undefined;
}
