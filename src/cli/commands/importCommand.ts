import { counterSummaryLines } from '../../results/counters/counterSummary';
import { readCounters } from '../../results/counters/readCounters';
import { exitCode } from '../exitCode';
import { jsonDocument } from '../../base/visibleText';
import { printable } from '../views/line';
import type { ProcessIo } from '../io';

/**
 * Reads a counter file of the Azure SignalR benchmark and prints its summary, in the order of that tool.
 *
 * @throws ExpectedError with the line when the file is damaged
 */
export async function importCommand(
  file: string,
  { json = false }: { readonly json?: boolean },
  { stdout, stderr }: ProcessIo,
): Promise<number> {
  const { lines, cut, ...summary } = await readCounters(file);
  if (cut) stderr.write(`warning: the last line of ${printable(file)} is cut; it was left out\n`);
  if (summary.epochs.length === 0)
    stderr.write(`warning: ${printable(file)} ends before the first step\n`);
  stdout.write(
    json
      ? jsonDocument({ file, lines, cut, ...summary })
      : counterSummaryLines(summary)
          .map((line) => `${line}\n`)
          .join(''),
  );
  return exitCode.done;
}
