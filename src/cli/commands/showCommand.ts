import { countersOfRun } from '../../results/counters/counterFile';
import { CounterSummarizer, counterSummaryLines } from '../../results/counters/counterSummary';
import { readResult, type StoredRun } from '../../results/readResult';
import { exitCode } from '../exitCode';
import { canColour, widthOf, type ProcessIo } from '../io';
import { finalScreen, interruptedScreen } from '../views/finalScreen';
import { paintAll } from '../views/line';

/**
 * The last screen of a stored run, also of one that was interrupted by a crash; or its summary in the
 * order of the Azure SignalR benchmark.
 */
export async function showCommand(
  location: string,
  { summary = false }: { readonly summary?: boolean },
  io: ProcessIo,
): Promise<number> {
  const { stdout } = io;
  const run = await readResult(location);
  if (summary) {
    stdout.write((await summaryOf(run)).map((line) => `${line}\n`).join(''));
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

/** The summary of a stored run in the order of the Azure SignalR benchmark, line by line. */
async function summaryOf(run: StoredRun): Promise<string[]> {
  const summarizer = new CounterSummarizer();
  for (const line of await countersOfRun(run)) summarizer.add(line);
  const steps = run.kind === 'result' ? run.result.steps : [];
  return counterSummaryLines(
    summarizer.summary(),
    (epoch) => steps.find(({ index }) => index === epoch)?.latencyUs,
  );
}
