import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { formatCount, formatDurationMs } from '../../base/units';
import { minimumBlocks } from '../../measure/compare/comparison';
import { shownPercentiles } from '../../measure/latencySummary';
import type { Scenario } from '../../scenario/scenario';
import type { StepSummary } from '../../measure/summary';
import { repeatCount, stepsOf } from '../../scenario/steps';
import { referencesIn, resolveReferences } from '../../scenario/target/references';
import { urlsOf, mapTargetTexts } from '../../scenario/target/targetKinds';
import { joinWords } from '../../scenario/text/words';
import {
  baselinesFile,
  baselinesSchema,
  maximumBaselines,
  readBaselines,
  writeJson,
} from '../historyFiles';
import { readResult } from '../readResult';
import { redactTarget } from '../redact';
import type { Result } from '../result';
import { describeFileError, resultFolderName } from '../resultFolder';
import {
  passedOrFailed,
  loadDifferences,
  describeLoadDifference,
  noCommonStepReason,
  poolRepeats,
  reasonsNotComparable,
  scenarioNameFromId,
} from './compareResults';

const baselineWords: readonly string[] = ['kept', 'last', 'best'];

/** Anything else is a result folder or a `result.json`. */
export const isBaselineKeyword = (which: string): boolean => baselineWords.includes(which);

export interface BaselineRequest {
  /** `kept`, `last` or `best`, or where a result is. */
  readonly which: string;
  readonly directory: string;
  readonly scenarioName: string;
  readonly scenario: Scenario;
  /** What references stand for; absent: the same references are the same target. */
  readonly reference?: Parameters<typeof resolveReferences>[1];
}

const mostResults = 50;

/**
 * `kept` is the baseline that somebody chose for the scenario; `last` the newest result of the same file and target
 * that passed and was not worse than its own baseline, or was made the baseline all the same; `best` the passed one with the lowest p99 in its last step;
 * anything else names a result. @throws ExpectedError `baseline-unlike` where a named one cannot be compared with
 * such a run; as {@link readResult}
 */
export async function findBaseline(question: BaselineRequest): Promise<FoundBaseline> {
  const { which, directory, scenarioName, scenario } = question;
  const never = neverCompared(scenario);
  if (!isBaselineKeyword(which)) {
    if (never !== undefined)
      throw new ExpectedError(
        'baseline-unlike',
        `The run cannot be compared with a baseline: ${never}, or leave out --baseline. Nothing was started.`,
      );
    const named = await comparable(which, scenario);
    if (named.result === undefined) throw unlike(which, named.why);
    return named;
  }
  if (never !== undefined) return { why: never };
  const name = path.basename(scenarioName);
  if (which === 'kept') {
    const kept = (await readBaselines(directory))[nameOf(scenarioName)];
    if (kept === undefined)
      return { why: `no result was made the baseline of ${name}`, lookedIn: directory };
    const found = await comparable(path.join(directory, kept), scenario);
    return found.result === undefined ? { why: `the baseline ${kept}: ${found.why}` } : found;
  }
  const kept = Object.values(await readBaselines(directory));
  const found: Result[] = [];
  const passedOver: string[] = [];
  for await (const earlier of earlierResults(question)) {
    const fault = kept.includes(earlier.id) ? undefined : faultOf(earlier);
    if (fault !== undefined) passedOver.push(`${earlier.id} (${fault})`);
    else if (found.push(earlier) === (which === 'last' ? 1 : mostResults)) break;
  }
  const result = which === 'last' ? found[0] : bestOf(found);
  if (result !== undefined) return { result, passedOver: which === 'last' ? passedOver : [] };
  const over = passedOver.length === 0 ? '' : `; passed over: ${listFirstFew(passedOver)}`;
  return {
    why: `there is no earlier result of ${name} with this load and target to compare with${over}`,
    lookedIn: directory,
  };
}

/** A failed run that is repeated must not be compared with itself. */
function faultOf({ verdict, baseline }: Result): string | undefined {
  if (verdict.status !== 'pass') return verdict.status === 'fail' ? 'failed' : verdict.status;
  return baseline?.verdict === 'worse' ? `worse than ${baseline.a.id}` : undefined;
}

const mostNamed = 3;

export const listFirstFew = (ids: readonly string[]): string =>
  joinWords(
    ids.length > mostNamed
      ? [...ids.slice(0, mostNamed), `${formatCount(ids.length - mostNamed)} older`]
      : ids,
  );

export type FoundBaseline =
  | {
      readonly result: Result;
      /** Newer results that were skipped, newest first, each with its reason. */
      readonly passedOver?: readonly string[];
      readonly why?: undefined;
      readonly lookedIn?: undefined;
    }
  | {
      readonly result?: undefined;
      readonly why: string;
      readonly lookedIn?: string;
    };

async function comparable(place: string, scenario: Scenario): Promise<FoundBaseline> {
  const run = await readResult(place);
  if (run.kind !== 'result') return { why: 'its run was interrupted before it came to a result' };
  const why = whyNot(run.result, scenario);
  return why === undefined ? { result: run.result } : { why };
}

const unlike = (which: string, why: string): ExpectedError =>
  new ExpectedError(
    'baseline-unlike',
    `${which} cannot be the baseline of this run: ${why}. Name another result, or leave out --baseline; nothing was started.`,
  );

const unkept = (id: string, why: string): ExpectedError =>
  new ExpectedError(
    'baseline-unlike',
    `${id} cannot be made a baseline: ${why}. The baseline stays as it was.`,
  );

function whyNot(result: Result, scenario: Scenario): string | undefined {
  const [refused] = reasonsNotComparable(result);
  if (refused !== undefined) return refused;
  const [another] = loadDifferences(result.scenario, scenario).map(describeLoadDifference);
  return another ?? whyNoStep(result, scenario);
}

function neverCompared(scenario: Scenario): string | undefined {
  const { search, singleStepDurationMs } = scenario;
  if (search !== undefined)
    return 'a capacity search has no fixed steps to compare; run without the search (--no-search)';
  const seconds = (repeatCount(scenario) * singleStepDurationMs) / 1000;
  if (seconds >= minimumBlocks) return undefined;
  return `the steps of this run last ${formatDurationMs(seconds * 1000)}, and ${enoughWords}`;
}

const enoughWords = `at least ${minimumBlocks} s of each run are needed to say what is chance; set singleStepDuration to ${minimumBlocks}s or more`;

function whyNoStep(result: Result, scenario: Scenario): string | undefined {
  const planned = stepsOf(scenario).map(({ index, senders, perEntry }) => ({
    index,
    senders: perEntry.length > 1 ? perEntry.reduce((sum, each) => sum + each, 0) : senders,
  }));
  let before: StepSummary[];
  try {
    before = poolRepeats(result).filter(passedOrFailed);
  } catch (error) {
    if (error instanceof ExpectedError) return error.message;
    throw error;
  }
  if (before.length === 0) return 'none of its steps passed or failed';
  const common = before.filter(({ index, senders }) =>
    planned.some((step) => step.index === index && step.senders === senders),
  );
  const sendersOf = (steps: readonly { readonly senders: number }[]): number[] =>
    steps.map(({ senders }) => senders);
  if (common.length === 0) return noCommonStepReason(sendersOf(before), sendersOf(planned));
  if (common.some(({ latencyBlocks }) => (latencyBlocks?.counts.length ?? 0) >= minimumBlocks))
    return undefined;
  const longest = Math.max(...common.map(({ seconds }) => seconds));
  return longest < minimumBlocks
    ? `it measured each step for ${formatDurationMs(longest * 1000)} at most, and ${enoughWords}`
    : `its deliveries arrived in fewer than ${minimumBlocks} pieces of its time`;
}

/** Newest first: results of the same scenario, load and target whose run was not broken off. */
async function* earlierResults(question: BaselineRequest): AsyncGenerator<Result> {
  const { directory, scenarioName, scenario } = question;
  const name = nameOf(scenarioName);
  const all = await readdir(directory).catch((): string[] => []);
  const own = all.filter((each) => hasName(each, name)).sort((a, b) => (a < b ? 1 : -1));
  for (const each of own) {
    // Skips what is damaged or still being written.
    const run = await readResult(path.join(directory, each)).catch(() => undefined);
    if (run?.kind !== 'result') continue;
    const { result } = run;
    const isOther = ownNameOf(result, directory) !== name || !isSameTarget(result, question);
    if (isOther || whyNot(result, scenario) !== undefined) continue;
    if (result.ending === 'completed' || result.ending === 'threshold') yield result;
  }
}

/** What follows the time in the names of its result folders. */
const nameOf = (scenarioName: string): string =>
  resultFolderName(new Date(0), scenarioName).slice('1970-01-01T00-00-00-'.length);

/** Results without `scenarioName` have only their id, which may end in a number because the name was taken. */
function ownNameOf({ id, scenarioName }: Result, directory: string): string {
  if (scenarioName !== undefined) return nameOf(scenarioName);
  const unnumbered = id.replace(/-\d+$/, '');
  const isNumbered = unnumbered !== id && existsSync(path.join(directory, unnumbered));
  return scenarioNameFromId(isNumbered ? unnumbered : id);
}

/** References must be the same, and still stand for the same place. */
function isSameTarget(
  { scenario, target }: Result,
  { scenario: asked, reference }: BaselineRequest,
): boolean {
  const textsOf = ({ target: spec = { kind: 'local' } }: Scenario): string =>
    JSON.stringify(mapTargetTexts(spec, redactTarget));
  if (textsOf(scenario) !== textsOf(asked)) return false;
  const urls = urlsOf(asked.target);
  if (reference === undefined || target.kind !== 'hubUrl' || !urls.some(hasReference)) return true;
  const placesOf = (texts: readonly string[]): string =>
    texts
      .flatMap((text) => text.split(','))
      .map(placeOf)
      .join();
  return (
    placesOf(urls.map((url) => resolveReferences(url, reference).text)) === placesOf([target.url])
  );
}

const hasReference = (text: string): boolean => referencesIn(text).length > 0;

function placeOf(url: string): string {
  if (!URL.canParse(url.trim())) return url;
  const { host, pathname } = new URL(url.trim());
  return host + pathname;
}

function hasName(folder: string, name: string): boolean {
  const [, rest] = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-(.*)$/.exec(folder) ?? [];
  return rest?.startsWith(name) === true && /^(-\d+)?$/.test(rest.slice(name.length));
}

function bestOf(results: readonly Result[]): Result | undefined {
  const p99 = ({ steps }: Result): number => {
    const last = steps.at(-1);
    return (last && shownPercentiles(last)?.p99) ?? Infinity;
  };
  return results
    .filter(({ verdict }) => verdict.status === 'pass')
    .reduce<Result | undefined>(
      (best, each) => (best !== undefined && p99(best) <= p99(each) ? best : each),
      undefined,
    );
}

/**
 * Makes a run the baseline of its scenario, for `kept`; returns the scenario's name. @throws ExpectedError
 * `baseline-unlike` for one that nothing can be compared with, `result-folder`; as {@link readResult}
 */
export async function saveBaseline(folder: string): Promise<string> {
  const run = await readResult(folder);
  const place = path.resolve(folder);
  const at = run.kind === 'result' ? path.dirname(path.resolve(run.path)) : place;
  const id = path.basename(at);
  if (run.kind !== 'result') throw unkept(id, 'its run was interrupted before it came to a result');
  const [refused] = reasonsNotComparable(run.result);
  if (refused !== undefined) throw unkept(id, refused);
  const directory = path.dirname(at);
  // Somebody may have renamed the folder.
  const scenario = ownNameOf(run.result, directory);
  const others = Object.entries(await readBaselines(directory)).filter(
    ([name]) => name !== scenario,
  );
  const kept: [string, string][] = [...others, [scenario, id]];
  const baselines = Object.fromEntries(kept.slice(-maximumBaselines));
  const file = path.join(directory, baselinesFile);
  try {
    await writeJson(file, { schema: baselinesSchema, baselines });
  } catch (error) {
    throw new ExpectedError(
      'result-folder',
      `${file} cannot be written (${describeFileError(error)}).`,
      {
        cause: error,
      },
    );
  }
  return scenario;
}
