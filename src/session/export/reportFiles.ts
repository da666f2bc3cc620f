import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileProblem, makeFolders } from '../../results/resultFolder';
import { exported, type FinishedRun, type Samples } from './exporters';

/** Writes a report, and the folders above it that are missing. Returns why it could not, in words. */
export async function writeReport(file: string, text: string): Promise<string | undefined> {
  try {
    await makeFolders(path.dirname(file));
    await writeFile(file, text);
    return undefined;
  } catch (error) {
    return `${file} cannot be written (${fileProblem(error)}).`;
  }
}

/** What is asked for with a run: its file by the name of its format. */
export type ReportFiles = Readonly<Record<string, string | undefined>>;

/**
 * Writes the reports of a run that is over. One that cannot be made or written is a warning: the run is worth
 * more than its reports, and ends by its verdict.
 *
 * @returns the files that were written
 */
export async function writeReports(
  run: FinishedRun,
  samples: Samples,
  files: ReportFiles,
  warn: (message: string) => void,
): Promise<string[]> {
  const { html: page } = files;
  const named = { ...run, ...(page !== undefined && { page }) };
  const written: string[] = [];
  for (const [format, file] of Object.entries(files)) {
    if (file === undefined) continue;
    const problem = await writeReport(file, await exported(named, format, samples));
    if (problem === undefined) written.push(file);
    else warn(problem);
  }
  return written;
}
