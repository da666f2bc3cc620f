/** Which earlier run a later one is compared with. */
import { existsSync } from 'node:fs';
import { readdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { shownLatency } from '../../measure/latencySummary';
import type { Scenario } from '../../scenario/scenario';
import { readResult } from '../readResult';
import type { Result } from '../result';
import { fileProblem, folderName } from '../resultFolder';
import { loadWords, refusal, scenarioNameOf } from './compareResults';
import { loadDifferences } from './differences';
import { baselinesFile, baselinesSchema, mostBaselines, readBaselines } from './keptBaselines';

const baselineWords: readonly string[] = ['kept', 'last', 'best'];

/** Whether it stands for a result that is looked for; anything else is a result folder or a `result.json`. */
export const isBaselineWord = (which: string): boolean => baselineWords.includes(which);

export interface BaselineQuestion {
  /** `kept`, `last` or `best`, or where a result is. */
  readonly which: string;
  /** Where the result folders are. */
  readonly directory: string;
  /** File name of the scenario. */
  readonly scenarioName: string;
  /** That is about to be run. */
  readonly scenario: Scenario;
}

/** Newest first; older ones are not looked at. */
const mostResults = 50;

/**
 * The result that a run is to be compared with: `kept`, the one that was made the baseline of the scenario; `last`,
 * the newest that can be compared; `best`, of those that passed the one with the lowest p99 in its last step; or the one that is
 * named. Undefined where there is no such result yet.
 *
 * @throws ExpectedError `baseline-unlike` where a named or kept one cannot be compared with such a run; as {@link readResult}
 */
export async function findBaseline(question: BaselineQuestion): Promise<Result | undefined> {
  const { which, directory, scenarioName, scenario } = question;
  if (which === 'last' || which === 'best') {
    const found = await earlierResults(question, which === 'last' ? 1 : mostResults);
    return which === 'last' ? found[0] : bestOf(found);
  }
  const kept = which === 'kept' ? (await readBaselines(directory))[nameOf(scenarioName)] : which;
  if (kept === undefined) return undefined;
  const run = await readResult(which === 'kept' ? path.join(directory, kept) : kept);
  if (run.kind !== 'result')
    throw unlike(kept, 'its run was interrupted before it came to a result');
  const why = whyNot(run.result, scenario);
  if (why !== undefined) throw unlike(kept, why);
  return run.result;
}

const unlike = (which: string, why: string): ExpectedError =>
  new ExpectedError(
    'baseline-unlike',
    `${which} cannot be the baseline of this run: ${why}. Nothing was started.`,
  );

function whyNot(result: Result, scenario: Scenario): string | undefined {
  const [refused] = refusal(result);
  if (refused !== undefined) return refused;
  if (scenario.search !== undefined) return 'a capacity search has no fixed steps to compare';
  return loadDifferences(result.scenario, scenario).map(loadWords)[0];
}

/** Of this scenario and with its load, newest first. */
async function earlierResults(
  { directory, scenarioName, scenario }: BaselineQuestion,
  most: number,
): Promise<Result[]> {
  const name = nameOf(scenarioName);
  const all = await readdir(directory).catch((): string[] => []);
  const own = all.filter((each) => hasName(each, name)).sort((a, b) => (a < b ? 1 : -1));
  const found: Result[] = [];
  for (const each of own.slice(0, mostResults)) {
    if (found.length >= most) break;
    // One that is damaged, or still being written, is none.
    const run = await readResult(path.join(directory, each)).catch(() => undefined);
    if (run?.kind !== 'result' || whyNot(run.result, scenario) !== undefined) continue;
    if (run.result.ending === 'completed' || run.result.ending === 'threshold')
      found.push(run.result);
  }
  return found;
}

/** What folders of the scenario are called after their time. */
const nameOf = (scenarioName: string): string =>
  folderName(new Date(0), scenarioName).slice('1970-01-01T00-00-00-'.length);

/** With a number where a name was taken. */
function hasName(folder: string, name: string): boolean {
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.*)$/.exec(folder) ?? [];
  return rest?.startsWith(name) === true && /^(-\d+)?$/.test(rest.slice(name.length));
}

function bestOf(results: readonly Result[]): Result | undefined {
  const p99 = ({ steps }: Result): number => {
    const last = steps.at(-1);
    return (last && shownLatency(last)?.p99) ?? Infinity;
  };
  return results
    .filter(({ verdict }) => verdict.status === 'pass')
    .reduce<Result | undefined>(
      (best, each) => (best !== undefined && p99(best) <= p99(each) ? best : each),
      undefined,
    );
}

/**
 * Makes the run in that folder the baseline of its scenario, for `kept`.
 *
 * @returns the name of the scenario
 * @throws ExpectedError `baseline-unlike` for one that nothing can be compared with, `result-folder`; as {@link readResult}
 */
export async function keepBaseline(folder: string): Promise<string> {
  const run = await readResult(folder);
  const place = path.resolve(folder);
  const at = run.kind === 'result' ? path.dirname(path.resolve(run.path)) : place;
  const id = path.basename(at);
  if (run.kind !== 'result') throw unlike(id, 'its run was interrupted before it came to a result');
  const [refused] = refusal(run.result);
  if (refused !== undefined) throw unlike(id, refused);
  const directory = path.dirname(at);
  // The folder may have a name that somebody gave it.
  const { id: first } = run.result;
  const unnumbered = first.replace(/-\d+$/, '');
  // A number stands there where the name was taken.
  const isNumbered = unnumbered !== first && existsSync(path.join(directory, unnumbered));
  const scenario = scenarioNameOf(isNumbered ? unnumbered : first);
  const others = Object.entries(await readBaselines(directory)).filter(
    ([name]) => name !== scenario,
  );
  const kept: [string, string][] = [...others, [scenario, id]];
  const baselines = Object.fromEntries(kept.slice(-mostBaselines));
  const file = path.join(directory, baselinesFile);
  try {
    // Whole or not at all, whoever reads it meanwhile.
    await writeFile(
      `${file}.new`,
      `${JSON.stringify({ schema: baselinesSchema, baselines }, null, 2)}\n`,
    );
    await rename(`${file}.new`, file);
  } catch (error) {
    throw new ExpectedError('result-folder', `${file} cannot be written (${fileProblem(error)}).`, {
      cause: error,
    });
  }
  return scenario;
}
