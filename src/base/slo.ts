import {
  delivered,
  dropped,
  duplicated,
  errors,
  errorsByClass,
  rate,
  sessionsBrokenOff,
  skipped,
  type ErrorMetric,
} from './objectives/counts';
import { latencies } from './objectives/latency';
import type { Objective, ObjectiveFamily } from './objectives/objective';
import {
  byShare,
  isPercentile,
  latencyMetrics,
  type LatencyMetric,
  type Percentile,
} from './objectives/percentile';
import {
  connectTimes,
  isTimeToAll,
  timesToAll,
  type ConnectMetric,
  type TimeToAllMetric,
} from './objectives/times';

export const otherObjectives = {
  ...{ dropped, skipped, delivered, duplicated, rate, errors, sessionsBrokenOff },
};

export const objectiveFamilies: readonly ObjectiveFamily[] = [
  latencies,
  errorsByClass,
  connectTimes,
  timesToAll,
];

type OtherMetric = keyof typeof otherObjectives | ErrorMetric | ConnectMetric | TimeToAllMetric;
export type Metric = Percentile | OtherMetric;

const ofFamily = (name: string): Objective | undefined =>
  objectiveFamilies.map((family) => family.named(name)).find((found) => found);

/** Made once: a scenario is read at each key stroke. */
const offered: ReadonlyMap<string, Objective> = new Map(
  objectiveFamilies.flatMap((family) => family.offered.map((name) => [name, ofFamily(name)!])),
);

export function findObjective(name: string): Objective | undefined {
  if (Object.hasOwn(otherObjectives, name))
    return (otherObjectives as Readonly<Record<string, Objective>>)[name];
  return offered.get(name) ?? ofFamily(name);
}

export const isMetric = (name: string): name is Metric => findObjective(name) !== undefined;

/** In display order: latency first, and of families the names that are offered. */
const shownMetrics = (): Metric[] => [
  ...latencyMetrics,
  ...(Object.keys(otherObjectives) as Metric[]),
  ...objectiveFamilies
    .filter((each) => each !== latencies)
    .flatMap((family) => family.offered as Metric[]),
];

export const objectives = (): (readonly [metric: Metric, objective: Objective])[] =>
  shownMetrics().map((metric) => [metric, findObjective(metric)!] as const);

export interface Rule {
  readonly metric: Metric;
  readonly limit: number;
  readonly name?: string;
  /** Judged in the last step alone; absent: in each. */
  readonly step?: 'last';
  readonly abort?: true;
  /** How much of the measured time must have passed before it can stop the run. */
  readonly afterMs?: number;
}

/** The strictest limit of each metric, in microseconds, 0…1, counts or per second. */
export interface Slo extends Readonly<Partial<Record<OtherMetric, number>>> {
  readonly latencyUs: Readonly<Partial<Record<LatencyMetric, number>>> & {
    readonly [further: `p${number}`]: number | undefined;
  };
  /** Every rule of a metric that has a rule with a name, `step` or `abort`, or more than one rule. */
  readonly rules?: readonly Rule[];
}

const isPlain = ({ name, step, abort }: Rule): boolean => (name ?? step ?? abort) === undefined;

export function sloFromRules(rules: readonly Rule[]): Slo {
  const strictest = new Map<Metric, number>();
  for (const { metric, limit } of rules) {
    const before = strictest.get(metric);
    const pick = findObjective(metric)?.limit === 'least' ? Math.max : Math.min;
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

export function rulesFromSlo(slo: Slo): Rule[] {
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

/** Whether it limits a time that starts when a message is due, to which the generator's lateness adds. */
export const isLatencyMetric = (metric: Metric): boolean =>
  isPercentile(metric) || isTimeToAll(metric);

/** Without the rules for the last step alone, in other steps. */
export function sloForStep(slo: Slo, isLast: boolean): Slo {
  if (isLast || slo.rules?.some(({ step }) => step === 'last') !== true) return slo;
  return sloFromRules(rulesFromSlo(slo).filter(({ step }) => step !== 'last'));
}

/** For a scenario without `slo`; see {@link addFollowingRules} for those that follow another. */
export const defaultRules = (): Rule[] =>
  objectives().flatMap(([metric, objective]) =>
    objective.default === undefined ? [] : [{ metric, limit: objective.default }],
  );

/** Adds the objectives that follow another one, where they are not written. */
export function addFollowingRules(rules: readonly Rule[]): Rule[] {
  const limits = sloFromRules(rules);
  const following = objectives().flatMap(([metric, { follows }]) => {
    const limit = follows && limits[follows];
    return limit === undefined || rules.some((rule) => rule.metric === metric)
      ? []
      : [{ metric, limit }];
  });
  return [...rules, ...following];
}

export const defaultSlo: Slo = sloFromRules(addFollowingRules(defaultRules()));
