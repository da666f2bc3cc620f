/** Stored runs in other formats, for people and for other programs. */
import { jsonDocument } from '../../base/text';
import { ExpectedError } from '../../base/expectedError';
import type { Snapshot } from '../../measure/snapshot';
import {
  runFolder,
  readSnapshots,
  type InterruptedRun,
  type StoredRun,
} from '../../results/readResult';
import path from 'node:path';
import { replaceFile } from '../../results/safeFiles';
import { describeFileError, resultFolderName, makeFolders } from '../../results/resultFolder';

type FinishedRun = Extract<StoredRun, { kind: 'result' }> & {
  /** The report as a page that is written with it, for texts that name it. */
  readonly page?: string;
  /** Why the run was not compared with a baseline that was asked for. */
  readonly notCompared?: string;
};

/** A format a stored run can be written in, for `export` and for _Export Result…_ in the editor. */
export interface Exporter {
  /** As after `--format`. */
  readonly name: string;
  /** Of its files, without the dot. */
  readonly extension: string;
  /** What it holds, for help and choices; the editor translates it. */
  readonly words: string;
  readonly write: (run: FinishedRun, samples: Samples) => string | Promise<string>;
  /** What is left of an interrupted run; absent where that makes no sense. */
  readonly writeInterrupted?: (run: InterruptedRun, samples: Samples) => string | Promise<string>;
}

/** The snapshots of the run, oldest first: those at hand, or what its folder holds of them. */
type Samples = () => Promise<readonly Snapshot[]>;

const markdown = async (run: FinishedRun | InterruptedRun): Promise<string> =>
  (await import(/* webpackChunkName: "run" */ './summaryMarkdown.js')).storedMarkdown(run);
const counters = async (run: StoredRun): Promise<string> =>
  (
    await import(/* webpackChunkName: "run" */ '../../results/counters/counterFile.js')
  ).formatCounterFile(run);

const htmlReport = () => import(/* webpackChunkName: "run" */ './htmlReport.js');
const junit = () => import(/* webpackChunkName: "run" */ './junitReport.js');

/** Every format, in the order they are offered; a new one is a file beside this and a line here. */
export const exporters: readonly Exporter[] = [
  { name: 'json', extension: 'json', words: 'all', write: ({ result }) => jsonDocument(result) },
  {
    ...{ name: 'csv', extension: 'csv', words: 'the steps' },
    write: async ({ result }) =>
      (await import(/* webpackChunkName: "run" */ './stepsCsv.js')).stepsCsv(result),
  },
  {
    ...{ name: 'md', extension: 'md', words: 'a report' },
    ...{ write: markdown, writeInterrupted: markdown },
  },
  {
    ...{ name: 'html', extension: 'html', words: 'a page with charts' },
    write: async ({ result, notCompared }, samples) =>
      (await htmlReport()).htmlReport(result, await samples(), notCompared),
    writeInterrupted: async (run, samples) =>
      (await htmlReport()).interruptedHtml(run, await samples()),
  },
  {
    ...{ name: 'junit', extension: 'xml', words: 'a test case for each objective and step' },
    write: async ({ result, notCompared }) => (await junit()).junitReport(result, notCompared),
    writeInterrupted: async (run) => (await junit()).interruptedJunit(run),
  },
  {
    ...{ name: 'hlog', extension: 'hlog', words: 'the histograms of the steps' },
    write: async ({ result }, samples) =>
      (await import(/* webpackChunkName: "run" */ './stepsCsv.js')).histogramLog(
        result,
        await samples(),
      ),
  },
  {
    ...{ name: 'openmetrics', extension: 'txt', words: 'metrics for Prometheus and others' },
    write: async ({ result }) =>
      (await import(/* webpackChunkName: "run" */ './runMetrics.js')).openMetricsOf(result),
  },
  {
    ...{ name: 'counters', extension: 'txt', words: 'the Azure SignalR benchmark’s file' },
    ...{ write: counters, writeInterrupted: counters },
  },
];

export const exportersFor = ({ kind }: StoredRun): Exporter[] =>
  exporters.filter(({ writeInterrupted }) => kind === 'result' || writeInterrupted);

/**
 * @param samples those at hand; else they are read from the folder of the run
 * @throws ExpectedError `result-missing` for an interrupted run that the format cannot hold
 */
export async function exported(
  run: StoredRun,
  format: string,
  samples: Samples = () => readSnapshots(runFolder(run)),
): Promise<string> {
  const exporter = exporters.find(({ name }) => name === format);
  if (run.kind === 'result' && exporter) return exporter.write(run, samples);
  if (run.kind === 'interrupted' && exporter?.writeInterrupted)
    return exporter.writeInterrupted(run, samples);
  const names = exportersFor(run).map(({ name }) => name);
  const fitting = [names.slice(0, -1).join(', '), names.at(-1)].filter((each) => each !== '');
  throw new ExpectedError(
    'result-missing',
    `${run.path} is an interrupted run without a result: export it as ${fitting.join(' or ')}.`,
  );
}

/** Writes a report, and the folders above it that are missing. Returns why it could not, in words. */
export async function writeReport(file: string, text: string): Promise<string | undefined> {
  try {
    await makeFolders(path.dirname(file));
    await replaceFile(file, text);
    return undefined;
  } catch (error) {
    return `${file} cannot be written (${describeFileError(error)}).`;
  }
}

/** What is asked for with a run: its file by the name of its format. */
type ReportFiles = Readonly<Record<string, string | undefined>>;

/** What is reported of a run that has come to no result so far, or will not, for the reason that is given. */
export const withoutResult = (
  scenario: string,
  startedAt: Date,
  problem?: string,
): InterruptedRun => ({
  ...{ kind: 'interrupted', path: resultFolderName(startedAt, scenario), steps: [] },
  ...(problem !== undefined && { problem }),
});

/**
 * Writes the reports of a run that is over. One that cannot be made or written is a warning: the run is worth
 * more than its reports, and ends by its verdict.
 *
 * @returns the files that were written
 */
export async function writeReports(
  run: FinishedRun | InterruptedRun,
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
