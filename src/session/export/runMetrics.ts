/** A run as metrics: the same for the stored result in OpenMetrics, the endpoint of a run that goes on, and OTLP. */
import { latencyAt, shownLatency, type LatencySummary } from '../../measure/latencySummary';
import { rowOfProgress, rowOfStep, type StepRow } from '../../measure/show/stepColumns';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import type { Verdict } from '../../measure/summary';
import type { Result } from '../../results/result';
import { plainLine, scenarioName } from './plainText';

export interface RunMetric {
  /** Below `signalr_bench`; dots part its words. */
  readonly name: string;
  /** A `state` is 1 for one value of its label and 0 for the others; `info` is always 1. */
  readonly kind: 'counter' | 'gauge' | 'summary' | 'state' | 'info';
  readonly unit?: 'seconds' | 'bytes' | 'ratio';
  /** One sentence. */
  readonly help: string;
  readonly points: readonly MetricPoint[];
}

export interface MetricPoint {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** Of a summary: the part that is no quantile. */
  readonly part?: 'count' | 'sum';
}

/** What is known of a run, while it goes on or when it is over. */
export interface RunNumbers {
  readonly info: Readonly<Record<string, string>>;
  readonly connections: Readonly<Record<string, number>>;
  readonly steps: readonly StepRow[];
  readonly errors: Readonly<Record<string, number>>;
  /** Of the last second, where something was measured in it. */
  readonly lastSecond?: LatencySummary | undefined;
  readonly phase?: string;
  readonly verdict?: Verdict['status'];
  readonly units?: number | null | undefined;
  readonly seconds?: number;
}

export function numbersOfResult(result: Result): RunNumbers {
  const { connections, steps, errors, verdict, recommendation, startedAt, endedAt } = result;
  const { requested, connected, failed, dropped, reconnected } = connections;
  return {
    info: infoOf(result),
    connections: { requested, connected, failed, dropped, reconnected },
    steps: steps.map(rowOfStep),
    errors,
    verdict: verdict.status,
    units: recommendation?.unit,
    seconds: Math.max(0, (Date.parse(endedAt) - Date.parse(startedAt)) / 1000),
  };
}

/** What a run is, in labels. */
export const infoOf = ({
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
  scenario: scenarioName(id),
  tool_version: tool.version,
  target: target.url,
  use_case: [...new Set(scenario.entries.map(({ name }) => name))].slice(0, 10).join('+'),
});

/** Steps that are kept while a run goes on: a reader has seen the older ones. */
const mostLiveSteps = 100;

/** Adds up the snapshots of a run that goes on: steps that are over stay as they were last seen. */
export class LiveNumbers {
  private readonly steps = new Map<number, StepProgress>();
  private latest: Snapshot | undefined;
  info: Readonly<Record<string, string>> = {};

  update(snapshot: Snapshot): void {
    this.latest = snapshot;
    const { step } = snapshot;
    if (!step) return;
    this.steps.set(step.index, step);
    const [oldest] = this.steps.keys();
    if (this.steps.size > mostLiveSteps) this.steps.delete(oldest!);
  }

  get numbers(): RunNumbers {
    const { latest, info } = this;
    const { requested = 0, connected = 0, failed = 0, dropped = 0 } = latest?.connections ?? {};
    return {
      info,
      connections: {
        ...{ requested, connected, failed, dropped },
        reconnected: latest?.connections.reconnected ?? 0,
      },
      steps: [...this.steps.values()].map(rowOfProgress),
      errors: latest?.errors ?? {},
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

/** Counts of a step. */
const counts: readonly Count[] = [
  ['messages.offered', 'offered', 'Messages that were due at senders that were connected.'],
  ['messages.sent', 'sent', 'Messages that have left.'],
  ['deliveries.expected', 'expected', 'Receivers that were members when a message was due.'],
  ['deliveries.received', 'received', 'Expected deliveries that have arrived, each once.'],
  ['deliveries.lost', 'lost', 'Deliveries that were expected and had not arrived at the end.'],
  ['deliveries.duplicated', 'duplicated', 'Deliveries that had arrived before.'],
  ['deliveries.out_of_order', 'outOfOrder', 'Deliveries that arrived before an earlier one.'],
  ['deliveries.late', 'late', 'Deliveries that arrived after the drain.'],
  ['deliveries.extra', 'extra', 'Deliveries to connections that were not meant to get them.'],
  ['step.errors', 'errors', 'Errors of the measured time of a step.'],
];
const bytes: readonly Count[] = [
  ['payload.in', 'payloadBytesIn', 'Payload from clients to the service.'],
  ['payload.out', 'payloadBytesOut', 'Payload from the service to clients.'],
  ['wire.in', 'wireBytesIn', 'Bytes on the wire from clients to the service.'],
  ['wire.out', 'wireBytesOut', 'Bytes on the wire from the service to clients.'],
];

/** Metrics without a value are left out; no value is NaN. */
export const metricsOf = (run: RunNumbers): RunMetric[] =>
  allMetrics(run).filter(({ points }) => points.length > 0);

/** Every metric there is, for those who must name them before there are values. */
export const knownMetrics = (): RunMetric[] =>
  allMetrics({ info: {}, connections: {}, steps: [], errors: {} });

function allMetrics(run: RunNumbers): RunMetric[] {
  const { info, connections, steps, errors, lastSecond } = run;
  const states = Object.entries(connections).map(([state, count]): Point => [{ state }, count]);
  const classes = Object.entries(errors)
    .slice(0, mostClasses)
    .map(([name, count]): Point => [{ class: name }, count]);
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
    gauge('time_to_all', timeToAllHelp, steps.flatMap(toAllPoints), 'seconds'),
    counter('messages.not_to_all', notToAllHelp, each(steps, 'timeToAllMissed')),
    gauge('latency.judged', judgedHelp, steps.flatMap(judgedPoints), 'seconds'),
    gauge('latency.last', 'Latency of what arrived in the last second.', last, 'seconds'),
    gauge('generator.cpu', 'Share of a core that the busiest worker uses.', cpuShares, 'ratio'),
    gauge('generator.valid', '0 where the generator was the bottleneck.', valid),
  ];
}

const notToAllHelp = 'Messages that a receiver did not get.';
const timeToAllHelp = 'Time until the last receiver of a message had it.';
const judgedHelp = 'Latency over what was expected; infinite where the rank was lost.';
const mostClasses = 100;

type Labels = Readonly<Record<string, string>>;
type Point = readonly [labels: Labels, value: number | null | undefined];

const texts = (labels: Labels): Labels =>
  Object.fromEntries(Object.entries(labels).map(([name, text]) => [name, plainLine(text, 200)]));

const stepLabel = ({ index }: StepRow): Labels => ({ step: String(index) });

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

const quantilePoints = (summary: LatencySummary, labels: Labels): Point[] =>
  quantiles.map(([key, quantile]) => {
    const us = latencyAt(summary, key);
    return [{ ...labels, quantile }, us === undefined ? undefined : seconds(us)];
  });

const toAllPoints = (row: StepRow): Point[] =>
  row.timeToAllUs ? quantilePoints(row.timeToAllUs, stepLabel(row)) : [];

/** Without the crumbs of binary fractions. */
const seconds = (us: number): number => Number((us / 1e6).toPrecision(12));

/** Of what was received. */
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
  const shown = shownLatency(row);
  if (shown === undefined) return [];
  return quantiles.map(([key, quantile]) => {
    const us = shown[key];
    const value = us === undefined ? undefined : us === null ? Infinity : seconds(us);
    return [{ ...stepLabel(row), quantile }, value];
  });
}
