import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { countersOfRun } from '../../results/counters/counterFile';
import { counterText } from '../../results/counters/counterLines';
import { readResult, type StoredRun } from '../../results/readResult';
import { exitCode } from '../exitCode';
import type { ExportFormat } from './exportFormats';
import { jsonDocument } from '../views/jsonDocument';
import { stepsCsv } from '../views/stepsCsv';
import { interruptedMarkdown, summaryMarkdown } from '../views/summaryMarkdown';
import type { Surroundings } from '../surroundings';

/**
 * Writes a stored run to standard output in another format. Of an interrupted run there are Markdown and
 * counters only.
 *
 * @throws ExpectedError when there is no result, or none that the format could hold
 */
export async function exportCommand(
  location: string,
  { format }: { readonly format: ExportFormat },
  { stdout }: Surroundings,
): Promise<number> {
  stdout.write(await exported(await readResult(location), format));
  return exitCode.done;
}

async function exported(run: StoredRun, format: ExportFormat): Promise<string> {
  switch (format) {
    case 'counters':
      return (await countersOfRun(run)).map((line) => `${counterText(line)}\n`).join('');
    case 'md':
      return run.kind === 'result'
        ? summaryMarkdown(run.result)
        : interruptedMarkdown(path.basename(path.resolve(run.path)), run);
    case 'json':
    case 'csv':
      if (run.kind === 'interrupted') {
        throw new ExpectedError(
          'result-missing',
          `${run.path} is an interrupted run without a result: export it as md or counters.`,
        );
      }
      return format === 'csv' ? stepsCsv(run.result) : jsonDocument(run.result);
  }
}
