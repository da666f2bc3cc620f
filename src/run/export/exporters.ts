/** Exports of stored runs. */
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
  readonly page?: string;
  readonly notCompared?: string;
};

/** For `export` and _Export Result…_. */
export interface Exporter {
  readonly name: string;
  readonly extension: string;
  /** Contents, for help and choices; translated in the editor. */
  readonly words: string;
  readonly write: (run: FinishedRun, samples: Samples) => string | Promise<string>;
  readonly writeInterrupted?: (run: InterruptedRun, samples: Samples) => string | Promise<string>;
}

type Samples = () => Promise<readonly Snapshot[]>;

const markdown = async (run: FinishedRun | InterruptedRun): Promise<string> =>
  (await import(/* webpackChunkName: "sharedLater" */ './summaryMarkdown.js')).storedMarkdown(run);
const counters = async (run: StoredRun): Promise<string> =>
  (
    await import(/* webpackChunkName: "sharedLater" */ '../../results/counters/counterFile.js')
  ).formatCounterFile(run);

const htmlReport = () => import(/* webpackChunkName: "sharedLater" */ './htmlReport.js');
const junit = () => import(/* webpackChunkName: "sharedLater" */ './junitReport.js');

/** In the order offered; a new format is a file beside this and an entry here. */
export const exporters: readonly Exporter[] = [
  { name: 'json', extension: 'json', words: 'all', write: ({ result }) => jsonDocument(result) },
  {
    ...{ name: 'csv', extension: 'csv', words: 'the steps' },
    write: async ({ result }) =>
      (await import(/* webpackChunkName: "sharedLater" */ './stepsCsv.js')).stepsCsv(result),
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
      (await import(/* webpackChunkName: "sharedLater" */ './stepsCsv.js')).histogramLog(
        result,
        await samples(),
      ),
  },
  {
    ...{ name: 'openmetrics', extension: 'txt', words: 'metrics for Prometheus and others' },
    write: async ({ result }) =>
      (await import(/* webpackChunkName: "sharedLater" */ './runMetrics.js')).resultAsOpenMetrics(
        result,
      ),
  },
  {
    ...{ name: 'counters', extension: 'txt', words: 'the Azure SignalR benchmark’s file' },
    ...{ write: counters, writeInterrupted: counters },
  },
];

export const exportersFor = ({ kind }: StoredRun): Exporter[] =>
  exporters.filter(({ writeInterrupted }) => kind === 'result' || writeInterrupted);

/**
 * @param samples absent: read from the run's folder
 * @throws ExpectedError `result-missing` for an interrupted run that the format cannot hold
 */
export async function exportRun(
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

/** Makes missing folders. @returns why it could not be written */
export async function writeReport(file: string, text: string): Promise<string | undefined> {
  try {
    await makeFolders(path.dirname(file));
    await replaceFile(file, text);
    return undefined;
  } catch (error) {
    return `${file} cannot be written (${describeFileError(error)}).`;
  }
}

type ReportFiles = Readonly<Record<string, string | undefined>>;

/** A run without a result so far, or with the reason why it has none. */
export const runWithoutResult = (
  scenario: string,
  startedAt: Date,
  problem?: string,
): InterruptedRun => ({
  ...{ kind: 'interrupted', path: resultFolderName(startedAt, scenario), steps: [] },
  ...(problem !== undefined && { problem }),
});

/** Writes reports of a finished run; one that fails is a warning. @returns the files written */
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
    const problem = await writeReport(file, await exportRun(named, format, samples));
    if (problem === undefined) written.push(file);
    else warn(problem);
  }
  return written;
}
