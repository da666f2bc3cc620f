import { totalErrors } from '../../base/errorClass';
import { latencyWords, formatCount, formatShare, formatBytes } from '../../base/units';
import {
  shownPercentiles,
  shownPercentileUs,
  type LatencySummary,
  type ShownPercentiles,
} from '../latencySummary';
import type { PushedSummary } from '../summary';
import { isDisturbance } from '../judge/reason';
import type { StepProgress } from '../snapshot';
import type {
  GeneratorHealth,
  MessageSummary,
  SessionSummary,
  StepSummary,
  VerdictStatus,
} from '../summary';

/** `panel`: all tables that have room, in the panel and in reports. */
type StepView = 'terminal' | 'log' | 'csv' | 'panel';

/** Null is a delivery that was lost; what is not known (yet) is undefined. */
type StepCell = number | string | null | undefined;

export const tooFewMark = '–';

/** Each view writes values in its own way, by their unit: `4,100`, `41ms`, `41 ms`; CSV has them as they are. */
export interface StepColumn {
  readonly id: string;
  /** In English; tables of texts begin it with a small letter, the panel translates it. */
  readonly head: string;
  readonly unit: 'count' | 'perSecond' | 'latency' | 'verdict' | 'word' | 'size';
  readonly views: readonly StepView[];
  readonly value: (row: StepRow) => StepCell;
  /** Place in tables, from the left; where there is no room, the last are left out. CSV has the order of the list. */
  readonly place?: number;
  /** In the terminal; without it as wide as its head, and 8 characters at least. */
  readonly terminal?: {
    readonly width: number;
    readonly head?: string;
    readonly decimals?: number;
  };
  /** In the log, where the value before its head does not say enough; undefined says nothing. */
  readonly say?: (row: StepRow) => string | undefined;
  /** Not in tables of which no row has a value; CSV has it always. */
  readonly whereMeasured?: true;
  /** Of a step as a whole: tables of its use cases are without it, in CSV it is empty there. */
  readonly stepOnly?: true;
}

const everywhere: readonly StepView[] = ['terminal', 'log', 'csv', 'panel'];
const tables: readonly StepView[] = ['terminal', 'log', 'panel'];

const csv = (id: string, value: StepColumn['value'], stepOnly?: true): StepColumn => ({
  ...{ id, head: id, unit: 'count', views: ['csv'], value, ...(stepOnly && { stepOnly }) },
});
const csvOf = (...names: (keyof StepRow & keyof MessageSummary)[]): StepColumn[] =>
  names.map((name) => csv(name, (row) => (row[name] ?? undefined) as number | undefined));

/** As it was measured. Empty where there are too few deliveries to show it; with none at all it is 0. */
const measured = (...names: Exclude<keyof LatencySummary, 'count'>[]): StepColumn[] =>
  names.map((name) =>
    csv(`latencyUs.${name}`, ({ latencyUs }) =>
      latencyUs?.count === 0 ? latencyUs[name] : latencyUs && shownPercentileUs(latencyUs, name),
    ),
  );

const percentile = (id: string, key: keyof ShownPercentiles, place: number): StepColumn => ({
  ...{ id, head: id, unit: 'latency', views: tables, place, terminal: { width: 6 } },
  value(row) {
    const shown = shownPercentiles(row);
    return shown && shown[key] === undefined ? tooFewMark : shown?.[key];
  },
});

export const stepColumns: readonly StepColumn[] = [
  {
    ...{ id: 'index', head: 'Step', unit: 'count', place: 1, terminal: { width: 4 } },
    views: ['terminal', 'csv', 'panel'],
    value: ({ index }) => index,
  },
  {
    ...{ id: 'useCase', head: 'Use case', unit: 'word', views: ['panel'], place: 1.5 },
    ...{ whereMeasured: true, value: ({ name }) => name },
  },
  {
    ...{ id: 'senders', head: 'Senders', unit: 'count', views: everywhere, place: 2 },
    value: ({ senders }) => senders,
    say: ({ senders = 0 }) => `${formatCount(senders)} ${senders === 1 ? 'sender' : 'senders'}`,
  },
  csv('seconds', ({ seconds }) => seconds),
  ...csvOf('offered', 'sent', 'expected', 'received'),
  {
    ...{ id: 'skipped', head: 'Skipped', unit: 'count', views: tables, place: 9.5 },
    ...{ whereMeasured: true, terminal: { width: 7 } },
    value: ({ skipped }) => skipped || undefined,
    say: ({ skipped = 0 }) => (skipped > 0 ? `${formatCount(skipped)} skipped` : undefined),
  },
  {
    ...{ id: 'lost', head: 'Lost', unit: 'count', views: everywhere, place: 9 },
    terminal: { width: 6 },
    value: ({ lost }) => lost,
  },
  ...csvOf('duplicated', 'outOfOrder', 'late', 'extra'),
  {
    ...{ id: 'sentPerSecond', head: 'Sent/s', unit: 'perSecond', views: everywhere, place: 3 },
    terminal: { width: 8, decimals: 1 },
    value: ({ sentPerSecond }) => sentPerSecond,
  },
  {
    ...{ id: 'receivedPerSecond', head: 'Received/s', unit: 'perSecond', views: everywhere },
    ...{ place: 4, terminal: { width: 8, head: 'recv/s' } },
    value: ({ receivedPerSecond }) => receivedPerSecond,
  },
  ...csvOf('payloadBytesIn', 'payloadBytesOut', 'wireBytesIn', 'wireBytesOut'),
  ...measured('min', 'mean', 'p50', 'p90', 'p95', 'p99', 'p999', 'p9999', 'max'),
  percentile('p50', 'p50', 5),
  percentile('p99', 'p99', 6),
  percentile('p99.9', 'p999', 7),
  percentile('max', 'max', 8),
  {
    ...{ id: 'toAllP99', head: 'To all p99', unit: 'latency', views: tables, place: 8.1 },
    ...{ whereMeasured: true, terminal: { width: 8, head: 'to all' } },
    value: ({ timeToAllUs }) => timeToAllUs && shownPercentileUs(timeToAllUs, 'p99'),
    say: ({ timeToAllUs }) => timeToAllUs && `p99 to all ${latencyWords(timeToAllUs.p99)}`,
  },
  {
    ...{ id: 'timeToAllMissed', head: 'Not to all', unit: 'count', place: 8.2 },
    ...{ views: ['csv', 'panel'], whereMeasured: true },
    value: ({ timeToAllMissed }) => timeToAllMissed,
  },
  {
    ...{ id: 'insideP99', head: 'Inside p99', unit: 'latency', views: tables, place: 8.3 },
    ...{ whereMeasured: true, terminal: { width: 8, head: 'inside' } },
    value: (row) => {
      const inside = latencyInsideAgents(row);
      return inside && shownPercentileUs(inside, 'p99');
    },
    say: (row) => {
      const inside = latencyInsideAgents(row);
      return inside && `p99 inside agents ${latencyWords(inside.p99)}`;
    },
  },
  {
    ...{ id: 'clockError', head: 'Clocks ±', unit: 'latency', stepOnly: true, place: 8.4 },
    ...{ views: ['panel'], whereMeasured: true },
    value: (row) => latencyInsideAgents(row) && row.clockErrorUs,
  },
  {
    ...{ id: 'errors', head: 'Errors', unit: 'count', stepOnly: true, place: 10 },
    views: ['terminal', 'log', 'csv'],
    terminal: { width: 5, head: 'err' },
    value: ({ errors }) => errors,
    say: ({ errors = 0, warmupErrors = 0 }) =>
      `${formatCount(errors)} ${errors === 1 ? 'error' : 'errors'}${warmupErrors > 0 ? ` and ${formatCount(warmupErrors)} in the warm-up` : ''}`,
  },
  csv('generator.valid', ({ generator }) => generator && String(generator.valid), true),
  {
    ...{ id: 'generator', head: 'Generator', unit: 'word', stepOnly: true, place: 11 },
    views: ['terminal', 'log'],
    terminal: { width: 10 },
    value: ({ generator }) => generator && generatorCell(generator),
    say: ({ generator }) => generator && generatorWords(generator),
  },
  {
    ...{ id: 'left', head: '', unit: 'word', views: ['terminal'], stepOnly: true, place: 12 },
    terminal: { width: 5 },
    value: ({ left = '' }) => left.padStart(4),
  },
  {
    ...{ id: 'verdict', head: 'Verdict', unit: 'verdict', views: ['csv', 'panel'], place: 13 },
    stepOnly: true,
    value: ({ verdict, current }) => verdict ?? (current ? 'running' : undefined),
  },
  csv('warmupErrors', ({ warmupErrors }) => warmupErrors, true),
  ...(['p50', 'p99', 'max'] as const).map((name) =>
    csv(
      `timeToAllUs.${name}`,
      ({ timeToAllUs }) => timeToAllUs && shownPercentileUs(timeToAllUs, name),
    ),
  ),
  ...csvOf('ambiguous', 'negative'),
  ...(['p50', 'p99', 'max'] as const).map((name) =>
    csv(
      `latencySameAgentUs.${name}`,
      ({ latencySameAgentUs }) => latencySameAgentUs && shownPercentileUs(latencySameAgentUs, name),
    ),
  ),
  csv('clockErrorUs', ({ clockErrorUs }) => clockErrorUs, true),
  csv('clockJumps', ({ clockJumps }) => clockJumps, true),
  csv('agentsComplete', ({ agentsComplete }) => agentsComplete, true),
  csv('sessions.started', ({ sessions }) => sessions?.started),
  csv('sessions.completed', ({ sessions }) => sessions?.completed),
  csv('sessions.brokenOff', ({ sessions, brokenOff }) => sessions?.brokenOff ?? brokenOff),
  ...(['p50', 'p99', 'max'] as const).map((name) =>
    csv(
      `sessions.durationUs.${name}`,
      ({ sessions }) => sessions && shownPercentileUs(sessions.durationUs, name),
    ),
  ),
  csv('recorded', ({ recorded }) => recorded),
  csv('sessions.waiting', ({ sessions }) => sessions && (sessions.waiting ?? 0)),
  csv('skipped', (row) => row.skipped),
  csv('receivedLater', (row) => row.receivedLater),
  csv('leaving', (row) => row.leaving),
];

export const callNameWithCount = ({ call, times = 1 }: StepRow): string | undefined =>
  call === undefined || times <= 1 ? call : `${call} (×${formatCount(times)})`;

const counted = (
  id: 'sent' | 'expected' | 'received' | 'lost' | 'errors' | 'skipped',
  head: string,
  place: number,
  width: number,
  short?: string,
): StepColumn => ({
  ...{ id: `call.${id}`, head, unit: 'count', views: tables, place },
  terminal: { width, ...(short !== undefined && { head: short }) },
  value: (row) => row[id],
});

const callColumns: readonly StepColumn[] = [
  {
    ...{ id: 'call.step', head: 'Step', unit: 'count', views: ['panel'], place: 1 },
    value: ({ index }) => index,
  },
  {
    ...{ id: 'call.name', head: 'Call', unit: 'word', place: 2, terminal: { width: 20 } },
    views: ['terminal', 'panel'],
    value: callNameWithCount,
  },
  {
    ...{
      id: 'call.useCase',
      head: 'Use case',
      unit: 'word',
      views: ['panel'],
      place: 3,
    },
    ...{ whereMeasured: true, value: ({ name }) => name },
  },
  {
    ...{ id: 'call.recorded', head: 'Recorded', unit: 'count', views: tables, place: 3.5 },
    ...{ whereMeasured: true, terminal: { width: 9 }, value: ({ recorded }) => recorded },
  },
  counted('sent', 'Sent', 4, 9),
  counted('expected', 'Expected', 5, 10),
  counted('received', 'Received', 6, 10),
  counted('lost', 'Lost', 7, 6),
  { ...counted('skipped', 'Skipped', 7.5, 7), whereMeasured: true },
  percentile('p50', 'p50', 8),
  percentile('p99', 'p99', 9),
  percentile('max', 'max', 10),
  counted('errors', 'Errors', 11, 5, 'err'),
  {
    ...{ id: 'call.brokenOff', head: 'Broken off', unit: 'count', place: 12, whereMeasured: true },
    ...{ views: ['panel', 'log'], value: ({ brokenOff }) => brokenOff },
  },
];

const pushedColumns: readonly StepColumn[] = [
  {
    ...{ id: 'pushed.step', head: 'Step', unit: 'count', views: ['panel'], place: 1 },
    value: ({ index }) => index,
  },
  {
    ...{ id: 'pushed.name', head: 'Pushed by the hub', unit: 'word', place: 2 },
    ...{ views: ['terminal', 'panel'], terminal: { width: 40 } },
    value: ({ push }) => push?.name,
  },
  {
    ...{ id: 'pushed.perSecond', head: 'Per second', unit: 'perSecond', place: 3 },
    ...{ views: tables, terminal: { width: 12, decimals: 1 } },
    value: ({ push }) => push?.perSecond,
  },
  {
    ...{ id: 'pushed.messages', head: 'Messages', unit: 'count', place: 4 },
    ...{ views: ['terminal', 'panel'], terminal: { width: 12 } },
    value: ({ push }) => push?.messages,
  },
  {
    ...{ id: 'pushed.bytes', head: 'Bytes', unit: 'size', place: 5, terminal: { width: 12 } },
    ...{ views: tables, value: ({ push }) => push && bytes(push.bytes) },
    say: ({ push }) => push && bytes(push.bytes),
  },
];

/** What needed one clock only, where other deliveries needed two that differ; else it says nothing new. */
export function latencyInsideAgents({
  clockErrorUs = 0,
  latencyUs,
  latencySameAgentUs,
}: Pick<StepRow, 'clockErrorUs' | 'latencyUs' | 'latencySameAgentUs'>): LatencySummary | undefined {
  const count = latencySameAgentUs?.count ?? 0;
  const isPart = clockErrorUs > 0 && (latencyUs?.count ?? 0) > count;
  return isPart ? (latencySameAgentUs ?? none) : undefined;
}

const none: LatencySummary = {
  ...{ count: 0, min: 0, mean: 0, p50: 0, p90: 0, p95: 0, p99: 0, p999: 0, p9999: 0, max: 0 },
};

export type RowKind = 'steps' | 'entries' | 'calls' | 'pushed';

const columnsFor: Readonly<Record<RowKind, readonly StepColumn[]>> = {
  ...{ steps: stepColumns, entries: stepColumns, calls: callColumns, pushed: pushedColumns },
};

/** Columns of a view, of a table with those rows: CSV in the order of the list, tables by their places. */
export function visibleColumns(
  view: StepView,
  of: RowKind = 'steps',
  rows?: readonly StepRow[],
): StepColumn[] {
  const all = columnsFor[of];
  const isMeasured = ({ whereMeasured, value }: StepColumn): boolean =>
    whereMeasured !== true ||
    view === 'csv' ||
    (rows ?? []).some((row) => value(row) !== undefined);
  const shown = all.filter((column) => column.views.includes(view) && isMeasured(column));
  if (view === 'csv') return shown;
  const last = all.length;
  return shown
    .filter(({ stepOnly }) => of !== 'entries' || !stepOnly)
    .sort((a, b) => (a.place ?? last) - (b.place ?? last));
}

export const lowercaseHead = ({ head }: StepColumn): string =>
  head.charAt(0).toLowerCase() + head.slice(1);

export const columnTextName = (id: string): `column.${string}` => `column.${id}`;

export const columnTexts = (): Record<`column.${string}`, string> =>
  Object.fromEntries(
    [...stepColumns, ...callColumns, ...pushedColumns]
      .filter(({ views }) => views.includes('panel'))
      .map(({ id, head }) => [columnTextName(id), head]),
  );

/** `ok 21 %`: share of a core the busiest worker uses; `slow` when the generator is the bottleneck. */
function generatorCell({ valid, cpuShare }: Pick<GeneratorHealth, 'cpuShare' | 'valid'>): string {
  const text = `${valid ? 'ok' : 'slow'} ${formatShare(cpuShare)}`;
  return text.length <= 9 ? text : text.replace(' %', '%').slice(0, 9);
}

function generatorWords({
  valid,
  cause,
  cpuShare,
}: Pick<GeneratorHealth, 'cpuShare' | 'valid' | 'cause'>): string {
  const was = isDisturbance(cause)
    ? cause === 'suspended'
      ? 'was suspended'
      : cause === 'slip' || cause === 'unread'
        ? 'was late'
        : 'did not get the processor'
    : 'was the bottleneck';
  return `generator ${valid ? 'ok' : was} (${formatShare(cpuShare)} of a core)`;
}

/** What is known of a step, of one use case of a mix in it, or of a call of its sessions; what is not known yet is absent. */
export interface StepRow extends Partial<Omit<MessageSummary, 'histogram'>> {
  readonly index: number;
  readonly name?: string;
  readonly call?: string;
  readonly times?: number;
  readonly recorded?: number;
  readonly brokenOff?: number;
  readonly push?: PushedSummary;
  readonly sessions?: SessionSummary;
  readonly seconds?: number;
  readonly errors?: number;
  readonly warmupErrors?: number;
  readonly generator?: Pick<GeneratorHealth, 'cpuShare' | 'valid' | 'cause'> &
    Partial<GeneratorHealth>;
  readonly clockErrorUs?: number;
  readonly clockJumps?: number;
  readonly agentsComplete?: number;
  readonly verdict?: VerdictStatus;
  readonly current?: boolean;
  /** Time left, e.g. `0:12`; at most 4 characters. */
  readonly left?: string;
}

export function stepRow({ errors, warmupErrors, verdict, ...row }: StepSummary): StepRow {
  return {
    ...row,
    errors: totalErrors(errors),
    warmupErrors: totalErrors(warmupErrors ?? {}),
    verdict: verdict.status,
  };
}

export function progressRow({ outstanding, over, ...row }: StepProgress): StepRow {
  return { ...row, ...(over && { lost: outstanding }) };
}

export function entryRows(step: StepSummary | StepProgress): StepRow[] {
  const { index, entries = [] } = step;
  const seconds = 'seconds' in step ? { seconds: step.seconds } : {};
  return entries.map((entry) => {
    if ('lost' in entry) return { ...entry, index, ...seconds };
    const { outstanding, ...row } = entry;
    return { ...row, index, ...('over' in step && step.over && { lost: outstanding }) };
  });
}

const mostPushedRows = 20;

export const pushedRows = (steps: readonly (StepSummary | StepProgress)[]): StepRow[] =>
  steps.flatMap(({ index, pushed = [] }) =>
    pushed.slice(0, mostPushedRows).map((each) => ({ index, push: each })),
  );

type Bytes = Pick<
  StepSummary,
  | 'index'
  | 'seconds'
  | 'payloadBytesIn'
  | 'payloadBytesOut'
  | 'wireBytesIn'
  | 'wireBytesOut'
  | 'wireBytesOutLater'
>;

/** Step, then payload, bytes on the wire and their rate: first in (client to service), then out, as in the guides. */
export const trafficRows = (steps: readonly Bytes[]): string[][] =>
  steps
    .filter(({ wireBytesIn, wireBytesOut }) => wireBytesIn !== 0 || wireBytesOut !== 0)
    .map(trafficCells);

function trafficCells(step: Bytes): string[] {
  const { index, seconds, payloadBytesIn, payloadBytesOut, wireBytesIn, wireBytesOut } = step;
  const outInTime = wireBytesOut && wireBytesOut - (step.wireBytesOutLater ?? 0);
  return [
    String(index),
    ...[bytes(payloadBytesIn), bytes(wireBytesIn), rate(wireBytesIn, seconds)],
    ...[bytes(payloadBytesOut), bytes(wireBytesOut), rate(outInTime, seconds)],
  ];
}

function bytes(count: number | null): string {
  if (count === null) return '–';
  return count < 1024 ** 3 ? formatBytes(count) : `${(count / 1024 ** 3).toFixed(1)} GB`;
}

/** Megabytes (1,048,576 bytes, as the guides count) a second. */
function rate(count: number | null, seconds: number): string {
  if (count === null) return '–';
  const perSecond = count / seconds / 1024 / 1024;
  if (seconds <= 0 || perSecond === Infinity) return '–';
  return perSecond > 0 && perSecond < 0.01 ? '<0.01' : perSecond.toFixed(perSecond < 100 ? 2 : 0);
}
