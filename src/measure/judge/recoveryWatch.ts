import { shareOf, type Percentile } from '../../base/objectives/percentile';
import type { Slo } from '../../base/slo';
import type { Recovery } from '../summary';
import type { MergedTick } from '../sample';

/** Of one step; connections that flap more than that are no recovery. */
const mostRecoveries = 100;
const tickUs = 1_000_000;

interface RecoveryFacts {
  readonly slo: Slo;
  /** Connections that took part when the measuring began. */
  readonly connections: number;
  /** Measured time of the step, run time in microseconds. */
  readonly measureUs: number;
  readonly endUs: number;
  /** When all connections are dropped on purpose, and from when on they stop taking part for that. */
  readonly storm?: { readonly fromUs: number; readonly atUs: number };
  /** Whether there are deliveries to be judged. */
  readonly sends: boolean;
}

interface Outage {
  readonly fromUs: number;
  missing: number;
  backUs: number | undefined;
}

interface Second {
  readonly startUs: number;
  /** Arrived in it, whenever they were due, and how many more were due in it. */
  readonly received: number;
  readonly behind: number;
  /** Arrived within each of the latency limits. */
  readonly within: readonly number[];
}

type SecondFacts = Pick<MergedTick, 'tick' | 'expected' | 'received' | 'latency'>;

/** Finds when too few take part, and how long until they are back and latency is inside its objectives again. */
export class RecoveryWatch {
  private readonly outages: Outage[] = [];
  private readonly seconds: Second[] = [];
  private readonly limits: readonly (readonly [Percentile, number])[];
  private readonly needed: number;

  constructor(private readonly facts: RecoveryFacts) {
    // As many as slo.dropped lets be missing.
    const { slo, connections } = facts;
    this.limits = Object.entries(slo.latencyUs) as [Percentile, number][];
    this.needed = Math.ceil((1 - (slo.dropped ?? 0)) * connections - 1e-9);
  }

  open(atUs: number, count: number): void {
    const { connections, storm, measureUs, endUs } = this.facts;
    if (atUs < measureUs || atUs > endUs) return;
    const last = this.outages.at(-1);
    const current = last?.backUs === undefined ? last : undefined;
    if (count >= this.needed) {
      if (current !== undefined) current.backUs = Math.max(atUs, current.fromUs);
      return;
    }
    const missing = connections - count;
    if (current !== undefined) {
      current.missing = Math.max(current.missing, missing);
    } else if (this.outages.length < mostRecoveries) {
      const leadsToStorm = storm !== undefined && atUs >= storm.fromUs && atUs < storm.atUs;
      const fromUs = leadsToStorm ? storm.atUs : atUs;
      this.outages.push({ fromUs, missing, backUs: undefined });
    }
  }

  /** Deliveries of a second of the run, in order; those of the drain too, which show what came after all. */
  second({ tick, expected, received, latency }: SecondFacts): void {
    if (this.outages.length === 0) return;
    // A latency as long as the limit is within it.
    const within = this.limits.map(([, limit]) => latency.classCounts([limit + 1])[0]!);
    this.seconds.push({
      startUs: (tick - 1) * tickUs,
      received,
      behind: expected - received,
      within,
    });
  }

  recoveries(): Recovery[] {
    const { measureUs, endUs, sends } = this.facts;
    return this.outages.map(({ fromUs, missing, backUs }) => {
      const calm = this.seconds.find(
        ({ startUs }, at) => startUs >= (backUs ?? endUs) && startUs < endUs && this.isCalm(at),
      );
      const calmUs = calm && calm.startUs + tickUs;
      const secondsTo = (atUs: number | undefined): number | null =>
        atUs === undefined ? null : (atUs - fromUs) / 1_000_000;
      return {
        atS: (fromUs - measureUs) / 1_000_000,
        missing,
        connectionsS: secondsTo(backUs),
        ...(sends && { latencyS: secondsTo(calmUs) }),
      };
    });
  }

  /**
   * Whether deliveries met all objectives in that second, a missing one being slower than any limit. Which of
   * those due in it never came, nobody knows; how many more were due than arrived is known. That may be what
   * is on its way when the second ends, as much as was on its way when it began: then within the limit as many
   * have arrived as were due, at the end of this second or of a later one. What stays behind longer is missing.
   */
  private isCalm(at: number): boolean {
    const { received, within } = this.seconds[at]!;
    const isMet = ([metric, limit]: readonly [Percentile, number], position: number): boolean => {
      let behind = 0;
      const later = this.seconds.slice(at, at + 1 + Math.ceil(limit / tickUs));
      const missing = Math.min(...later.map((each) => (behind += each.behind)));
      const judged = received + Math.max(0, missing);
      return within[position]! >= shareOf(metric) * judged - 1e-6;
    };
    return received > 0 && this.limits.every(isMet);
  }
}
