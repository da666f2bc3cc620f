import { countersOfRun } from '../../results/counters/counterFile';
import { CounterSummarizer, counterSummaryLines } from '../../results/counters/counterSummary';
import type { StoredRun } from '../../results/readResult';

/** The summary of a stored run in the order of the Azure SignalR benchmark, line by line. */
export async function summaryOf(run: StoredRun): Promise<string[]> {
  const summarizer = new CounterSummarizer();
  for (const line of await countersOfRun(run)) summarizer.add(line);
  const steps = run.kind === 'result' ? run.result.steps : [];
  return counterSummaryLines(
    summarizer.summary(),
    (epoch) => steps.find(({ index }) => index === epoch)?.latencyUs,
  );
}
