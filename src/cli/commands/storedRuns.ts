import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { jsonDocument } from '../../base/text';
import { countersOfRun } from '../../results/counters/counterFile';
import {
  CounterSummarizer,
  counterSummaryLines,
  readCounters,
} from '../../results/counters/counterSummary';
import { readResult } from '../../results/readResult';
import { exported } from '../../session/export/exporters';
import { writeReport } from '../../session/export/reportFiles';
import { samplesProblem } from '../../session/export/samplesEnd';
import { exitCode } from '../exitCode';
import { canColour, widthOf, type ProcessIo } from '../io';
import { finalScreen, interruptedScreen } from '../views/finalScreen';
import { paintAll, printable } from '../views/line';

/** The last screen of a stored or interrupted run, or its summary in the order of the Azure SignalR benchmark. */
export async function showCommand(
  location: string,
  { summary = false }: { readonly summary?: boolean },
  io: ProcessIo,
): Promise<number> {
  const { stdout } = io;
  const run = await readResult(location);
  if (summary) {
    const summarizer = new CounterSummarizer();
    for (const line of await countersOfRun(run)) summarizer.add(line);
    const steps = run.kind === 'result' ? run.result.steps : [];
    const latencies = new Map(steps.map(({ index, latencyUs }) => [index, latencyUs]));
    const lines = counterSummaryLines(summarizer.summary(), (epoch) => latencies.get(epoch));
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

/** Writes a stored run in another format, to standard output or a file. @throws ExpectedError */
export async function exportCommand(
  location: string,
  { format, out }: { readonly format: string; readonly out?: string },
  { stdout, stderr, cwd }: ProcessIo,
): Promise<number> {
  const run = await readResult(location);
  const text = await exported(run, format);
  const cut = await samplesProblem(run);
  if (cut !== undefined) stderr.write(`warning: ${cut}\n`);
  if (out === undefined) stdout.write(text);
  else {
    const problem = await writeReport(path.resolve(cwd, out), text);
    if (problem !== undefined) throw new ExpectedError('export-file', problem);
  }
  return exitCode.done;
}

/** Prints the summary of a counter file of the Azure SignalR benchmark. @throws ExpectedError with the damaged line */
export async function importCounters(
  file: string,
  { json = false }: { readonly json?: boolean },
  { stdout, stderr }: ProcessIo,
): Promise<number> {
  const { lines, cut, ...summary } = await readCounters(file);
  if (cut) stderr.write(`warning: the last line of ${printable(file)} is cut; it was left out\n`);
  if (summary.epochs.length === 0)
    stderr.write(`warning: ${printable(file)} ends before the first step\n`);
  stdout.write(
    json ? jsonDocument({ file, lines, cut, ...summary }) : ended(counterSummaryLines(summary)),
  );
  return exitCode.done;
}

const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
