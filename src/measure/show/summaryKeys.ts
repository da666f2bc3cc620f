import type { LatencyMetric } from '../../base/slo';
import type { LatencySummary } from './summary';

/** Where the summary of a step has each percentile. */
export const summaryKeys: Readonly<Record<LatencyMetric, Exclude<keyof LatencySummary, 'count'>>> =
  {
    p50: 'p50',
    p90: 'p90',
    p95: 'p95',
    p99: 'p99',
    'p99.9': 'p999',
    'p99.99': 'p9999',
    max: 'max',
  };
