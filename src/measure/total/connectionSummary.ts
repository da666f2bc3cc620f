import type { ConnectPhase } from '../../base/connectPhase';
import type { LatencySummary } from '../latencySummary';

/** Quantiles of the time one connection took to open, microseconds. */
export interface ConnectTimes {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** One connection that was closed without our asking. */
export interface DroppedConnection {
  readonly connection: number;
  /** Seconds since the run began, and how long the connection had been open. */
  readonly atS: number;
  readonly openS: number;
  readonly errorClass: string;
  readonly text: string;
}

export interface Quantiles {
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
  readonly p99: number;
}

/** How connections came and went, over all that were ever open. */
export interface LifeSummary {
  /** Closed without our asking, each time; closed by us to be opened again; opened again. */
  readonly drops: number;
  readonly closed: number;
  readonly reconnects: number;
  /** One successful try to open a connection again. */
  readonly reconnectUs: Quantiles;
  /** From a connection's first opening to the end of the run, and how much of it it was down. */
  readonly lifeSpanMs: Quantiles;
  readonly downMs: Quantiles;
  /**
   * Share of its life span that a connection was open, 0…1: over all time of all connections, and what 50,
   * 90, 95 and 99 % of the connections reached at least.
   */
  readonly sla: Quantiles & { readonly mean: number };
}

/** A time in which fewer connections were open than the objective allows. */
export interface Recovery {
  /** When it began, in measured seconds of the step. */
  readonly atS: number;
  /** Most connections that were missing at once. */
  readonly missing: number;
  /** Seconds until enough connections took part again; null when that was not within the step. */
  readonly connectionsS: number | null;
  /**
   * Seconds until the end of the first whole second in which deliveries were inside the latency objectives
   * again, with those that stayed away slower than any limit; null when that was not within the step, absent where nothing is sent.
   */
  readonly latencyS?: number | null;
}

/** What one of several targets did, over the whole run. */
export interface TargetSummary {
  readonly url: string;
  readonly connected: number;
  readonly failed: number;
  readonly dropped: number;
  /** Deliveries of all steps to connections of this target, with their latency from the intended time. */
  readonly received: number;
  readonly connectUs: ConnectTimes;
  readonly latencyUs: LatencySummary;
}

/** What became of the connections of a run. What is optional is absent in results of earlier versions. */
export interface ConnectionSummary {
  readonly requested: number;
  /** Ever opened. */
  readonly connected: number;
  /** Never opened. */
  readonly failed: number;
  /** Closed without our asking; each connection once. */
  readonly dropped: number;
  readonly reconnected: number;
  /**
   * Closed by us to be opened again, and down since a try of that has failed; none of them is in `dropped`.
   * As of now, so one that comes back leaves it; absent when there are none.
   */
  readonly notBack?: number;
  readonly connectUs: ConnectTimes;
  /** The time of the try that succeeded, split; phases that never happened are absent. */
  readonly connectPhasesUs?: Readonly<Partial<Record<ConnectPhase, ConnectTimes>>>;
  /** Connections opened per second while the ramp was going on. */
  readonly openedPerSecond?: number;
  /** Hub pings, both ways. */
  readonly pings?: { readonly sent: number; readonly received: number };
  /** The first connections that were dropped; a long list is cut. */
  readonly drops?: readonly DroppedConnection[];
  /** Only where connections are opened again. */
  readonly life?: LifeSummary;
  /** Only where there are several URLs, and not very many. */
  readonly targets?: readonly TargetSummary[];
}
