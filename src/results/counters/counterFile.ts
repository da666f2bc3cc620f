/** Counter files of the Azure SignalR benchmark: written from our runs, and summed up. */
import { stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readSamples, type StoredRun } from '../readResult';
import type { Result } from '../result';
import { fileProblem, resultFile, samplesFile, scenarioFile } from '../resultFolder';
import {
  counterLines,
  counterLinesOfResult,
  counterText,
  withResultCounters,
  type CounterLine,
} from './counterLines';

/** Where the Azure SignalR benchmark wrote its counters by default. */
const usualName = 'counters.txt';

/**
 * Counter lines of a stored run: one a second from its samples, or begin and end of each step where no
 * sample has them.
 */
export async function countersOfRun(run: StoredRun): Promise<CounterLine[]> {
  const file = run.kind === 'result' && run.path.endsWith('.json');
  const samples = path.join(file ? path.dirname(run.path) : run.path, samplesFile);
  const next = counterLines(await startOf(run, samples));
  const lines: CounterLine[] = [];
  for await (const sample of readSamples(samples)) lines.push(...next(sample));
  if (run.kind === 'interrupted') return lines;
  const epochs = new Set(lines.map(({ counters }) => counters['epoch']));
  const whole = run.result.steps.every(({ index }) => epochs.has(index));
  const counted = whole && lines.length > 0 ? lines : counterLinesOfResult(run.result);
  return withResultCounters(counted, run.result);
}

export async function counterFile(run: StoredRun): Promise<string> {
  return (await countersOfRun(run)).map((line) => `${counterText(line)}\n`).join('');
}

/** Begin of a run, milliseconds since 1970; of an interrupted one from the name of its folder. */
async function startOf(run: StoredRun, samples: string): Promise<number> {
  if (run.kind === 'result') return Date.parse(run.result.startedAt);
  const [, date, time] =
    /^(\d{4}-\d\d-\d\d)T(\d\d-\d\d-\d\d)/.exec(path.basename(path.resolve(run.path))) ?? [];
  const named = Date.parse(`${date}T${time?.replaceAll('-', ':')}Z`);
  if (!Number.isNaN(named)) return named;
  const written = await stat(samples).catch(() => undefined);
  return Math.max(0, Math.round(written?.mtimeMs ?? 0) - (run.lastSample?.atMs ?? 0));
}

/**
 * Writes the counter file a scenario asks for beside the result: a file from somewhere must not say
 * which files of this machine are written, so of its path only the name is taken.
 * @returns the file, or undefined when none was asked for or written
 */
export async function writeCounters(
  folder: string,
  result: Result,
  warn: (message: string) => void,
): Promise<string | undefined> {
  const { resultFilePath } = result.scenario;
  if (resultFilePath === undefined) return undefined;
  const file = path.join(folder, counterFileName(resultFilePath));
  try {
    await writeFile(file, await counterFile({ kind: 'result', path: folder, result }));
    return file;
  } catch (error) {
    warn(`The counters cannot be written to ${file} (${fileProblem(error)}).`);
    return undefined;
  }
}

/** A file name for every system, never that of another file of the folder. */
export function counterFileName(resultFilePath: string): string {
  const last = resultFilePath.split(/[/\\]/).at(-1) ?? '';
  const name = last.replace(/[^\p{L}\p{N}._-]+/gu, '-').slice(0, 100);
  const taken = [resultFile, samplesFile, scenarioFile, `${resultFile}.tmp`];
  return /^[-.]*$/.test(name) || taken.includes(name.toLowerCase()) ? usualName : name;
}
