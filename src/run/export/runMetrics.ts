/** A run as metrics: OpenMetrics of a result, the live endpoint, and OTLP. */
import { sortErrorCounts } from '../../base/errorClass';
import {
  shownPercentileUs,
  shownPercentiles,
  type LatencySummary,
} from '../../measure/latencySummary';
import type { ObservedSeries, ObservedValues } from '../../measure/observed';
import { agentColumns, type AgentColumn } from '../../measure/show/agentTable';
import { callRows, sessionRows } from '../../measure/show/callTable';
import { progressRow, stepRow, type StepRow } from '../../measure/show/stepColumns';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import { liveAgentStatuses, type AgentProgress, type Verdict } from '../../measure/summary';
import type { Result } from '../../results/result';
import { plainLine, scenarioNameFromId } from './plainText';

export interface RunMetric {
  /** Words with dots, below `signalr_bench`. */
  readonly name: string;
  /** `state`: 1 for one label value, else 0; `info`: always 1. */
  readonly kind: 'counter' | 'gauge' | 'summary' | 'state' | 'info';
  readonly unit?: 'seconds' | 'bytes' | 'ratio';
  readonly help: string;
  readonly points: readonly MetricPoint[];
}

export interface MetricPoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly part?: 'count' | 'sum';
}

interface RunNumbers {
  readonly info: Readonly<Record<string, string>>;
  readonly connections: Readonly<Record<string, number>>;
  readonly steps: readonly StepRow[];
  readonly observed?: ObservedValues;
  readonly observedSteps?: readonly ObservedSeries[];
  readonly calls?: readonly StepRow[];
  readonly sessions?: readonly StepRow[];
  readonly errors: Readonly<Record<string, number>>;
  readonly agents?: readonly AgentProgress[];
  readonly lastSecond?: LatencySummary | undefined;
  readonly phase?: string;
  readonly verdict?: Verdict['status'];
  readonly units?: number | null | undefined;
  readonly seconds?: number;
}

export function resultNumbers(result: Result): RunNumbers {
  const { connections, steps, errors, verdict, recommendation, startedAt, endedAt } = result;
  const { agents } = result;
  const { requested, connected, failed, dropped, reconnected } = connections;
  return {
    info: runInfoLabels(result),
    connections: { requested, connected, failed, dropped, reconnected },
    steps: steps.map(stepRow),
    calls: steps.flatMap(callRows),
    sessions: steps.flatMap(sessionRows),
    errors,
    ...(agents && { agents }),
    observedSteps: result.observed?.series ?? [],
    verdict: verdict.status,
    units: recommendation?.unit,
    seconds: Math.max(0, (Date.parse(endedAt) - Date.parse(startedAt)) / 1000),
  };
}

export const runInfoLabels = ({
  id,
  tool,
  target,
  scenario,
}: {
  readonly id: string;
  readonly tool: Pick<Result['tool'], 'version'>;
  readonly target: Pick<Result['target'], 'url'>;
  readonly scenario: Pick<Result['scenario'], 'entries'>;
}): Record<string, string> => ({
  id,
  scenario: scenarioNameFromId(id),
  tool_version: tool.version,
  target: target.url,
  use_case: [...new Set(scenario.entries.map(({ name }) => name))].slice(0, 10).join('+'),
});

const mostLiveSteps = 100;

export class LiveNumbers {
  private readonly steps = new Map<number, StepProgress>();
  private latest: Snapshot | undefined;
  private agents: readonly AgentProgress[] = [];
  info: Readonly<Record<string, string>> = {};

  update(snapshot: Snapshot): void {
    this.latest = snapshot;
    this.agents = snapshot.agents ?? this.agents;
    const { step } = snapshot;
    if (!step) return;
    this.steps.set(step.index, step);
    const [oldest] = this.steps.keys();
    if (this.steps.size > mostLiveSteps) this.steps.delete(oldest!);
  }

  get numbers(): RunNumbers {
    const { latest, info, agents } = this;
    const { requested = 0, connected = 0, failed = 0, dropped = 0 } = latest?.connections ?? {};
    return {
      info,
      connections: {
        ...{ requested, connected, failed, dropped },
        reconnected: latest?.connections.reconnected ?? 0,
      },
      steps: [...this.steps.values()].map(progressRow),
      calls: [...this.steps.values()].flatMap(callRows),
      sessions: [...this.steps.values()].flatMap(sessionRows),
      errors: latest?.errors ?? {},
      agents,
      observed: latest?.observed ?? {},
      lastSecond: latest?.interval?.latencyUs,
      phase: latest?.phase ?? 'connecting',
      seconds: (latest?.atMs ?? 0) / 1000,
    };
  }
}

const statuses: readonly Verdict['status'][] = ['pass', 'fail', 'invalid', 'incomplete'];
const phases: readonly string[] = [
  ...['connecting', 'preparing', 'warmup', 'measuring', 'draining', 'closing', 'done'],
];

const quantiles = [
  ['p50', '0.5'],
  ['p90', '0.9'],
  ['p95', '0.95'],
  ['p99', '0.99'],
  ['p999', '0.999'],
  ['p9999', '0.9999'],
  ['max', '1'],
] as const;

type Count = readonly [name: string, key: keyof StepRow, help: string];

const counts: readonly Count[] = [
  ['messages.offered', 'offered', 'Messages that were due at senders that were connected.'],
  [
    'messages.skipped',
    'skipped',
    'Messages that were due at senders, or for clients, that were not connected.',
  ],
  ['messages.sent', 'sent', 'Messages that have left.'],
  ['deliveries.expected', 'expected', 'Receivers that were members when a message was sent.'],
  ['deliveries.received', 'received', 'Expected deliveries that came in time, each once.'],
  [
    'deliveries.received_later',
    'receivedLater',
    'Those of them that came after the measured time, before the drain was over.',
  ],
  [
    'deliveries.lost',
    'lost',
    'Deliveries that were expected and had not come by the end of the drain.',
  ],
  ['deliveries.duplicated', 'duplicated', 'Deliveries that had arrived before.'],
  ['deliveries.out_of_order', 'outOfOrder', 'Deliveries that arrived before an earlier one.'],
  ['deliveries.late', 'late', 'Lost deliveries that came after the drain.'],
  ['deliveries.extra', 'extra', 'Deliveries to connections that should not have got them.'],
  ['deliveries.leaving', 'leaving', 'Deliveries to receivers that were joining or leaving.'],
  ['step.errors', 'errors', 'Errors of the measured time of a step.'],
];
const callCounts: readonly Count[] = [
  ['call.skipped', 'skipped', 'Calls that were due at senders that were not connected.'],
  ['call.sent', 'sent', 'Calls of sessions that have left, by call.'],
  ['call.expected', 'expected', 'Answers and callbacks that calls of sessions ask for.'],
  ['call.received', 'received', 'Those of them that have arrived, each once.'],
  ['call.lost', 'lost', 'Those of them that had not arrived at the end.'],
  ['call.errors', 'errors', 'Errors of calls of sessions.'],
  ['call.broken_off', 'brokenOff', 'Sessions that ended at a call before their time.'],
];
const bytes: readonly Count[] = [
  ['payload.in', 'payloadBytesIn', 'Payload from clients to the service.'],
  ['payload.out', 'payloadBytesOut', 'Payload from the service to clients.'],
  ['wire.in', 'wireBytesIn', 'Bytes on the wire from clients to the service.'],
  ['wire.out', 'wireBytesOut', 'Bytes on the wire from the service to clients.'],
];

/** Without metrics that have no value. */
export const createRunMetrics = (run: RunNumbers): RunMetric[] =>
  allMetrics(run).filter(({ points }) => points.length > 0);

/** Every metric, for those who name them in advance. */
export const listAllMetrics = (): RunMetric[] =>
  allMetrics({ info: {}, connections: {}, steps: [], errors: {} });

function allMetrics(run: RunNumbers): RunMetric[] {
  const {
    info,
    connections,
    steps,
    calls = [],
    sessions = [],
    errors,
    lastSecond,
    agents = [],
  } = run;
  const { observed = {}, observedSteps = [] } = run;
  const states = Object.entries(connections).map(([state, count]): Point => [{ state }, count]);
  const classes = sortErrorCounts(errors).map(([name, count]): Point => [{ class: name }, count]);
  const last = lastSecond === undefined ? [] : quantilePoints(lastSecond, {});
  const ofGenerator = (value: (health: NonNullable<StepRow['generator']>) => number): Point[] =>
    steps.map((row) => [stepLabel(row), row.generator && value(row.generator)]);
  const cpuShares = ofGenerator(({ cpuShare }) => cpuShare);
  const valid = ofGenerator((health) => Number(health.valid));
  return [
    {
      ...{ name: 'run', kind: 'info', help: 'What was run.' },
      points: [{ labels: texts(info), value: 1 }],
    },
    gauge('run.duration', 'Time since the run began.', [[{}, run.seconds]], 'seconds'),
    stateOf('run.phase', 'What the run does now.', phases, run.phase),
    stateOf('run.verdict', 'How the run was judged.', statuses, run.verdict),
    gauge('units', 'Units that the measured traffic needs.', [[{}, run.units]]),
    gauge('connections', 'Connections by what became of them.', states),
    counter('errors', 'Errors by class, those of connecting included.', classes),
    gauge('step.senders', 'Connections that send.', each(steps, 'senders')),
    ...counts.map(([name, key, help]) => counter(name, help, each(steps, key))),
    ...bytes.map(([name, key, help]) => counter(name, help, each(steps, key), 'bytes')),
    gauge('sent.rate', 'Messages sent a second.', each(steps, 'sentPerSecond')),
    gauge('received.rate', 'Deliveries a second.', each(steps, 'receivedPerSecond')),
    latencyOf(steps),
    ...callCounts.map(([name, key, help]) => counter(name, help, each(calls, key))),
    gauge('call.latency', callHelp, calls.flatMap(callLatency), 'seconds'),
    counter('sessions', 'Sessions by what became of them.', sessions.flatMap(sessionPoints)),
    gauge('session.duration', durationHelp, sessions.flatMap(durationPoints), 'seconds'),
    gauge('time_to_all', timeToAllHelp, steps.flatMap(toAllPoints), 'seconds'),
    counter('messages.not_to_all', notToAllHelp, each(steps, 'timeToAllMissed')),
    gauge('latency.judged', judgedHelp, steps.flatMap(judgedPoints), 'seconds'),
    gauge('latency.last', 'Latency of what arrived in the last second.', last, 'seconds'),
    gauge('observed', observedHelp, Object.entries(observed).map(observedPoint)),
    ...(['mean', 'max'] as const).map((of) =>
      gauge(
        `observed.${of}`,
        `${observedHelp} The ${of} of a step.`,
        observedSteps.flatMap(stepsSeen(of)),
      ),
    ),
    gauge('generator.cpu', 'Share of a core that the busiest worker uses.', cpuShares, 'ratio'),
    gauge('generator.valid', '0 where the generator was the bottleneck.', valid),
    agentStates(agents),
    ...agentColumns.map((column) => ofAgents(column, agents)),
  ];
}

const observedHelp = 'Of the server beside the load: bytes, shares, counts or rates by its series.';
const observedPoint = ([series, value]: readonly [string, number]): Point => [{ series }, value];
const stepsSeen =
  (of: 'mean' | 'max') =>
  ({ name, steps }: ObservedSeries): Point[] =>
    steps.map((step) => [{ step: String(step.index), series: name }, step[of]]);

const callHelp = 'Latency of a call of sessions, from the time it was due.';
const durationHelp = 'How long sessions took that were completed.';
const notToAllHelp = 'Messages that a receiver did not get.';
const timeToAllHelp = 'Time until the last receiver of a message had it.';
const judgedHelp = 'Latency over what was expected; infinite where the rank was lost.';

type Labels = Readonly<Record<string, string>>;
type Point = readonly [labels: Labels, value: number | null | undefined];

const texts = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, plainLine(text, 200)]));

const stepLabel = ({ index, call, name }: StepRow): Labels => ({
  step: String(index),
  ...(call !== undefined && { call }),
  ...(name !== undefined && { use_case: name }),
});

const callLatency = (row: StepRow): Point[] =>
  row.latencyUs ? quantilePoints(row.latencyUs, stepLabel(row)) : [];

const durationPoints = (row: StepRow): Point[] =>
  row.sessions ? quantilePoints(row.sessions.durationUs, stepLabel(row)) : [];

const sessionPoints = (row: StepRow): Point[] =>
  row.sessions === undefined
    ? []
    : ([['started'], ['completed'], ['brokenOff', 'broken_off'], ['waiting']] as const).map(
        ([key, state = key]) => [{ ...stepLabel(row), state }, row.sessions?.[key]],
      );

const each = (steps: readonly StepRow[], key: keyof StepRow): Point[] =>
  steps.map((row) => [stepLabel(row), row[key] as number | null | undefined]);

function pointsOf(points: readonly Point[]): MetricPoint[] {
  return points.flatMap(([labels, value]) =>
    value === null || value === undefined || Number.isNaN(value)
      ? []
      : [{ labels: texts(labels), value }],
  );
}

const metric =
  (kind: 'counter' | 'gauge') =>
  (name: string, help: string, points: readonly Point[], unit?: RunMetric['unit']): RunMetric => ({
    ...{ name, kind, help, points: pointsOf(points), ...(unit && { unit }) },
  });
const counter = metric('counter');
const gauge = metric('gauge');

function stateOf(
  name: string,
  help: string,
  states: readonly string[],
  now: string | undefined,
): RunMetric {
  const label = name.split('.').at(-1)!;
  const points: Point[] =
    now === undefined ? [] : states.map((s) => [{ [label]: s }, Number(s === now)]);
  return { name, kind: 'state', help, points: pointsOf(points) };
}

const mostAgents = 200;

const agentLabels = ({ index, node, lastStep }: AgentProgress): Labels => ({
  ...{ agent: String(index), node },
  ...(lastStep && { step: String(lastStep.index) }),
});

function ofAgents(
  { id, metric: name, kind, value, unit, help }: AgentColumn,
  agents: readonly AgentProgress[],
): RunMetric {
  const points = agents.slice(0, mostAgents).map((agent): Point => {
    const found = value(agent);
    const isUs = found !== undefined && id.endsWith('Us');
    return [agentLabels(agent), isUs ? seconds(found) : found];
  });
  return (kind === 'counter' ? counter : gauge)(`agent.${name}`, help, points, unit);
}

function agentStates(agents: readonly AgentProgress[]): RunMetric {
  const points = agents
    .slice(0, mostAgents)
    .flatMap(({ index, node, status }) =>
      liveAgentStatuses.map((state): Point => [
        { agent: String(index), node, state },
        Number(state === status),
      ]),
    );
  return { name: 'agent.state', kind: 'state', help: agentStateHelp, points: pointsOf(points) };
}

const agentStateHelp = 'How an agent stands; silent is one that may come back.';

const quantilePoints = (summary: LatencySummary, labels: Labels): Point[] =>
  quantiles.map(([key, quantile]) => {
    const us = shownPercentileUs(summary, key);
    return [{ ...labels, quantile }, us === undefined ? undefined : seconds(us)];
  });

const toAllPoints = (row: StepRow): Point[] =>
  row.timeToAllUs ? quantilePoints(row.timeToAllUs, stepLabel(row)) : [];

const seconds = (us: number): number => Number((us / 1e6).toPrecision(12));

function latencyOf(steps: readonly StepRow[]): RunMetric {
  const points = steps.flatMap(({ latencyUs, ...row }) => {
    if (latencyUs === undefined || latencyUs.count === 0) return [];
    const labels = stepLabel(row);
    return [
      ...pointsOf(quantilePoints(latencyUs, labels)),
      { labels, value: latencyUs.count, part: 'count' as const },
      { labels, value: seconds(latencyUs.count * latencyUs.mean), part: 'sum' as const },
    ];
  });
  const help = 'Latency of what was received, from the time a message was due.';
  return { name: 'latency', kind: 'summary', unit: 'seconds', help, points };
}

function judgedPoints(row: StepRow): Point[] {
  const shown = shownPercentiles(row);
  if (shown === undefined) return [];
  return quantiles.map(([key, quantile]) => {
    const us = shown[key];
    const value = us === undefined ? undefined : us === null ? Infinity : seconds(us);
    return [{ ...stepLabel(row), quantile }, value];
  });
}

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

export const resultAsOpenMetrics = (result: Result): string =>
  formatOpenMetrics(createRunMetrics(resultNumbers(result)));

/** Source: OpenMetrics 1.0, "Text format"; sections "ABNF", "Escaping" and "Metric types". */
export function formatOpenMetrics(metrics: readonly RunMetric[]): string {
  return [...metrics.flatMap(familyLines), '# EOF', ''].join('\n');
}

const types = {
  counter: 'counter',
  gauge: 'gauge',
  summary: 'summary',
  state: 'stateset',
  info: 'info',
} as const;

function familyLines({ name: dotted, kind, unit, help, points }: RunMetric): string[] {
  const family = ['signalr_bench', ...dotted.split('.'), ...(unit ? [unit] : [])].join('_');
  return [
    `# TYPE ${family} ${types[kind]}`,
    ...(unit ? [`# UNIT ${family} ${unit}`] : []),
    `# HELP ${family} ${escaped(help)}`,
    ...points.map((point) => sampleLine(family, kind, point)),
  ];
}

function sampleLine(family: string, kind: RunMetric['kind'], point: MetricPoint): string {
  const { labels, value, part } = point;
  const suffix = part ?? ({ counter: 'total', info: 'info' } as Record<string, string>)[kind];
  const named = Object.entries(labels).map(([label, text]) => {
    // The label of a state set is named like its family.
    const own = kind === 'state' && family.endsWith(`_${label}`) ? family : label;
    return `${own}="${escaped(text)}"`;
  });
  const set = named.length === 0 ? '' : `{${named.join(',')}}`;
  return `${family}${suffix === undefined ? '' : `_${suffix}`}${set} ${numberText(value)}`;
}

const escaped = (text: string): string =>
  text.replace(/[\\"\n]/g, (found) => (found === '\n' ? '\\n' : `\\${found}`));

const numberText = (value: number): string => (value === Infinity ? '+Inf' : String(value));
