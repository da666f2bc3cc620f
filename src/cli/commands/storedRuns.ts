import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { jsonDocument } from '../../base/text';
import type { Comparison } from '../../measure/compare/comparison';
import { saveBaseline } from '../../results/compare/baseline';
import { compareAll, overallVerdict } from '../../results/compare/compareResults';
import { counterLinesOfRun } from '../../results/counters/counterFile';
import {
  CounterSummarizer,
  formatLoadCounters,
  readCounterSummary,
} from '../../results/counters/counterSummary';
import { readResult } from '../../results/readResult';
import type { Result } from '../../results/result';
import { comparisonMarkdown } from '../../run/export/summaryMarkdown';
import { exportRun, writeReport } from '../../run/export/exporters';
import { samplesProblem } from '../../run/runWords';
import { exitCode, exitCodeForComparison } from '../exitCode';
import { canColour, type ProcessIo, widthOf } from '../io';
import { comparisonScreen } from '../views/comparisonScreen';
import { finalScreen, interruptedScreen } from '../views/finalScreen';
import { paintAll, printable } from '../views/line';

/** Shows the last screen of a stored run, or its summary in the Azure SignalR benchmark's order. */
export async function showCommand(
  location: string,
  { summary = false }: { readonly summary?: boolean },
  io: ProcessIo,
): Promise<number> {
  const { stdout } = io;
  const run = await readResult(location);
  if (summary) {
    const summarizer = new CounterSummarizer();
    for (const line of await counterLinesOfRun(run)) summarizer.add(line);
    const steps = run.kind === 'result' ? run.result.steps : [];
    const latencies = new Map(steps.map(({ index, latencyUs }) => [index, latencyUs]));
    const lines = formatLoadCounters(summarizer.summary(), (epoch) => latencies.get(epoch));
    stdout.write(ended(lines));
    return exitCode.done;
  }
  const width = widthOf(stdout);
  const lines =
    run.kind === 'result'
      ? finalScreen(run.result, width, run.path)
      : interruptedScreen(run, width);
  stdout.write(paintAll(lines, canColour(io)));
  return exitCode.done;
}

/** Exports a stored run. @throws ExpectedError */
export async function exportCommand(
  location: string,
  { format, out }: { readonly format: string; readonly out?: string },
  { stdout, stderr, cwd }: ProcessIo,
): Promise<number> {
  const run = await readResult(location);
  const text = await exportRun(run, format);
  const cut = await samplesProblem(run);
  if (cut !== undefined) stderr.write(`warning: ${cut}\n`);
  if (out === undefined) stdout.write(text);
  else {
    const problem = await writeReport(path.resolve(cwd, out), text);
    if (problem !== undefined) throw new ExpectedError('export-file', problem);
  }
  return exitCode.done;
}

/** Sums up a counter file of the Azure SignalR benchmark. @throws ExpectedError with the damaged line */
export async function importCounters(
  file: string,
  { json = false }: { readonly json?: boolean },
  { stdout, stderr }: ProcessIo,
  opening?: Parameters<typeof readCounterSummary>[1],
): Promise<number> {
  const { lines, cut, ...summary } = await readCounterSummary(file, opening);
  if (cut) stderr.write(`warning: the last line of ${printable(file)} is cut; it was left out\n`);
  if (summary.epochs.length === 0)
    stderr.write(`warning: ${printable(file)} ends before the first step\n`);
  stdout.write(
    json ? jsonDocument({ file, lines, cut, ...summary }) : ended(formatLoadCounters(summary)),
  );
  return exitCode.done;
}

const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

interface CompareFlags {
  readonly tolerance?: number;
  readonly json?: boolean;
  readonly format?: 'text' | 'json' | 'md';
}

/** Compares results with the first; exit code 1 where one is worse. @throws ExpectedError */
export async function compareCommand(
  baseline: string,
  others: readonly string[],
  { tolerance, json = false, format = json ? 'json' : 'text' }: CompareFlags,
  io: ProcessIo,
): Promise<number> {
  const [first, ...rest] = await Promise.all(
    [baseline, ...others].map((location) => finished(path.resolve(io.cwd, location))),
  );
  const comparisons = compareAll(first!, rest, tolerance === undefined ? {} : { tolerance });
  const verdict = overallVerdict(comparisons);
  io.stdout.write(written(comparisons, format, io));
  return exitCodeForComparison(verdict);
}

/** Makes a result the baseline of its scenario. @throws ExpectedError */
export async function baselineCommand(
  location: string,
  _flags: object,
  { cwd, stderr }: ProcessIo,
): Promise<number> {
  const scenario = await saveBaseline(path.resolve(cwd, location));
  stderr.write(`${printable(location)} is the baseline of ${printable(scenario)} now.\n`);
  return exitCode.done;
}

async function finished(location: string): Promise<Result> {
  const run = await readResult(location);
  if (run.kind === 'result') return run.result;
  throw new ExpectedError(
    'result-missing',
    `The run at ${location} was interrupted before it came to a result; there is nothing to compare.`,
  );
}

function written(
  comparisons: readonly Comparison[],
  format: NonNullable<CompareFlags['format']>,
  io: ProcessIo,
): string {
  if (format === 'json') return jsonDocument(jsonOf(comparisons));
  if (format === 'md') return comparisons.map((each) => comparisonMarkdown(each)).join('\n');
  const width = widthOf(io.stdout);
  const screens = comparisons.map((comparison) => comparisonScreen(comparison, width));
  return screens.map((lines) => paintAll(lines, canColour(io))).join('\n');
}

function jsonOf(comparisons: readonly Comparison[]): object {
  const verdict = overallVerdict(comparisons);
  const deciding = comparisons.filter((each) => each.verdict === verdict).at(-1)!;
  return comparisons.length === 1 ? deciding : { ...deciding, comparisons };
}
