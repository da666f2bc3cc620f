import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { scenarioEstimate } from '../../capacity/estimate';
import { sizeProblems } from '../../capacity/judge/unitVerdict';
import type { ParsedScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import { referencesIn, secretVariable } from '../../scenario/target/references';
import { exitCode } from '../exitCode';
import { hasErrors, locateProblems, formatProblem, type PlacedProblem } from '../scenarioOf';
import { jsonDocument } from '../../base/text';
import { paint, printable, type Tone } from '../views/line';
import { NamedFiles } from '../../run/namedFiles';
import { namedScenario, type ScenarioParser } from '../../run/scenarioFile';
import { canColour, referenceValue, type ProcessIo } from '../io';

export interface ValidateDeps {
  readonly parseScenario: ScenarioParser;
}

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warning: 'warn', info: 'dim' };

/** Lists problems; exit code 2 for an error. */
export async function validateCommand(
  files: readonly string[],
  options: { readonly json?: boolean },
  io: ProcessIo,
  deps: ValidateDeps,
): Promise<number> {
  const { stdout, stderr, env } = io;
  const all: PlacedProblem[] = [];
  let unreadable = false;
  for (const file of files) {
    try {
      const { name, text } = await namedScenario(file, io.input);
      const parsed = deps.parseScenario(text);
      const files = new NamedFiles();
      const folder = file === '-' ? io.cwd : path.dirname(path.resolve(io.cwd, file));
      await files.look(parsed, folder);
      const found = [
        ...parsed.problems,
        ...missingReferences(text, env),
        ...problemsOfSizes(parsed),
        ...files.problemsIn(text),
      ];
      all.push(...locateProblems(name, text, found));
    } catch (error) {
      if (!(error instanceof ExpectedError)) throw error;
      unreadable = true;
      stderr.write(`${printable(error.message)}\n`);
    }
  }
  if (options.json) {
    stdout.write(jsonDocument(all));
  } else {
    const colour = canColour(io);
    for (const problem of all) {
      const line = { text: formatProblem(problem), tone: tones[problem.severity] };
      stdout.write(`${paint(line, colour)}\n`);
    }
  }
  return unreadable || hasErrors(all) ? exitCode.badInput : exitCode.done;
}

function problemsOfSizes(parsed: ParsedScenario): Problem[] {
  const { scenario } = parsed;
  if (scenario === undefined || scenario.kind === 'resultparser' || hasErrors(parsed.problems))
    return [];
  const found = scenarioEstimate(scenario);
  return sizeProblems(parsed, 'problem' in found ? undefined : found.estimate.planned);
}

/** A warning: secrets may be elsewhere. */
function missingReferences(text: string, env: ProcessIo['env']): Problem[] {
  return referencesIn(text)
    .filter(({ offset }) => !isComment(text, offset))
    .filter(({ kind, name }) => referenceValue(env, kind, name) === undefined)
    .map(({ kind, name, offset, length }) => ({
      code: 'missing-reference',
      severity: 'warning',
      message: `The environment variable ${kind === 'env' ? name : secretVariable(name)} is not set; a run would stop here.`,
      offset,
      length,
    }));
}

function isComment(text: string, offset: number): boolean {
  const lineStart = Math.max(
    text.lastIndexOf('\n', offset - 1),
    text.lastIndexOf('\r', offset - 1),
  );
  return /(^|\s)#/.test(text.slice(lineStart + 1, offset));
}
