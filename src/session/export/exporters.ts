/** Stored runs in other formats, for people and for other programs. */
import { jsonDocument } from '../../base/text';
import { ExpectedError } from '../../base/expectedError';
import type { StoredRun } from '../../results/readResult';

export type FinishedRun = Extract<StoredRun, { kind: 'result' }>;

/** A format a stored run can be written in, for `export` and for _Export Result…_ in the editor. */
export interface Exporter {
  /** As after `--format`. */
  readonly name: string;
  /** Of its files, without the dot. */
  readonly extension: string;
  /** What it holds, for help and choices; the editor translates it. */
  readonly words: string;
  readonly write: (run: FinishedRun) => string | Promise<string>;
  /** What is left of an interrupted run; absent where that makes no sense. */
  readonly writeInterrupted?: (run: StoredRun) => string | Promise<string>;
}

const markdown = async (run: StoredRun): Promise<string> =>
  (await import(/* webpackChunkName: "run" */ './summaryMarkdown.js')).storedMarkdown(run);
const counters = async (run: StoredRun): Promise<string> =>
  (await import(/* webpackChunkName: "run" */ '../../results/counters/counterFile.js')).counterFile(
    run,
  );

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
    ...{ name: 'counters', extension: 'txt', words: 'the Azure SignalR benchmark’s file' },
    ...{ write: counters, writeInterrupted: counters },
  },
];

export const exportersFor = ({ kind }: StoredRun): Exporter[] =>
  exporters.filter(({ writeInterrupted }) => kind === 'result' || writeInterrupted);

/** @throws ExpectedError `result-missing` for an interrupted run that the format cannot hold */
export async function exported(run: StoredRun, format: string): Promise<string> {
  const exporter = exporters.find(({ name }) => name === format);
  if (run.kind === 'result' && exporter) return exporter.write(run);
  if (exporter?.writeInterrupted) return exporter.writeInterrupted(run);
  const fitting = exportersFor(run).map(({ name }) => name);
  throw new ExpectedError(
    'result-missing',
    `${run.path} is an interrupted run without a result: export it as ${fitting.join(' or ')}.`,
  );
}
