import { stat } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { counterEdgesUs, decodeHistogram } from '../../measure/histogram';
import type { Snapshot, StepProgress } from '../../measure/snapshot';
import type {
  MembershipSummary,
  MessageSummary,
  StepSummary,
  ConnectionSummary,
  Quantiles,
} from '../../measure/summary';
import type { Scenario } from '../../scenario/scenario';
import { usualCounterFile } from '../../scenario/read/buildScenario';
import { streamsOf } from '../../usecases/registry';
import { runFolder, readSamples, type StoredRun } from '../readResult';
import type { Result } from '../result';
import { replaceFile } from '../safeFiles';
import { describeFileError, resultFile, samplesFile, scenarioFile } from '../resultFolder';

/** One a second from the run's samples, or begin and end of each step where no sample has them. */
export async function counterLinesOfRun(run: StoredRun): Promise<CounterLine[]> {
  const samples = path.join(runFolder(run), samplesFile);
  const next = createCounterConverter(await startOf(run, samples));
  const lines: CounterLine[] = [];
  for await (const sample of readSamples(samples)) lines.push(...next(sample));
  if (run.kind === 'interrupted') return lines;
  const epochs = new Set(lines.map(({ counters }) => counters['epoch']));
  const whole = run.result.steps.every(({ index }) => epochs.has(index));
  const counted = whole && lines.length > 0 ? lines : counterLinesOfResult(run.result);
  return addResultCounters(counted, run.result);
}

export async function formatCounterFile(run: StoredRun): Promise<string> {
  return (await counterLinesOfRun(run)).map((line) => `${formatCounterLine(line)}\n`).join('');
}

async function startOf(run: StoredRun, samples: string): Promise<number> {
  if (run.kind === 'result') return Date.parse(run.result.startedAt);
  const [, date, time] =
    /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)/.exec(path.basename(path.resolve(run.path))) ?? [];
  const named = Date.parse(`${date}T${time?.replaceAll('-', ':')}Z`);
  if (!Number.isNaN(named)) return named;
  const written = await stat(samples).catch(() => undefined);
  return Math.max(0, Math.round(written?.mtimeMs ?? 0) - (run.lastSample?.atMs ?? 0));
}

/** Beside the result, under the name that the scenario gives: a file from somewhere must not choose where we write. */
export async function writeCounterFile(
  folder: string,
  result: Result,
  warn: (message: string) => void,
): Promise<string | undefined> {
  const { resultFilePath } = result.scenario;
  if (resultFilePath === undefined) return undefined;
  const file = path.join(folder, counterFileName(resultFilePath));
  try {
    await replaceFile(file, await formatCounterFile({ kind: 'result', path: folder, result }));
    return file;
  } catch (error) {
    warn(`The counters cannot be written to ${file} (${describeFileError(error)}).`);
    return undefined;
  }
}

export function counterFileName(resultFilePath: string): string {
  const last = resultFilePath.split(/[/\\]/).at(-1) ?? '';
  const name = last.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100);
  const taken = [resultFile, samplesFile, scenarioFile];
  return /^[-.]*$/.test(name) || taken.includes(name.toLowerCase()) ? usualCounterFile : name;
}

/** One line of the Azure SignalR benchmark's counter file: sums up to a moment. */
export interface CounterLine {
  readonly atMs: number;
  readonly counters: Counters;
}

export type Counters = Readonly<Record<string, number>>;

/** Names of the latency classes, by rising latency; the last holds everything from one second on. */
export const latencyCounterNames: readonly string[] = [
  ...counterEdgesUs.map((us) => `message:lt:${us / 1000}`),
  `message:ge:${counterEdgesUs.at(-1)! / 1000}`,
];

/** The Azure SignalR benchmark counted the time stamp of each message, 8 bytes, with its payload. */
const stampBytes = 8;

/** What a date can hold, either side of 1970 (ECMA-262, "Time Values and Time Range"). */
const latestMs = 8.64e15;

/** @throws ExpectedError `result-damaged` when no date is that far away */
export function formatCounterLine({ atMs, counters }: CounterLine): string {
  if (!(Math.abs(atMs) <= latestMs))
    throw new ExpectedError('result-damaged', 'The times in the result are not valid dates.');
  const time = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
  return JSON.stringify({ Time: time, Counters: counters });
}

/**
 * Turns samples, in their order, into lines. Warm-up and drain have none: an epoch starts at zeros when its step
 * starts to be measured, and ends with all that was counted for it after exactly the measured time, so that rates
 * from its first to its last line are those of the step. The ramp gets one more line where its last sample lacked
 * connections.
 */
export function createCounterConverter(startedAtMs: number): (snapshot: Snapshot) => CounterLine[] {
  let begun = { epoch: 0, atMs: 0, reconnected: 0 };
  let reconnectedBefore = 0;
  let over = 0;
  /** Connections in the latest line before the first step; undefined once that has begun. */
  let established: number | undefined = 0;
  return (snapshot) => {
    const { step, phase } = snapshot;
    const { reconnected = 0 } = snapshot.connections;
    if ((step?.index ?? 0) !== begun.epoch) begun = { ...begun, reconnected: reconnectedBefore };
    reconnectedBefore = reconnected;
    const states = connectionCounters(snapshot);
    // The Azure SignalR benchmark counted these anew in each step.
    const again = (count: number): Counters =>
      reconnected === 0 ? {} : { 'connection:connect:reconnect': count };
    const connections = { ...states, ...again(reconnected - begun.reconnected) };
    const open = connections['connection:connect:success']!;
    const ramp = (atMs: number): CounterLine => {
      const counters = { epoch: 0, sendingStep: 0, ...connections };
      return { atMs: startedAtMs + atMs, counters };
    };
    if (step === undefined) {
      established = open;
      return [ramp(snapshot.atMs)];
    }
    const lines: CounterLine[] = [];
    if (established !== undefined && established !== open) {
      const sinceMs = 1000 * (step.over ? step.totalS : step.elapsedS);
      lines.push(ramp(snapshot.atMs - sinceMs));
    }
    established = undefined;
    const measured = phase === 'measuring' || step.over;
    if (!measured || step.index <= over || step.latencyClasses === undefined) return lines;
    if (step.index !== begun.epoch) {
      const atMs = startedAtMs + snapshot.atMs - (step.over ? step.totalS : step.elapsedS) * 1000;
      begun = { ...begun, epoch: step.index, atMs };
      lines.push({ atMs, counters: { ...stepCounters(nothingOf(step)), ...states, ...again(0) } });
    }
    if (step.over) over = step.index;
    const counters = { ...stepCounters(step), ...connections };
    return [...lines, { atMs: begun.atMs + step.elapsedS * 1000, counters }];
  };
}

function counterLinesOfResult(result: Result): CounterLine[] {
  const { connections, steps } = result;
  const startedAtMs = Date.parse(result.startedAt);
  const connected = connectionCounters({
    connections: { ...connections, connectP99Us: connections.connectUs.p99 },
  });
  let atMs = startedAtMs;
  const lines: CounterLine[] = [{ atMs, counters: { epoch: 0, sendingStep: 0, ...connected } }];
  for (const step of steps) {
    const progress = { ...step, latencyClasses: classesOf(step) };
    lines.push({ atMs, counters: { ...stepCounters(nothingOf(progress)), ...connected } });
    atMs += step.seconds * 1000;
    lines.push({ atMs, counters: { ...stepCounters(progress), ...connected } });
  }
  return lines;
}

const classesOf = ({ histogram, latencyUs }: StepSummary): number[] =>
  latencyUs.count === 0
    ? latencyCounterNames.map(() => 0)
    : decodeHistogram(histogram).classCounts(counterEdgesUs);

type Counted = Pick<
  StepProgress,
  'index' | 'senders' | 'sent' | 'latencyClasses' | 'payloadBytesIn' | 'payloadBytesOut'
>;

const nothingOf = ({ index, senders }: Counted): Counted => ({
  index,
  senders,
  sent: 0,
  latencyClasses: latencyCounterNames.map(() => 0),
  payloadBytesIn: 0,
  payloadBytesOut: 0,
});

function stepCounters(step: Counted): Counters {
  const classes = step.latencyClasses!;
  const received = classes.reduce((sum, count) => sum + count, 0);
  return {
    epoch: step.index,
    sendingStep: step.senders,
    ...Object.fromEntries(latencyCounterNames.map((name, at) => [name, classes[at] ?? 0])),
    'message:sent': step.sent,
    'message:received': received,
    'message:sentSize': (step.payloadBytesIn ?? 0) + step.sent * stampBytes,
    'message:recvSize': (step.payloadBytesOut ?? 0) + received * stampBytes,
  };
}

/**
 * As the Azure SignalR benchmark counted: what was dropped and is not back has failed. Connections that we close to
 * reopen count as connected, since a sample does not say which they are.
 */
function connectionCounters({
  connections,
  step,
}: Pick<Snapshot, 'connections' | 'step'>): Counters {
  const { connected, failed, dropped, takingPart = 0, connectP99Us } = connections;
  const away = connected - (step === undefined ? 0 : takingPart);
  const missing = Math.min(dropped, Math.max(0, away));
  return {
    'connection:connect:success': connected - missing,
    'connection:connect:fail': failed + missing,
    'connection:connect:cost:0.99': Math.round(connectP99Us / 1000),
  };
}

const quantileNames = { p50: '0.5', p90: '0.9', p95: '0.95', p99: '0.99' } as const;

/**
 * Adds what samples lack. Joins, leaves and items lost are known at the end of each step only: 0 at its begin, absent
 * between. Times of connections are known of the whole run: those of reconnecting stand at the end of each step that
 * had any, the others in the last line.
 */
export function addResultCounters(
  lines: readonly CounterLine[],
  { scenario, steps, connections }: Pick<Result, 'scenario' | 'steps' | 'connections'>,
): CounterLine[] {
  const epochAt = (at: number): number | undefined => lines[at]?.counters['epoch'];
  return lines.map((line, at) => {
    const epoch = epochAt(at);
    const ends = epochAt(at + 1) !== epoch;
    const step = steps.find(({ index }) => index === epoch);
    const counted = step === undefined ? {} : endCounters(step, scenario.entries);
    const begun = Object.fromEntries(Object.keys(counted).map((name) => [name, 0]));
    const counters = {
      ...line.counters,
      ...(ends ? counted : epochAt(at - 1) !== epoch && begun),
      ...lifeCounters(line.counters, connections, ends, at === lines.length - 1),
    };
    return { ...line, counters };
  });
}

function endCounters(step: StepSummary, entries: Scenario['entries']): Counters {
  const { membership } = step;
  return {
    ...(membership !== undefined && membershipCounters(membership)),
    ...streamCounters(entries.length === 1 ? [step] : step.entries, entries),
  };
}

/** A result knows only how many items were lost; the Azure SignalR benchmark counted streams that lacked some. */
function streamCounters(
  counted: readonly MessageSummary[] | undefined,
  entries: Scenario['entries'],
): Counters {
  const streams = counted?.filter((_, at) => ofContract(entries[at]));
  if (streams === undefined || streams.length === 0) return {};
  return { 'message:streamItemMissing': streams.reduce((sum, { lost }) => sum + lost, 0) };
}

/** Streams of the bench contract, which are the only ones that it knew. */
function ofContract(entry: Scenario['entries'][number] | undefined): boolean {
  const streams = entry && streamsOf(entry);
  return streams !== undefined && streams.own === undefined;
}

const membershipCounters = (membership: MembershipSummary): Counters => ({
  'group:join:success': membership.joins,
  'group:join:fail': membership.joinsFailed,
  'group:leave:success': membership.leaves,
  'group:leave:fail': membership.leavesFailed,
});

function lifeCounters(
  { epoch = 0, 'connection:connect:reconnect': reconnected = 0 }: Counters,
  { life, connectUs }: ConnectionSummary,
  ends: boolean,
  last: boolean,
): Counters {
  if (life === undefined) return {};
  return {
    ...((epoch > 0 || last) && { 'connection:connect:cost:0.5': inMs(connectUs.p50) }),
    ...((last || (ends && epoch > 0 && reconnected > 0)) &&
      quantileCounters('connection:reconnect:cost', life.reconnectUs, inMs)),
    ...(last && {
      ...quantileCounters('connection:connect:lifespan', life.lifeSpanMs, Math.round),
      ...quantileCounters('connection:connect:offline', life.downMs, Math.round),
      ...quantileCounters('connection:sla', life.sla, wholePercent),
    }),
  };
}

const inMs = (us: number): number => Math.round(us / 1000);

/** Cut, not rounded: 99.9 % is not all of the time. */
const wholePercent = (share: number): number => Math.floor(share * 100);

function quantileCounters(
  name: string,
  quantiles: Quantiles,
  valueOf: (quantile: number) => number,
): Counters {
  return Object.fromEntries(
    (['p50', 'p90', 'p95', 'p99'] as const).map((quantile) => [
      `${name}:${quantileNames[quantile]}`,
      valueOf(quantiles[quantile]),
    ]),
  );
}
