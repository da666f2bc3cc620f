import { azureServices } from '../base/serviceTraits';
import type { Calibration } from '../capacity/judge/calibrate';
import type { EstimateLoad } from '../capacity/model';
import { isMetric, type Metric, type Rule } from '../base/slo';
import { searchEnds, searchKinds, type SearchSummary } from '../base/searchSummary';
import {
  comparedKeys,
  type Comparison,
  type MissingIntervalReason,
} from '../measure/compare/comparison';
import type { RepeatedStep } from '../measure/compare/repeats';
import { maximumSeries, type Observed } from '../measure/observed';
import {
  count,
  each,
  entries,
  flag,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  record,
  some,
  text,
  time,
  wrong,
  type Shape,
} from '../measure/shape';
import {
  lastStep,
  maximumCalls,
  maximumEntries,
  runSummary,
  verdict,
  verdictStatus,
  sentenceOrText,
} from '../measure/summary';
import { allParameters } from '../scenario/keys/scenarioKeys';
import { maximumStages, mostPushes, pushAudiences } from '../scenario/keys/configKeys';
import type { ParameterSpec } from '../usecases/parameters';

const isTrue = flag as Shape<true>;
const metric = text as Shape<Metric>;

const rule: Shape<Rule> = object({
  ...{ metric, limit: number, afterMs: optional(number) },
  ...{ name: optional(text), step: lastStep, abort: optional(isTrue) },
});

/** How the parser keeps a parameter, by the type of its key. */
const keptAs: Readonly<Record<ParameterSpec['type'], Shape<unknown>>> = {
  ...{ size: number, duration: number, share: number, rate: number, count: number, number },
  ...{ choice: text, text, list: text, steps: text, flag },
};

/** Parameters of use cases as the parser keeps them; those this version does not know may be anything. */
const parameters = object(
  Object.fromEntries(
    [...allParameters].map(([name, { spec }]) => [name, optional(keptAs[spec.type])]),
  ),
);
const scenario = object({
  ...each(['connections', 'baseSending', 'step', 'sendingSteps'], count),
  entries: list(object({ name: text, parameters }), 10_000),
  stages: optional(
    object({
      from: number,
      stages: list(object(each(['to', 'overMs', 'holdMs'], number)), maximumStages),
    }),
  ),
  pushes: optional(
    list(
      object({ ...each(['perSecond', 'bytes'], number), name: text, to: oneOf(pushAudiences) }),
      mostPushes,
    ),
  ),
  // Objectives register themselves: those of now are asked for.
  slo: entries((slo) => [
    ['latencyUs', record(count)],
    ['rules', optional(list(rule, 1000))],
    ...Object.keys(slo)
      .filter((name) => isMetric(name))
      .map((name) => [name, number] as const),
  ]),
});

const estimate = {
  ...each(['unit', 'app_servers', 'server_connections_per_app_server'], nullable(number)),
  binding: object({ name: text, utilisation: number, text }),
  notes: list(text, 1000),
  planned: optional(object({ exceeded: flag, offered: flag, sentence: text })),
};

const broken = object({
  metric: text as Shape<Metric | 'backlog'>,
  ...{ limit: number, name: optional(text), value: nullable(number) },
});
const search: Shape<SearchSummary> = object({
  ...each(['from', 'to', 'precision', 'budgetMs', 'elapsedMs'], number),
  ...{ of: oneOf(searchKinds), ended: oneOf(searchEnds), ceiling: optional(oneOf(['pauses'])) },
  ...each(['low', 'high', 'unit'], nullable(number)),
  broken: nullable(broken),
  steps: list(
    object({
      ...{ index: count, value: number, lost: count, status: verdictStatus },
      ...each(['p50', 'p99'], nullable(number)),
      ...{ broken: optional(broken), tooShort: optional(isTrue) },
    }),
    10_000,
  ),
});

const estimateLoad = object({
  ...each(['in_messages_per_s', 'out_messages_per_s', 'in_bytes_per_s', 'out_bytes_per_s'], number),
  ...each(['kind', 'table'], text),
}) as Shape<EstimateLoad>;
/** What the readers of `calibrations.json` rely on. */
export const calibrationsShape = object({
  schema: oneOf(['signalr-bench-calibrations/1']),
  calibrations: list(
    object({
      ...{ at: time, scenario: text, result: text, product: oneOf(azureServices), unit: number },
      loads: list(estimateLoad, 100),
    }) as Shape<Calibration>,
    1000,
  ),
});

/** What the readers of `baselines.json` rely on. */
export const baselinesShape = object({
  schema: oneOf(['signalr-bench-baselines/1']),
  baselines: record(text),
});

/** Both ends of an interval. */
const pair: Shape<readonly [number, number]> = (value, at) =>
  Array.isArray(value) && value.length === 2
    ? list(number, 2)(value, at)
    : wrong(at, 'two numbers');

const change = optional(oneOf(['same', 'better', 'worse']));
const comparedNumber = object({ a: number, b: number, change });
const comparedPercentile = object({
  ...each(['a', 'b', 'ratio'], nullable(number)),
  ...{ change, interval: nullable(pair) },
  without: optional(text as Shape<MissingIntervalReason>),
});
const comparedCall = object({
  ...{ name: text, entry: optional(text), lost: comparedNumber },
  ...some(['p50', 'p99'], comparedNumber),
});
const comparedSessions = object({
  ...each(['started', 'completed', 'brokenOff'], comparedNumber),
  ...{ entry: optional(text), ...some(['p50', 'p99'], comparedNumber) },
});
const comparedRun = object(each(['id', 'name', 'startedAt', 'tool'], text));
const comparedStep = object({
  ...each(['index', 'senders'], count),
  ...{ verdict: change, problem: optional(text) },
  latency: object(some(comparedKeys, comparedPercentile)),
  ...each(['lost', 'lostShare', 'seconds', 'sentPerSecond', 'receivedPerSecond'], comparedNumber),
  cpuShare: comparedNumber,
  calls: optional(list(comparedCall, maximumCalls)),
  sessions: optional(list(comparedSessions, maximumEntries)),
});
const comparison: Shape<Comparison> = object({
  ...{ tolerance: number, confidence: number, a: comparedRun, b: comparedRun },
  ...{ verdict: oneOf(['same', 'better', 'worse', 'unlike']), sentence: text },
  steps: list(comparedStep, 1000),
  differences: list(object({ ...each(['what', 'a', 'b'], text), load: optional(isTrue) }), 1000),
  reasons: list(text, 1000),
});

const observed: Shape<Observed> = object({
  series: list(
    object({
      ...{ name: text, unit: oneOf(['share', 'bytes', 'count', 'perSecond']) },
      steps: list(object({ index: count, ...each(['mean', 'max', 'last'], number) }), 10_000),
      ...{ points: list(pair, 10_000), everyS: optional(number) },
    }),
    maximumSeries,
  ),
  findings: list(
    object({
      code: oneOf(['queueGrew', 'cpuFull', 'gcHeavy', 'loadFull']),
      ...{ name: text, step: count, fromS: number, value: number },
    }),
    100_000,
  ),
  problems: list(text, 1000),
});

const repeatedPercentile = object({
  values: list(nullable(number), 1000),
  ...{ median: nullable(number), interval: nullable(pair) },
});
const outlyingRepeat = object({
  ...{ step: count, metric: oneOf(comparedKeys), value: nullable(number), median: number },
});
const repeatedStep: Shape<RepeatedStep> = object({
  ...{ step: count, senders: count, of: list(number, 1000) },
  latency: object(some(comparedKeys, repeatedPercentile)),
  outliers: optional(list(outlyingRepeat, 1000)),
});

/** What the readers of a `result.json` rely on. */
export const resultShape = object({
  ...runSummary.fields,
  ...{ schema: text, id: text, scenarioName: optional(text) },
  tool: object({ name: text, version: text }),
  ...{ verdict, scenario },
  search: optional(search),
  baseline: optional(comparison),
  observed: optional(observed),
  repeats: optional(list(repeatedStep, 10_000)),
  estimate: nullable(object(estimate)),
  recommendation: nullable(
    object({
      ...{ step: count, ...estimate, headline: text, reasons: list(text, 1000) },
      reasonWords: optional(list(sentenceOrText, 1000)),
      stepStatus: oneOf(['pass', 'fail']),
    }),
  ),
  ...some(['estimateProblem', 'recommendationProblem'], text),
});
