import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { jsonDocument } from '../../base/text';
import type { Comparison } from '../../measure/compare/comparison';
import { keepBaseline } from '../../results/compare/baseline';
import { compareAll, verdictOfAll } from '../../results/compare/compareResults';
import { readResult } from '../../results/readResult';
import type { Result } from '../../results/result';
import { comparisonMarkdown } from '../../session/export/comparisonMarkdown';
import { exitCode, exitCodeOfComparison } from '../exitCode';
import { canColour, widthOf, type ProcessIo } from '../io';
import { comparisonScreen } from '../views/comparisonScreen';
import { paintAll, printable } from '../views/line';

export interface CompareFlags {
  readonly tolerance?: number;
  readonly json?: boolean;
  readonly format?: 'text' | 'json' | 'md';
}

/** Compares each result with the first. The exit code is 1 where one is worse. @throws ExpectedError */
export async function compareCommand(
  baseline: string,
  others: readonly string[],
  { tolerance, json = false, format = json ? 'json' : 'text' }: CompareFlags,
  io: ProcessIo,
): Promise<number> {
  const [first, ...rest] = await Promise.all(
    [baseline, ...others].map((location) => finished(path.resolve(io.cwd, location))),
  );
  const comparisons = compareAll(first!, rest, tolerance === undefined ? {} : { tolerance });
  const verdict = verdictOfAll(comparisons);
  io.stdout.write(written(comparisons, format, io));
  return exitCodeOfComparison(verdict);
}

/** Makes a result the baseline of its scenario. @throws ExpectedError */
export async function baselineCommand(
  location: string,
  _flags: object,
  { cwd, stderr }: ProcessIo,
): Promise<number> {
  const scenario = await keepBaseline(path.resolve(cwd, location));
  stderr.write(`${printable(location)} is the baseline of ${printable(scenario)} now.\n`);
  return exitCode.done;
}

async function finished(location: string): Promise<Result> {
  const run = await readResult(location);
  if (run.kind === 'result') return run.result;
  throw new ExpectedError(
    'result-missing',
    `The run at ${location} was interrupted before it came to a result; there is nothing to compare.`,
  );
}

function written(
  comparisons: readonly Comparison[],
  format: NonNullable<CompareFlags['format']>,
  io: ProcessIo,
): string {
  if (format === 'json') return jsonDocument(jsonOf(comparisons));
  if (format === 'md') return comparisons.map((each) => comparisonMarkdown(each)).join('\n');
  const width = widthOf(io.stdout);
  const screens = comparisons.map((comparison) => comparisonScreen(comparison, width));
  return screens.map((lines) => paintAll(lines, canColour(io))).join('\n');
}

/** Of several the one that decides, with all of them in `comparisons`. */
function jsonOf(comparisons: readonly Comparison[]): object {
  const verdict = verdictOfAll(comparisons);
  const deciding = comparisons.filter((each) => each.verdict === verdict).at(-1)!;
  return comparisons.length === 1 ? deciding : { ...deciding, comparisons };
}
