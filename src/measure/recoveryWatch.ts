import type { LatencyMetric, Slo } from '../base/slo';
import type { Recovery } from './connectionSummary';
import type { LatencySummary } from './summary';
import { summaryKeys } from './summaryKeys';

/** Longest list of one step; connections that flap more than that are no recovery. */
const mostRecoveries = 100;
const tickUs = 1_000_000;

export interface RecoveryFacts {
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
  calmUs: number | undefined;
}

/**
 * Finds the times of a step in which too few connections take part, and how long it takes until they
 * are back and until latency is inside its objectives again.
 */
export class RecoveryWatch {
  private readonly outages: Outage[] = [];
  private readonly needed: number;

  constructor(private readonly facts: RecoveryFacts) {
    // As many as slo.dropped lets be missing.
    const { slo, connections } = facts;
    this.needed = Math.ceil((1 - (slo.dropped ?? 0)) * connections - 1e-9);
  }

  /** So many connections take part at that moment. */
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
      this.outages.push({ fromUs, missing, backUs: undefined, calmUs: undefined });
    }
  }

  /** Latency of the deliveries of second number `tick` of the run. */
  latency(tick: number, summary: LatencySummary): void {
    const startUs = (tick - 1) * tickUs;
    if (summary.count === 0 || !this.inside(summary)) return;
    for (const outage of this.outages) {
      if (outage.backUs === undefined || outage.calmUs !== undefined) continue;
      if (startUs >= outage.backUs && startUs < this.facts.endUs) outage.calmUs = startUs + tickUs;
    }
  }

  recoveries(): Recovery[] {
    const { measureUs, sends } = this.facts;
    return this.outages.map(({ fromUs, missing, backUs, calmUs }) => {
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

  private inside(summary: LatencySummary): boolean {
    const limits = Object.entries(this.facts.slo.latencyUs) as [LatencyMetric, number][];
    return limits.every(([metric, limit]) => summary[summaryKeys[metric]] <= limit);
  }
}
