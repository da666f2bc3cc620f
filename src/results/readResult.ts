import { isUndecided } from '../measure/judge/verdict';
import type {
  CallSummary,
  MessageSummary,
  SloCheck,
  StepSummary,
  Verdict,
  VerdictReason,
} from '../measure/summary';
import { resultSchema, type Result } from './result';
import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../base/expectedError';
import type { ReportedRun } from '../measure/report/reportModel';
import { snapshotShape, type Snapshot, type StepProgress } from '../measure/snapshot';
import { SnapshotHistory } from '../measure/snapshotHistory';
import { describeFileError, resultFile, samplesFile, scenarioFile } from './resultFolder';
import { resultShape } from './resultShape';
import { shapeProblem } from '../measure/shape';

/** Larger files are no results of ours: 10,000 steps take about 40 MB. */
const mostBytes = 64 * 1024 * 1024;

/** What is left of a run that did not reach its end, for example after a crash. */
export interface InterruptedRun {
  readonly kind: 'interrupted';
  readonly path: string;
  readonly scenarioText?: string;
  readonly steps: readonly StepProgress[];
  readonly lastSample?: Snapshot;
  /** What kept it from a result, where that is known: in reports of a run that did not begin. */
  readonly problem?: string;
}

export const toReportedRun = (run: InterruptedRun): ReportedRun => ({
  ...run,
  errors: run.lastSample?.errors ?? {},
  errorExamples: [],
});

export type StoredRun =
  | { readonly kind: 'result'; readonly path: string; readonly result: Result }
  | InterruptedRun;

/** From a folder or a `result.json`. @throws ExpectedError `result-missing`, `result-damaged`, `result-newer` */
export async function readResult(location: string): Promise<StoredRun> {
  const found = await statOf(location);
  if (!found) throw new ExpectedError('result-missing', `There is no result at ${location}.`);
  if (!found.isDirectory()) return readResultFile(location);
  const inside = path.join(location, resultFile);
  const [scenario, samples] = [path.join(location, scenarioFile), path.join(location, samplesFile)];
  if (await statOf(inside)) {
    return readResultFile(inside).catch(async (error: unknown) => {
      const isDamaged = error instanceof ExpectedError && error.code === 'result-damaged';
      if (!isDamaged || !(await statOf(samples))) throw error;
      const rest = `Move it away to see what ${samplesFile} beside it has of each second.`;
      throw new ExpectedError(error.code, `${error.message} ${rest}`);
    });
  }
  if (!(await statOf(scenario)) && !(await statOf(samples))) {
    const newest = await newestIn(location);
    const why =
      newest === undefined
        ? `: neither ${resultFile} nor ${samplesFile} is in it`
        : `, but has some in it; the newest is ${newest}`;
    throw new ExpectedError('result-missing', `${location} is not a result folder${why}.`);
  }
  return readInterrupted(location, scenario, samples);
}

async function newestIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  const dated = names.filter((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/.test(name));
  const newest = dated.sort().at(-1);
  return newest && path.join(folder, newest);
}

export const runFolder = (run: Pick<StoredRun, 'kind' | 'path'>): string =>
  run.kind === 'result' && run.path.endsWith('.json') ? path.dirname(run.path) : run.path;

/** Oldest first, thinned for very long runs; none when there is no such file. */
export async function readSnapshots(folder: string): Promise<readonly Snapshot[]> {
  const held = new SnapshotHistory();
  for await (const sample of readSamples(path.join(folder, samplesFile))) held.add(sample);
  return held.all;
}

async function readResultFile(file: string): Promise<StoredRun> {
  let text: string;
  try {
    text = await readFileBounded(file);
  } catch (error) {
    throw damaged(file, describeFileError(error));
  }
  return { kind: 'result', path: file, result: parseResult(text, file) };
}

/** A result from text that may come from anywhere. @throws ExpectedError `result-damaged`, `result-newer` */
export function parseResult(text: string, name: string): Result {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(name, 'it is not valid JSON');
  }
  const schema = (value as { schema?: unknown } | null)?.schema;
  const version = /^signalr-bench-result\/(\d{1,6})$/.exec(
    typeof schema === 'string' ? schema : '',
  );
  if (!version) throw damaged(name, 'it has no "schema" of a signalr-bench result');
  const number = Number(version[1]);
  if (number > 2)
    throw new ExpectedError(
      'result-newer',
      `${name} has the schema ${version[0]}, which is newer than ${resultSchema}, the one this version reads. Update signalr-bench.`,
    );
  if (number < 1) throw damaged(name, `there is no schema ${version[0]}`);
  const problem = shapeProblem(value, resultShape);
  if (problem !== undefined) throw damaged(name, problem);
  const result = addReasonPlaces(value as Result);
  return number === 1 ? upgradeSchema1(result) : result;
}

const damaged = (name: string, why: string): ExpectedError =>
  new ExpectedError('result-damaged', `${name} cannot be read as a result: ${why}.`);

export async function readFileBounded(file: string, most = mostBytes): Promise<string> {
  // A link to a device has no size and no end, and opening a pipe waits for ever.
  const found = await stat(file);
  if (!found.isFile() && !found.isDirectory()) throw new Error('it is not a file');
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    if (size > most) throw new Error(`it is larger than ${most / 1024 / 1024} MB`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

async function readInterrupted(folder: string, scenario: string, samples: string) {
  const steps = new Map<number, StepProgress>();
  let lastSample: Snapshot | undefined;
  for await (const sample of readSamples(samples)) {
    lastSample = sample;
    if (sample.step) steps.set(sample.step.index, sample.step);
  }
  const scenarioText = await readFileBounded(scenario).catch(() => undefined);
  return {
    kind: 'interrupted' as const,
    path: folder,
    ...(scenarioText !== undefined && { scenarioText }),
    steps: [...steps.values()].sort((a, b) => a.index - b.index),
    ...(lastSample && { lastSample }),
  };
}

/** Of the last 64 MB, or fewer, oldest first; lines that are cut or damaged are passed over. */
export async function* readSamples(file: string, most = mostBytes): AsyncGenerator<Snapshot> {
  const found = await statOf(file);
  if (!found?.isFile()) return;
  const input = createReadStream(file, { start: Math.max(0, found.size - most) });
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    const sample = parseSample(line);
    if (sample !== undefined) yield sample;
  }
}

export function parseSample(text: string): Snapshot | undefined {
  try {
    const sample: unknown = JSON.parse(text);
    return shapeProblem(sample, snapshotShape) === undefined
      ? withSaidMiss(sample as Snapshot)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Before schema 2 a missed objective was no sentence, and cannot be shown. */
function withSaidMiss(sample: Snapshot): Snapshot {
  const { step } = sample;
  if (step?.missed === undefined || 'message' in step.missed) return sample;
  const others = Object.entries(step).filter(([name]) => name !== 'missed');
  return { ...sample, step: Object.fromEntries(others) as unknown as typeof step };
}

async function statOf(file: string): Promise<Stats | undefined> {
  try {
    return await stat(file);
  } catch {
    return undefined;
  }
}

type Deliveries = Pick<MessageSummary, 'received' | 'lost'>;

/** Schema 1 counted deliveries after the drain as received; of several calls nobody knows whose they were. */
export function upgradeSchema1(result: Result): Result {
  return { ...result, schema: resultSchema, steps: result.steps.map(settledStep) };
}

/** Adds the step and the rule that earlier versions said only in sentences and by order. */
export function addReasonPlaces(result: Result): Result {
  const steps = result.steps.map((step) => ({ ...step, verdict: withRules(step.verdict) }));
  const { reasons, ...verdict } = withRules(result.verdict);
  const placed = reasons.map((reason): VerdictReason => {
    const [, step, words] = /^step (\d{1,9}): ([^]*)$/.exec(reason.message) ?? [];
    const isPlaced = reason.words !== undefined || words === undefined;
    return isPlaced ? reason : { ...reason, step: Number(step), words };
  });
  return { ...result, steps, verdict: { ...verdict, reasons: placed } };
}

const openCodes = ['slip', 'unread', 'clockError'];

function withRules({ reasons, checks = [], ...verdict }: Verdict): Verdict {
  const unmet = checks.filter(({ met }) => !met);
  const isFor = (code: string, check: SloCheck): boolean =>
    isUndecided(check) ? openCodes.includes(code) : code === `slo-${check.metric}`;
  const ruled = reasons.map((reason): VerdictReason => {
    const at = unmet.findIndex((check) => isFor(reason.code, check));
    if (reason.words !== undefined || at < 0) return reason;
    const [rule] = unmet.splice(at, 1);
    return { ...reason, rule: rule! };
  });
  return { ...verdict, reasons: ruled, checks };
}

function settledStep(step: StepSummary): StepSummary {
  const { seconds, entries, calls } = step;
  const lateOf = ({ entry }: CallSummary): number => {
    const isAlone = calls!.filter((call) => call.entry === entry).length === 1;
    const owner = entry === undefined ? step : entries?.find(({ name }) => name === entry);
    return isAlone ? (owner?.late ?? 0) : 0;
  };
  return {
    ...settledMessages(step, seconds),
    ...(entries && { entries: entries.map((entry) => settledMessages(entry, seconds)) }),
    ...(calls && { calls: calls.map((call) => ({ ...call, ...settled(call, lateOf(call)) })) }),
  };
}

function settledMessages<Of extends MessageSummary>(of: Of, seconds: number): Of {
  if (of.late === 0) return of;
  const counts = settled(of, of.late);
  return { ...of, ...counts, receivedPerSecond: seconds > 0 ? counts.received / seconds : 0 };
}

function settled({ received, lost }: Deliveries, late: number): Deliveries {
  const moved = Math.min(late, received);
  return { received: received - moved, lost: lost + moved };
}
