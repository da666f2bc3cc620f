import type { JudgedConnections, JudgedDeliveries } from '../../base/objectives/objective';
import { latenessUs } from '../../base/objectives/latency';
import { isLatencyMetric, rulesFromSlo, type Rule, type Slo } from '../../base/slo';
import type { VerdictReason } from '../summary';
import { isUndecided, judgeConnections, judgeDeliveries } from './verdict';
import type { MissedSoFar } from '../snapshot';

const mostMarks = 16_384;

interface Mark {
  readonly atUs: number;
  readonly expected: number;
  readonly toReach: number;
  readonly missing: number;
}

export interface StepSoFar {
  readonly deliveries: JudgedDeliveries;
  readonly connections: JudgedConnections;
  /** Every arrival up to then is counted. */
  readonly knownUs: number;
  readonly measuredMs: number;
}

/**
 * Says which objectives are missed for certain. A delivery counts as missing once it has been due for longer than the
 * latency limit (for other objectives: than the drain waits) and the generator's lateness. The number is a lower
 * bound: so many more were due at an earlier sample than have arrived by now.
 */
export class AbortWatch {
  private readonly rules: readonly Rule[];
  private marks: Mark[] = [];

  constructor(
    slo: Slo,
    private readonly drainMs: number,
    /** False where what is missing may be another agent's. */
    public mayEnd = true,
  ) {
    this.rules = rulesFromSlo(slo);
  }

  /** No objective looks further back; the generator may have been a minute late. */
  private get longestUs(): number {
    const limits = this.rules
      .filter(({ metric }) => isLatencyMetric(metric))
      .map(({ limit }) => limit);
    return Math.max(this.drainMs * 1000, ...limits) + 60_000_000;
  }

  /** Nothing in `expected` and `toReach` was due after `atUs`. */
  note(atUs: number, expected: number, toReach = 0, received = expected): void {
    if (this.rules.length === 0 || this.marks.at(-1)?.expected === expected) return;
    this.marks.push({ atUs, expected, toReach, missing: expected - received });
    const { longestUs } = this;
    if (this.marks.length % 256 === 0)
      this.marks = this.marks.filter((mark) => mark.atUs >= atUs - longestUs);
    // The oldest half is further back than any limit that is judged so.
    if (this.marks.length > mostMarks) this.marks = this.marks.slice(mostMarks / 2);
  }

  missed(soFar: StepSoFar): VerdictReason | undefined {
    const due = this.rules.filter(
      ({ abort, afterMs = 0 }) => this.mayEnd && abort === true && soFar.measuredMs >= afterMs,
    );
    return firstMissed(due, (rule) => this.overdue(rule, soFar), soFar.connections);
  }

  /**
   * The first objective that is not met by now, before all others one that nothing can mend any more. A delivery
   * counts as missing once it has been due for longer than the strictest latency limit. @param plannedMs measured
   * time of the step; undefined where its load changes
   */
  unmet(soFar: StepSoFar, plannedMs: number | undefined): MissedSoFar | undefined {
    const { rules, drainMs } = this;
    const limitsMs = rules
      .filter(({ metric }) => isLatencyMetric(metric))
      .map((rule) => rule.limit / 1000);
    const patienceMs = Math.min(drainMs, ...limitsMs);
    const now = firstMissed(
      rules,
      (rule) => {
        const overdue = this.overdue(rule, soFar, patienceMs);
        const stuck = soFar.deliveries.received + this.stuck(soFar, patienceMs * 1000);
        return { ...overdue, expected: Math.max(overdue.expected, stuck), isGoingOn: true };
      },
      soFar.connections,
    );
    const said = ({ words, message }: VerdictReason): MissedSoFar => ({
      ...(words !== undefined && { words }),
      message,
    });
    if (now === undefined || plannedMs === undefined) return now && said(now);
    const best = this.bestCase(soFar, plannedMs);
    const mended = { ...soFar.connections, notBack: 0 };
    const final = firstMissed(rules, () => best, mended);
    return final === undefined ? said(now) : { ...said(final), isFinal: true };
  }

  private overdue(
    { metric, limit }: Rule,
    soFar: StepSoFar,
    patienceMs = this.drainMs,
  ): JudgedDeliveries {
    const { deliveries, measuredMs } = soFar;
    const due = this.dueBy(soFar, isLatencyMetric(metric) ? limit : patienceMs * 1000);
    const { timeToAll, received } = deliveries;
    const messages = Math.max(timeToAll?.reached ?? 0, due?.toReach ?? 0);
    return {
      ...deliveries,
      // All that was due up to then has had the time to arrive.
      seconds: Math.max(0, measuredMs - patienceMs) / 1000,
      expected: Math.max(received, due?.expected ?? 0),
      ...(timeToAll && { timeToAll: { ...timeToAll, messages } }),
    };
  }

  /**
   * Estimates the deliveries that stay out second after second, hidden in the sums by later ones: beyond three times
   * what is on its way at the latency of those that arrive.
   */
  private stuck({ deliveries, knownUs, measuredMs }: StepSoFar, patienceUs: number): number {
    const { marks } = this;
    const older = marks.filter(({ atUs }) => atUs <= knownUs - patienceUs).length;
    if (older === 0) return 0;
    const perUs = deliveries.received / Math.max(1, measuredMs * 1000);
    const onTheirWay = Math.ceil(3 * perUs * deliveries.latencyAtShareUs(0.99)) + 3;
    const since = marks.slice(older - 1).map(({ missing }) => missing);
    const least = Math.min(deliveries.expected - deliveries.received, ...since);
    return Math.max(0, least - onTheirWay);
  }

  /** As the step would end if all that is not lost by now came at once, at the rate that it has. */
  private bestCase(soFar: StepSoFar, plannedMs: number): JudgedDeliveries {
    const { deliveries, measuredMs } = soFar;
    const { timeToAll, ...sums } = certain(deliveries);
    const due = this.dueBy(soFar, this.drainMs * 1000);
    const times = Math.max(1, plannedMs / Math.max(1, measuredMs));
    const all = (count: number, dueCount: number | undefined, known: number) => {
      const expected = Math.round(count * times);
      return { expected, received: expected - Math.max(0, (dueCount ?? 0) - known) };
    };
    const { expected, received } = all(sums.expected, due?.expected, sums.received);
    const atBest =
      (at: (share: number) => number, known: number, most: number) =>
      (share: number): number => {
        const rank = share * most - (most - known);
        return rank <= 0 || known === 0 || deliveries.across ? 0 : at(Math.min(1, rank / known));
      };
    const reach = timeToAll && all(timeToAll.messages, due?.toReach, timeToAll.reached);
    return {
      ...sums,
      ...{ expected, received, seconds: plannedMs / 1000 },
      ...(sums.sent !== undefined && { sent: sums.sent * times }),
      ...(sums.offered !== undefined && { offered: sums.offered * times }),
      latencyAtShareUs: atBest((share) => sums.latencyAtShareUs(share), sums.received, received),
      ...(timeToAll &&
        reach && {
          timeToAll: {
            ...{ messages: reach.expected, reached: reach.received },
            atShareUs: atBest(timeToAll.atShareUs, timeToAll.reached, reach.received),
          },
        }),
      isGoingOn: true,
    };
  }

  /** What was due at least so long ago, and what the generator made late. */
  private dueBy({ deliveries: { lateness }, knownUs }: StepSoFar, agoUs: number): Mark | undefined {
    const sinceUs = knownUs - agoUs - (lateness === undefined ? 0 : latenessUs(lateness));
    return this.marks.filter(({ atUs }) => atUs <= sinceUs).at(-1);
  }
}

/** Sessions to come, and what two clocks leave open, say nothing for certain. */
const certain = ({ sessions: _sessions, across: _across, ...sums }: JudgedDeliveries) => sums;

function firstMissed(
  rules: readonly Rule[],
  deliveriesFor: (rule: Rule) => JudgedDeliveries,
  connections: JudgedConnections,
): VerdictReason | undefined {
  for (const rule of rules) {
    const [found] = [
      ...judgeDeliveries(deliveriesFor(rule), [rule]),
      ...judgeConnections(connections, [rule]),
    ];
    if (found?.reason !== undefined && !isUndecided(found.check)) return found.reason;
  }
  return undefined;
}
