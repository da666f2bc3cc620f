import { delivered, dropped, duplicated } from './objectives/shares';
import { latencyMetrics, latencyObjective, type LatencyMetric } from './objectives/latency';
import type { Objective } from './objectives/objective';

/** Every objective beside those of latency, by its key under `slo`; a new one is a file beside these and a name here. */
export const otherObjectives = { dropped, delivered, duplicated };

export type Metric = LatencyMetric | keyof typeof otherObjectives;

/** All objectives with their keys, in the order people are shown them. */
export const objectives = (): (readonly [metric: Metric, objective: Objective])[] => [
  ...latencyMetrics.map((metric) => [metric, latencyObjective(metric)] as const),
  ...(Object.entries(otherObjectives) as [Metric, Objective][]),
];

/** Objectives a run is judged by: microseconds, and 0…1 for shares. */
export interface Slo extends Readonly<Partial<Record<keyof typeof otherObjectives, number>>> {
  readonly latencyUs: Readonly<Partial<Record<LatencyMetric, number>>>;
}

const isLatency = (metric: Metric): metric is LatencyMetric =>
  (latencyMetrics as readonly string[]).includes(metric);

/** What an objective is set to; undefined where it is not judged. */
export const limitOf = (slo: Slo, metric: Metric): number | undefined =>
  isLatency(metric) ? slo.latencyUs[metric] : slo[metric];

/** Objectives from the limit of each; undefined leaves one out. */
export function sloOf(limit: (metric: Metric, objective: Objective) => number | undefined): Slo {
  const set = objectives().flatMap(([metric, objective]) => {
    const value = limit(metric, objective);
    return value === undefined ? [] : [[metric, value] as const];
  });
  const latencyUs = Object.fromEntries(set.filter(([metric]) => isLatency(metric)));
  return { latencyUs, ...Object.fromEntries(set.filter(([metric]) => !isLatency(metric))) };
}

/** What a run is judged by where its scenario says nothing. */
export const defaultSlo: Slo = sloOf((_metric, objective) => objective.default);

/** Where the texts that a panel is given have the words of a missed objective. */
export const objectiveText = (metric: Metric): `objective.${Metric}` => `objective.${metric}`;

/** What the panel says of objectives that are missed so far, in English, by {@link objectiveText}. */
export const objectiveTexts = (): Record<`objective.${string}`, string> =>
  Object.fromEntries(
    objectives().flatMap(([metric, objective]) =>
      objective.of === 'step' && objective.live
        ? [[objectiveText(metric), objective.live.text]]
        : [],
    ),
  );
