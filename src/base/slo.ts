/** What a run is judged by: every objective there is, and the limits that a scenario sets. */
import { errors, errorsOfClass, type ErrorMetric } from './objectives/errors';
import { latencies } from './objectives/latency';
import type { Objective, ObjectiveFamily } from './objectives/objective';
import {
  byShare,
  isPercentile,
  latencyMetrics,
  type LatencyMetric,
  type Percentile,
} from './objectives/percentile';
import { rate } from './objectives/rate';
import { sessionsBrokenOff } from './objectives/sessions';
import { delivered, dropped, duplicated } from './objectives/shares';
import { skipped } from './objectives/skipped';
import {
  connectTimes,
  isTimeToAll,
  timesToAll,
  type ConnectMetric,
  type TimeToAllMetric,
} from './objectives/times';

/** Every objective with a name of its own, by its key under `slo`; a new one is a file beside these and a name here. */
export const otherObjectives = {
  ...{ dropped, skipped, delivered, duplicated, rate, errors, sessionsBrokenOff },
};

/** Objectives that differ by a part of their names; a new family is a file beside these and a line here. */
export const objectiveFamilies: readonly ObjectiveFamily[] = [
  latencies,
  errorsOfClass,
  connectTimes,
  timesToAll,
];

type OtherMetric = keyof typeof otherObjectives | ErrorMetric | ConnectMetric | TimeToAllMetric;
export type Metric = Percentile | OtherMetric;

const ofFamily = (name: string): Objective | undefined =>
  objectiveFamilies.map((family) => family.named(name)).find((found) => found);

/** Those that families offer, made once: a scenario is read at each key stroke. */
const offered: ReadonlyMap<string, Objective> = new Map(
  objectiveFamilies.flatMap((family) => family.offered.map((name) => [name, ofFamily(name)!])),
);

/** The objective of that name; undefined where there is none. */
export function objectiveOf(name: string): Objective | undefined {
  if (Object.hasOwn(otherObjectives, name))
    return (otherObjectives as Readonly<Record<string, Objective>>)[name];
  return offered.get(name) ?? ofFamily(name);
}

export const isMetric = (name: string): name is Metric => objectiveOf(name) !== undefined;

/** Names that people are shown, in that order: those of latency first, of families those that are offered. */
const shownMetrics = (): Metric[] => [
  ...latencyMetrics,
  ...(Object.keys(otherObjectives) as Metric[]),
  ...objectiveFamilies
    .filter((each) => each !== latencies)
    .flatMap((family) => family.offered as Metric[]),
];

export const objectives = (): (readonly [metric: Metric, objective: Objective])[] =>
  shownMetrics().map((metric) => [metric, objectiveOf(metric)!] as const);

/** One objective of a scenario. Limits are in the unit of their objective. */
export interface Rule {
  readonly metric: Metric;
  readonly limit: number;
  /** As people call it. */
  readonly name?: string;
  /** Judged in the last step alone; absent: in each. */
  readonly step?: 'last';
  /** Ends a step as soon as it is missed, and the run with it. */
  readonly abort?: true;
  /** Not before so much of the measured time has passed. */
  readonly afterMs?: number;
}

/** The strictest limit of each metric, microseconds, 0…1, counts or per second, and what there is more to say of them. */
export interface Slo extends Readonly<Partial<Record<OtherMetric, number>>> {
  readonly latencyUs: Readonly<Partial<Record<LatencyMetric, number>>> & {
    readonly [further: `p${number}`]: number | undefined;
  };
  /** All of the metrics of which one has a name, a step, or an end to set; absent: none. */
  readonly rules?: readonly Rule[];
}

const isPlain = ({ name, step, abort }: Rule): boolean => (name ?? step ?? abort) === undefined;

export function sloOf(rules: readonly Rule[]): Slo {
  const strictest = new Map<Metric, number>();
  for (const { metric, limit } of rules) {
    const before = strictest.get(metric);
    const pick = objectiveOf(metric)?.limit === 'least' ? Math.max : Math.min;
    strictest.set(metric, before === undefined ? limit : pick(before, limit));
  }
  const special = rules.filter(
    (rule) => !isPlain(rule) || rules.some((one) => one !== rule && one.metric === rule.metric),
  );
  const latency = [...strictest].filter(([metric]) => isPercentile(metric));
  const other = [...strictest].filter(([metric]) => !isPercentile(metric));
  return {
    latencyUs: Object.fromEntries(latency),
    ...Object.fromEntries(other),
    ...(special.length > 0 && { rules: special }),
  };
}

/** Each objective by itself, in the order in which people are shown them. */
export function rulesOf(slo: Slo): Rule[] {
  const { latencyUs, rules = [], ...others } = slo;
  const limits = { ...latencyUs, ...others } as Readonly<Partial<Record<Metric, number>>>;
  const plain = (Object.keys(limits) as Metric[])
    .filter(
      (metric) => limits[metric] !== undefined && rules.every((rule) => rule.metric !== metric),
    )
    .map((metric): Rule => ({ metric, limit: limits[metric]! }));
  const names = shownMetrics();
  const place = (metric: Metric): number => {
    const at = names.indexOf(metric);
    return isPercentile(metric) ? -1 : at < 0 ? names.length : at;
  };
  return [...plain, ...rules]
    .filter(({ metric }) => isMetric(metric))
    .sort(({ metric: a }, { metric: b }) =>
      isPercentile(a) && isPercentile(b) ? byShare(a, b) : place(a) - place(b),
    );
}

/** Whether it limits how long messages take from the moment they are due, to which the generator's lateness adds. */
export const isLatency = (metric: Metric): boolean => isPercentile(metric) || isTimeToAll(metric);

/** As a step is judged: what is meant for the last step alone is left out of the others. */
export function sloOfStep(slo: Slo, isLast: boolean): Slo {
  if (isLast || slo.rules?.some(({ step }) => step === 'last') !== true) return slo;
  return sloOf(rulesOf(slo).filter(({ step }) => step !== 'last'));
}

/** What a run is judged by where its scenario says nothing, but for objectives that follow another. */
export const defaultRules = (): Rule[] =>
  objectives().flatMap(([metric, objective]) =>
    objective.default === undefined ? [] : [{ metric, limit: objective.default }],
  );

/** With those that follow another one, where they are not written. */
export function withFollowing(rules: readonly Rule[]): Rule[] {
  const limits = sloOf(rules);
  const following = objectives().flatMap(([metric, { follows }]) => {
    const limit = follows && limits[follows];
    return limit === undefined || rules.some((rule) => rule.metric === metric)
      ? []
      : [{ metric, limit }];
  });
  return [...rules, ...following];
}

export const defaultSlo: Slo = sloOf(withFollowing(defaultRules()));
