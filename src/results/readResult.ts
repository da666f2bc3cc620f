import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../base/expectedError';
import type { ReportedRun } from '../measure/report/reportTables';
import { HeldSnapshots, type Snapshot, type StepProgress } from '../measure/snapshot';
import { fromSchema1, withPlaces } from './earlierResult';
import { resultSchema, type Result } from './result';
import { fileProblem, resultFile, samplesFile, scenarioFile } from './resultFolder';
import { resultShape, sampleShape, shapeProblem } from './resultShape';

/** Larger files are no results of ours: 10,000 steps take about 40 MB. */
const mostBytes = 64 * 1024 * 1024;

/** What is left of a run that did not reach its end, for example after a crash. */
export interface InterruptedRun {
  readonly kind: 'interrupted';
  readonly path: string;
  readonly scenarioText?: string;
  /** Last state of each step that was begun, rising. */
  readonly steps: readonly StepProgress[];
  readonly lastSample?: Snapshot;
  /** What kept it from a result, where that is known: in reports of a run that did not begin. */
  readonly problem?: string;
}

/** What reports show of it. */
export const reportedPart = (run: InterruptedRun): ReportedRun => ({
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

/** Of the result folders in a folder, by their names, which begin with their time. */
async function newestIn(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch((): string[] => []);
  const dated = names.filter((name) => /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/.test(name));
  const newest = dated.sort().at(-1);
  return newest && path.join(folder, newest);
}

export const folderOf = (run: Pick<StoredRun, 'kind' | 'path'>): string =>
  run.kind === 'result' && run.path.endsWith('.json') ? path.dirname(run.path) : run.path;

/** Oldest first, thinned for very long runs; none when there is no such file. */
export async function readSnapshots(folder: string): Promise<readonly Snapshot[]> {
  const held = new HeldSnapshots();
  for await (const sample of readSamples(path.join(folder, samplesFile))) held.add(sample);
  return held.all;
}

async function readResultFile(file: string): Promise<StoredRun> {
  let text: string;
  try {
    text = await readBounded(file);
  } catch (error) {
    throw damaged(file, fileProblem(error));
  }
  return { kind: 'result', path: file, result: resultOf(text, file) };
}

/** A result from text that may come from anywhere. @throws ExpectedError `result-damaged`, `result-newer` */
export function resultOf(text: string, name: string): Result {
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
  const result = withPlaces(value as Result);
  return number === 1 ? fromSchema1(result) : result;
}

const damaged = (name: string, why: string): ExpectedError =>
  new ExpectedError('result-damaged', `${name} cannot be read as a result: ${why}.`);

export async function readBounded(file: string, most = mostBytes): Promise<string> {
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
  const scenarioText = await readBounded(scenario).catch(() => undefined);
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
    const sample = sampleOf(line);
    if (sample !== undefined) yield sample;
  }
}

/** Undefined for what is no sample. */
export function sampleOf(text: string): Snapshot | undefined {
  try {
    const sample: unknown = JSON.parse(text);
    return shapeProblem(sample, sampleShape) === undefined
      ? withSaidMiss(sample as Snapshot)
      : undefined;
  } catch {
    return undefined;
  }
}

/** An objective that is missed has been a sentence since schema 2; as it was before, nobody can show it. */
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
