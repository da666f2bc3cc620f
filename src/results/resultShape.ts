import { connectPhases } from '../base/endpoint';
import { azureServices } from '../base/serviceTraits';
import type { Calibration } from '../capacity/judge/calibrate';
import type { EstimateLoad } from '../capacity/model';
import { isMetric, type Rule } from '../base/slo';
import { maximumBlocks, type StoredBlocks } from '../measure/latencyBlocks';
import {
  comparedKeys,
  type Change,
  type ComparedCall,
  type ComparedSessions,
  type ComparedNumber,
  type ComparedStep,
  type Comparison,
} from '../measure/compare/comparison';
import type { OutlyingRepeat, RepeatedStep } from '../measure/compare/repeats';
import type { LatencySummary } from '../measure/latencySummary';
import {
  maximumSeries,
  type Observed,
  type ObservedFinding,
  type ObservedSeries,
  type ObservedStep,
} from '../measure/observed';
import {
  type PushedSummary,
  agentStatuses,
  mostPushedNames,
  liveAgentStatuses,
  type AgentProgress,
  type AgentStep,
  type CallSummary,
  type ConnectionSummary,
  type ConnectTimes,
  type DroppedConnection,
  type EntrySummary,
  type GeneratorHealth,
  type LifeSummary,
  type MembershipSummary,
  type Quantiles,
  type Recovery,
  type SessionSummary,
  type SloCheck,
  type StepConnections,
  type StepSummary,
  type TargetSummary,
  type Verdict,
  type VerdictReason,
} from '../measure/summary';
import type {
  CallProgress,
  EntryProgress,
  SearchProgress,
  Snapshot,
  StepProgress,
  Waiting,
} from '../measure/snapshot';
import {
  searchEnds,
  searchKinds,
  type BrokenObjective,
  type SearchStep,
  type SearchSummary,
} from '../base/searchSummary';
import { allParameters } from '../scenario/keys/scenarioKeys';
import { maximumStages, mostPushes, pushAudiences } from '../scenario/keys/configKeys';
import type { PushSpec, Scenario, StageSpec, StagesSpec } from '../scenario/scenario';
import type { ParameterSpec } from '../usecases/parameters';
import type { Result } from './result';

/** Says where a value first differs, as `steps[0].sent: must be a number`. Unknown keys are allowed, they may be newer. */
export type Shape = (value: unknown, at: string) => string | undefined;

/** Results have about eight levels; what a newer version adds may have some more. */
const mostLevels = 64;

/**
 * Where a value first differs from its shape. What the shape does not name must not be nested deeply
 * either: whoever copies or writes it goes down level by level and would exhaust the stack.
 */
export function shapeProblem(value: unknown, shape: Shape): string | undefined {
  if (isDeeper(value, mostLevels)) return `it is nested deeper than ${mostLevels} levels`;
  return shape(value, '');
}

/** Goes no deeper than asked, and keeps nothing: every sample of a run of hours comes by here. */
function isDeeper(value: unknown, levels: number): boolean {
  if (levels < 0) return true;
  if (typeof value !== 'object' || value === null) return false;
  for (const each of Object.values(value)) if (isDeeper(each, levels - 1)) return true;
  return false;
}

const wrong = (at: string, what: string): string => `${at || 'the file'}: must be ${what}`;

const being =
  (what: string, fits: (value: unknown) => boolean): Shape =>
  (value, at) =>
    fits(value) ? undefined : wrong(at, what);

const text = being('a string', (value) => typeof value === 'string');
const flag = being('a boolean', (value) => typeof value === 'boolean');
/** Such that arithmetic keeps it whole: what is counted never is beyond. */
const number = being(
  'a number',
  (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
);
const count = being(
  'a number of at least 0',
  (value) => typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER,
);
/** Fields that count something, wherever they stand: no sum or share of theirs makes sense below 0. */
const counted = new Set(
  [
    'index seconds count senders offered sent expected received receivedLater lost duplicated outOfOrder late extra leaving',
    'sentPerSecond receivedPerSecond payloadBytesIn payloadBytesOut timeToAllMissed ambiguous negative',
    'requested connected failed dropped reconnected notBack openedPerSecond open held',
    'drops closed reconnects missing joins joinsFailed leaves leavesFailed skipped',
    'connections baseSending step sendingSteps cores workers plannedSteps',
    'agentsComplete clockErrorUs clockJumps lastTick outstanding',
    'started completed brokenOff times',
  ].flatMap((names) => names.split(' ')),
);
const time = being(
  'a time',
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);
const oneOf = (words: readonly string[]): Shape =>
  being(`one of ${words.join(', ')}`, (value) => words.includes(value as string));
const optional =
  (shape: Shape): Shape =>
  (value, at) =>
    value === undefined ? undefined : shape(value, at);
const nullable =
  (shape: Shape): Shape =>
  (value, at) =>
    value === null ? undefined : shape(value, at);
const list =
  (shape: Shape, most: number): Shape =>
  (value, at) => {
    if (!Array.isArray(value)) return wrong(at, 'a list');
    if (value.length > most) return wrong(at, `a list of at most ${most}`);
    return firstOf(value, (item, index) => shape(item, `${at}[${index}]`));
  };
const entries =
  (of: (object: Record<string, unknown>) => readonly (readonly [string, Shape])[]): Shape =>
  (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(at, 'an object');
    const object = value as Record<string, unknown>;
    return firstOf(of(object), ([name, shape]) =>
      shape(Object.hasOwn(object, name) ? object[name] : undefined, at ? `${at}.${name}` : name),
    );
  };
const record = (shape: Shape): Shape =>
  entries((object) => Object.keys(object).map((name) => [name, shape]));

function firstOf<T>(
  items: readonly T[],
  check: (item: T, index: number) => string | undefined,
): string | undefined {
  // Not by entries(), which makes an object of each: a run of hours has a million fields.
  for (let index = 0; index < items.length; index++) {
    const problem = check(items[index]!, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

type Names<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? Names<First> | Names<Rest>
  : Text extends `${infer Name}?`
    ? Name
    : Text;

/** Fields of `T`, of which the compiler knows all: first those that are numbers, with `?` behind what may be absent. */
const of =
  <T>() =>
  <Text extends string>(
    numbers: Names<Text> extends keyof T ? Text : never,
    others: { readonly [Name in keyof T]?: Shape } = {},
  ): Shape => {
    const named = numbers.split(' ').map((name): [string, Shape] => {
      const isOptional = name.endsWith('?');
      const field = isOptional ? name.slice(0, -1) : name;
      const shape = counted.has(field) ? count : number;
      return [field, isOptional ? optional(shape) : shape];
    });
    const all = [...named, ...(Object.entries(others) as [string, Shape][])];
    return entries(() => all);
  };
const named = (shapes: Readonly<Record<string, Shape>>): Shape =>
  entries(() => Object.entries(shapes));

const counts = record(count);
const connectTimes = of<ConnectTimes>()('p50 p99 max');
const quantiles = of<Quantiles>()('p50 p90 p95 p99');
const latency = of<LatencySummary>()('count min mean p50 p90 p95 p99 p999 p9999 max');
const percentiles = ['p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'];
const judged = named(Object.fromEntries(percentiles.map((name) => [name, nullable(number)])));
const life = of<LifeSummary>()('drops closed reconnects', {
  ...{ reconnectUs: quantiles, lifeSpanMs: quantiles, downMs: quantiles },
  sla: of<LifeSummary['sla']>()('p50 p90 p95 p99 mean'),
});
const recovery = of<Recovery>()('atS missing', {
  connectionsS: nullable(number),
  latencyS: optional(nullable(number)),
});
const generator = of<GeneratorHealth>()(
  'cpuUsPerMessage cpuShare loopDelayP99Us slipP99Us slipMaxUs? readGapMaxUs? gcShare',
  { valid: flag, cause: optional(text), suspendedUs: optional(number) },
);
const statuses: Verdict['status'][] = ['pass', 'fail', 'invalid', 'incomplete'];
const endings: Result['ending'][] = [
  ...(['completed', 'stopped', 'threshold', 'targetLost', 'workerLost', 'interrupted'] as const),
];
const verdictStatus = oneOf(statuses);
const lastStep = optional(oneOf(['last']));
const check = of<SloCheck>()('limit', {
  ...{ metric: text, value: nullable(number), met: flag },
  ...{ name: optional(text), step: lastStep, by: optional(oneOf(['inside', 'nothing'])) },
});
const rule = of<Rule>()('limit afterMs?', {
  ...{ metric: text, name: optional(text), step: lastStep, abort: optional(flag) },
});
/** Sentences in sentences go no deeper than a result may. */
const words: Shape = (value, at) => (typeof value === 'string' ? undefined : saidWords(value, at));
const saidWords = named({ text, values: list(words, 1000) });
const reason = of<VerdictReason>()('step?', {
  ...{ code: text, message: text, words: optional(words) },
  rule: optional(named({ metric: text, limit: number, name: optional(text), step: lastStep })),
});
const verdict = named({
  status: verdictStatus,
  reasons: list(reason, 100_000),
  checks: optional(list(check, 1000)),
});
const messages = {
  ...{ wireBytesIn: nullable(number), wireBytesOut: nullable(number) },
  wireBytesOutLater: optional(nullable(number)),
  ...{ latencyUs: latency, sendLatencyUs: latency, judgedUs: optional(judged) },
  ...{ timeToAllUs: optional(latency), timeToAllMissed: optional(count) },
  ...{
    latencySameAgentUs: optional(latency),
    ambiguous: optional(count),
    negative: optional(count),
  },
  histogram: text,
};
const messageNumbers =
  'senders offered skipped? sent expected received receivedLater? lost duplicated outOfOrder late extra leaving? sentPerSecond receivedPerSecond payloadBytesIn payloadBytesOut';
const sessions = optional(
  of<SessionSummary>()('started completed brokenOff waiting?', {
    ...{ brokenOffAt: counts, durationUs: latency },
  }),
);
const callText = {
  ...{ name: text, entry: optional(text), errors: counts, errorText: optional(text) },
  ...{ latencyUs: latency, judgedUs: optional(judged) },
};
const call = of<CallSummary>()(
  'skipped? sent expected received lost times? recorded? came? payloadBytesOut? ofCalls?',
  callText,
);
/** Calls of the sessions of all entries. */
const mostCalls = 1000;
const entrySummary = of<EntrySummary>()(messageNumbers, { ...messages, name: text, sessions });
const pushed = optional(
  list(
    of<PushedSummary>()('messages perSecond', { name: text, bytes: nullable(number) }),
    mostPushedNames + 1,
  ),
);
/** Entries of a mix; a scenario has fewer. */
const mostEntries = 100;
const blocks = of<StoredBlocks>()('seconds', { counts: list(text, maximumBlocks) });
const stepNumbers =
  `index seconds ${messageNumbers} agentsComplete? clockErrorUs? clockJumps?` as const;
const step = of<StepSummary>()(stepNumbers, {
  ...messages,
  latencyBlocks: optional(blocks),
  entries: optional(list(entrySummary, mostEntries)),
  ...{ calls: optional(list(call, mostCalls)), sessions, pushed },
  ...{ errors: counts, warmupErrors: optional(counts) },
  generator,
  connections: optional(of<StepConnections>()('requested open held?')),
  recoveries: optional(list(recovery, 1000)),
  membership: optional(
    of<MembershipSummary>()('joins joinsFailed leaves leavesFailed skipped', {
      ...{ joinUs: latency, leaveUs: latency },
    }),
  ),
  verdict,
});
const agentStep = of<AgentStep>()(
  'index sent received p99Us? cpuShare loopDelayP99Us slipP99Us gcShare',
);
const agentIn = (statuses: readonly string[]): Shape =>
  of<AgentProgress>()('index lastTick clockErrorUs clockJumps? share', {
    ...{ node: text, status: oneOf(statuses), lastStep: optional(agentStep) },
  });
const mostAgents = 1000;
const target = of<TargetSummary>()('connected failed dropped received', {
  ...{ url: text, connectUs: connectTimes, latencyUs: latency },
});
const drop = of<DroppedConnection>()('connection atS openS', { errorClass: text, text });
const connections = of<ConnectionSummary>()(
  'requested connected failed dropped reconnected notBack? openedPerSecond?',
  {
    connectUs: connectTimes,
    connectPhasesUs: optional(
      named(Object.fromEntries(connectPhases.map((phase) => [phase, optional(connectTimes)]))),
    ),
    pings: optional(of<NonNullable<ConnectionSummary['pings']>>()('sent received')),
    life: optional(life),
    targets: optional(list(target, 1000)),
    drops: optional(list(drop, 10_000)),
  },
);

/** How the parser keeps a parameter, by the type of its key. */
const keptAs: Readonly<Record<ParameterSpec['type'], Shape>> = {
  ...{ size: number, duration: number, share: number, rate: number, count: number, number },
  ...{ choice: text, text, list: text, steps: text, flag },
};

/** Parameters of use cases as the parser keeps them; those this version does not know may be anything. */
const parameters = named(
  Object.fromEntries(
    [...allParameters].map(([name, { spec }]) => [name, optional(keptAs[spec.type])]),
  ),
);
const scenario = of<Scenario>()('connections baseSending step sendingSteps', {
  entries: list(named({ name: text, parameters }), 10_000),
  stages: optional(
    of<StagesSpec>()('from', {
      stages: list(of<StageSpec>()('to overMs holdMs'), maximumStages),
    }),
  ),
  pushes: optional(
    list(of<PushSpec>()('perSecond bytes', { name: text, to: oneOf(pushAudiences) }), mostPushes),
  ),
  // Objectives register themselves: those of now are asked for.
  slo: entries((slo) => [
    ['latencyUs', counts],
    ['rules', optional(list(rule, 1000))],
    ...Object.keys(slo)
      .filter((metric) => isMetric(metric))
      .map((metric) => [metric, number] as const),
  ]),
});

const estimate = {
  ...{ unit: nullable(number), app_servers: nullable(number) },
  server_connections_per_app_server: nullable(number),
  binding: named({ name: text, utilisation: number, text }),
  notes: list(text, 1000),
  planned: optional(named({ exceeded: flag, offered: flag, sentence: text })),
};

const broken = of<BrokenObjective>()('limit', {
  ...{ metric: text, name: optional(text), value: nullable(number) },
});
const searchStep = of<SearchStep>()('index value lost', {
  ...{ status: verdictStatus, p50: nullable(number), p99: nullable(number) },
  ...{ broken: optional(broken), tooShort: optional(flag) },
});
const search = of<SearchSummary>()('from to precision budgetMs elapsedMs', {
  ...{ of: oneOf(searchKinds), ended: oneOf(searchEnds), ceiling: optional(oneOf(['pauses'])) },
  ...{ low: nullable(number), high: nullable(number), unit: nullable(number) },
  broken: nullable(broken),
  steps: list(searchStep, 10_000),
});

const estimateLoad = of<EstimateLoad>()(
  'in_messages_per_s out_messages_per_s in_bytes_per_s out_bytes_per_s',
  { kind: text, table: text },
);
/** What the readers of `calibrations.json` rely on. */
export const calibrationsShape = named({
  schema: oneOf(['signalr-bench-calibrations/1']),
  calibrations: list(
    of<Calibration>()('unit', {
      ...{ at: time, scenario: text, result: text, product: oneOf(azureServices) },
      loads: list(estimateLoad, 100),
    }),
    1000,
  ),
});

/** What the readers of `baselines.json` rely on. */
export const baselinesShape = named({
  schema: oneOf(['signalr-bench-baselines/1']),
  baselines: record(text),
});

/** Both ends of an interval. */
const pair: Shape = (value, at) =>
  Array.isArray(value) && value.length === 2
    ? list(number, 2)(value, at)
    : wrong(at, 'two numbers');

const changes: Change[] = ['same', 'better', 'worse'];
const change = optional(oneOf(changes));
const comparedNumber = of<ComparedNumber>()('a b', { change });
const comparedPercentile = named({
  ...{ a: nullable(number), b: nullable(number), ratio: nullable(number), change },
  ...{ interval: nullable(pair), without: optional(text) },
});
const comparedCall = named({
  ...{ name: text, entry: optional(text), lost: comparedNumber },
  ...{ p50: optional(comparedNumber), p99: optional(comparedNumber) },
} satisfies Readonly<Record<keyof ComparedCall, Shape>>);
const comparedSessions = named({
  ...{ entry: optional(text), started: comparedNumber, completed: comparedNumber },
  ...{ brokenOff: comparedNumber, p50: optional(comparedNumber), p99: optional(comparedNumber) },
} satisfies Readonly<Record<keyof ComparedSessions, Shape>>);
const comparedRun = named({ id: text, name: text, startedAt: text, tool: text });
const comparison = of<Comparison>()('tolerance confidence', {
  ...{ verdict: oneOf([...changes, 'unlike']), sentence: text, a: comparedRun, b: comparedRun },
  steps: list(
    of<ComparedStep>()('index senders', {
      ...{ verdict: change, problem: optional(text) },
      latency: named(
        Object.fromEntries(comparedKeys.map((key) => [key, optional(comparedPercentile)])),
      ),
      ...{ lost: comparedNumber, lostShare: comparedNumber, seconds: comparedNumber },
      ...{ sentPerSecond: comparedNumber, receivedPerSecond: comparedNumber },
      cpuShare: comparedNumber,
      calls: optional(list(comparedCall, mostCalls)),
      sessions: optional(list(comparedSessions, mostEntries)),
    }),
    1000,
  ),
  differences: list(named({ what: text, a: text, b: text }), 1000),
  reasons: list(text, 1000),
});

const units: ObservedSeries['unit'][] = ['share', 'bytes', 'count', 'perSecond'];
const findingCodes: ObservedFinding['code'][] = ['queueGrew', 'cpuFull', 'gcHeavy', 'loadFull'];
const observed = named({
  series: list(
    named({
      ...{ name: text, unit: oneOf(units) },
      steps: list(of<ObservedStep>()('index mean max last'), 10_000),
      ...{ points: list(pair, 10_000), everyS: optional(number) },
    } satisfies Readonly<Record<keyof ObservedSeries, Shape>>),
    maximumSeries,
  ),
  findings: list(
    of<ObservedFinding>()('step fromS value', { code: oneOf(findingCodes), name: text }),
    100_000,
  ),
  problems: list(text, 1000),
} satisfies Readonly<Record<keyof Observed, Shape>>);

const repeatedPercentile = named({
  ...{ values: list(nullable(number), 1000), median: nullable(number) },
  interval: nullable(pair),
});
const repeatedStep = of<RepeatedStep>()('step senders', {
  of: list(number, 1000),
  latency: named(
    Object.fromEntries(comparedKeys.map((key) => [key, optional(repeatedPercentile)])),
  ),
  outliers: optional(
    list(
      of<OutlyingRepeat>()('step median', { metric: oneOf(comparedKeys), value: nullable(number) }),
      1000,
    ),
  ),
});

/** What the readers of a `result.json` rely on. */
export const resultShape = of<Result>()('plannedSteps?', {
  ...{
    schema: text,
    id: text,
    scenarioName: optional(text),
    tool: named({ name: text, version: text }),
  },
  ...{ startedAt: time, endedAt: time, endingMessage: optional(text) },
  ending: oneOf(endings),
  verdict,
  scenario,
  target: named({ kind: text, url: text, dialect: optional(text), emulated: optional(flag) }),
  machine: of<Result['machine']>()('cores workers', { node: text, platform: text }),
  connections,
  agents: optional(list(agentIn(agentStatuses), mostAgents)),
  steps: list(step, 10_000),
  errors: counts,
  errorExamples: list(named({ errorClass: text, text }), 10_000),
  search: optional(search),
  baseline: optional(comparison),
  observed: optional(observed),
  repeats: optional(list(repeatedStep, 10_000)),
  estimate: nullable(named(estimate)),
  recommendation: nullable(
    of<NonNullable<Result['recommendation']>>()('step', {
      ...estimate,
      headline: text,
      reasons: list(text, 1000),
      reasonWords: optional(list(words, 1000)),
      stepStatus: oneOf(['pass', 'fail']),
    }),
  ),
  ...{ estimateProblem: optional(text), recommendationProblem: optional(text) },
});

const progressNumbers =
  'senders offered skipped? sent expected received receivedLater? outstanding sentPerSecond receivedPerSecond';
const entryProgress = of<EntryProgress>()(progressNumbers, {
  ...{ name: text, latencyUs: latency, judgedUs: optional(judged), sessions },
});
const callProgress = of<CallProgress>()(
  'skipped? sent expected received outstanding times? recorded? came? payloadBytesOut? ofCalls?',
  callText,
);
const progress = of<StepProgress>()(
  `${progressNumbers} index elapsedS totalS duplicated outOfOrder errors? warmupErrors? payloadBytesIn? payloadBytesOut? clockErrorUs? clockJumps?` as const,
  {
    ...{ over: flag, verdict: optional(verdictStatus) },
    ...{ latencyUs: latency, judgedUs: optional(judged) },
    waiting: optional(of<Waiting>()('oldestS silentS')),
    // Earlier versions wrote other members; see `parseSample`.
    missed: optional(
      named({ message: optional(text), words: optional(words), isFinal: optional(flag) }),
    ),
    latencyClasses: optional(list(number, 11)),
    entries: optional(list(entryProgress, mostEntries)),
    ...{ calls: optional(list(callProgress, mostCalls)), sessions, pushed },
    latencySameAgentUs: optional(latency),
    generator,
  },
);
const interval = of<NonNullable<Snapshot['interval']>>()(
  'seconds receivingSeconds offered sent received',
  { latencyUs: latency },
);

/** Values of a moment by names, as many as there are series. */
const values: Shape = (value, at) =>
  Object.keys(value ?? {}).length > maximumSeries
    ? wrong(at, `an object of at most ${maximumSeries}`)
    : record(number)(value, at);

/** What the readers of one line of `samples.jsonl` rely on. */
export const sampleShape = of<Snapshot>()('atMs tick stepCount', {
  phase: text,
  connections: of<Snapshot['connections']>()(
    'requested connected failed dropped connectP99Us takingPart? reconnected?',
  ),
  step: optional(progress),
  interval: optional(interval),
  ...{ errors: counts, complete: flag },
  agents: optional(list(agentIn(liveAgentStatuses), mostAgents)),
  observed: optional(values),
  problem: optional(text),
  search: optional(
    of<SearchProgress>()('value', {
      ...{ of: oneOf(searchKinds), low: nullable(number), high: nullable(number) },
    }),
  ),
});
