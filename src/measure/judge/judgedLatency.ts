import {
  latencyOverExpected,
  latencyShare,
  type LatencyMetric,
} from '../../base/objectives/latency';
import type { JudgedDeliveries } from '../../base/objectives/objective';

import { tailUs, type Tail } from '../tails';
import type { JudgedLatency, LatencySummary } from '../latencySummary';

/** How many deliveries were expected, and the latencies of those received. */
export type ExpectedDeliveries = Omit<JudgedDeliveries, 'duplicated'>;

export function judgedLatency(step: ExpectedDeliveries): JudgedLatency {
  const at = (metric: LatencyMetric): number | null =>
    latencyOverExpected(step, latencyShare[metric]);
  return {
    ...{ p50: at('p50'), p90: at('p90'), p95: at('p95'), p99: at('p99') },
    ...{ p999: at('p99.9'), p9999: at('p99.99'), max: at('max') },
  };
}

/** A step, or one of its entries, with the latencies that were measured and those that were judged. */
export interface ShownLatency {
  readonly latencyUs?: LatencySummary;
  readonly judgedUs?: JudgedLatency;
}

/** What to show: null where it was lost, undefined where there are too few deliveries to tell it. */
export type ShownPercentiles = Readonly<Record<keyof JudgedLatency, number | null | undefined>>;

/** The percentiles to show, the same everywhere; undefined where nothing was received and nothing judged. */
export function shownLatency({ latencyUs, judgedUs }: ShownLatency): ShownPercentiles | undefined {
  const received = latencyUs !== undefined && latencyUs.count > 0 ? latencyUs : undefined;
  const told = judgedUs ?? received;
  if (told === undefined) return undefined;
  const tail = (name: Tail): number | null | undefined =>
    received !== undefined && tailUs(received, name) === undefined ? undefined : told[name];
  const { p50, p90, p95, p99, max } = told;
  return { p50, p90, p95, p99, p999: tail('p999'), p9999: tail('p9999'), max };
}

/** Whether lost deliveries count in the percentiles of any of them. */
export const countsLost = (steps: readonly ShownLatency[]): boolean =>
  steps.some(({ judgedUs }) => judgedUs !== undefined);
