/** Latency percentiles an objective can be set on, as written in a scenario file. */
export const latencyMetrics = ['p50', 'p90', 'p95', 'p99', 'p99.9', 'p99.99', 'max'] as const;
export type LatencyMetric = (typeof latencyMetrics)[number];

/** Share of the sorted deliveries that lies at or below each metric's value. */
export const latencyShare: Readonly<Record<LatencyMetric, number>> = {
  p50: 0.5,
  p90: 0.9,
  p95: 0.95,
  p99: 0.99,
  'p99.9': 0.999,
  'p99.99': 0.9999,
  max: 1,
};

/** Share metrics: `dropped` and `duplicated` are upper bounds, `delivered` a lower one. */
export type ShareMetric = 'dropped' | 'delivered' | 'duplicated';

/** Objectives a run is judged by. */
export interface Slo {
  /** Upper bounds in microseconds. */
  readonly latencyUs: Readonly<Partial<Record<LatencyMetric, number>>>;
  /** (failed + dropped + not back) / requested connections, at most; 0…1. */
  readonly dropped?: number;
  /** Deliveries received / expected, at least; 0…1. */
  readonly delivered?: number;
  /** Duplicates, which come on top of what was received, / deliveries expected, at most; 0…1. */
  readonly duplicated?: number;
}

/**
 * The guides' criterion: 99 % of messages under one second, at most 1 % of connections dropped.
 * Source: "Performance guide for Azure SignalR Service", 23 March 2023, *Performance insight >
 * Methodology*; the connection share is the default of the Azure SignalR benchmark. That nothing comes twice is ours:
 * neither SignalR nor a client that recovers hands a message to an application again.
 */
export const defaultSlo: Slo = {
  latencyUs: { p99: 1_000_000 },
  dropped: 0.01,
  delivered: 0.99,
  duplicated: 0,
};
