import { existsSync } from 'node:fs';
import path from 'node:path';
import { ExpectedError } from '../../base/expectedError';
import { scenarioEstimate } from '../../capacity/estimate';
import { sizeProblem } from '../../capacity/judge/unitVerdict';
import type { ParsedScenario } from '../../scenario/parseScenario';
import type { Problem } from '../../scenario/problem';
import { referencesIn } from '../../scenario/target/references';
import { exitCode } from '../exitCode';
import { hasErrors, placeProblems, problemText, type PlacedProblem } from '../scenarioOf';
import { jsonDocument } from '../../base/text';
import { paint, printable, type Tone } from '../views/line';
import { namedScenario, readScenarioFile, type ScenarioParser } from '../../session/scenarioFile';
import { secretVariable } from '../../targets/target';
import { canColour, referenceValue, type ProcessIo } from '../io';
import { lookIntoRows } from '../../targets/resolveEndpoint';

export interface ValidateDeps {
  readonly parseScenario: ScenarioParser;
}

const tones: Readonly<Record<string, Tone>> = { error: 'bad', warning: 'warn', info: 'dim' };

/** Problems of scenario files on standard output; exit code 2 when one is an error. */
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
      const found = [
        ...parsed.problems,
        ...missingReferences(text, env),
        ...sizeProblems(parsed),
        ...(await fileProblems(
          parsed,
          text,
          file === '-' ? io.cwd : path.dirname(path.resolve(io.cwd, file)),
        )),
      ];
      all.push(...placeProblems(name, text, found));
    } catch (error) {
      // One file that cannot be read does not keep the others from being judged.
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
      const tone = tones[problem.severity];
      stdout.write(`${paint({ text: problemText(problem), ...(tone && { tone }) }, colour)}\n`);
    }
  }
  return unreadable || hasErrors(all) ? exitCode.badInput : exitCode.done;
}

function sizeProblems(parsed: ParsedScenario): Problem[] {
  const { scenario } = parsed;
  if (scenario === undefined || scenario.kind === 'resultparser' || hasErrors(parsed.problems))
    return [];
  const found = scenarioEstimate(scenario);
  const problem = 'problem' in found ? undefined : sizeProblem(parsed, found.estimate.planned);
  return problem === undefined ? [] : [problem];
}

/** Of files that the scenario names. They may be secret, too: one that is not here is a warning. */
async function fileProblems(
  { scenario, problems }: ParsedScenario,
  text: string,
  folder: string,
): Promise<Problem[]> {
  if (scenario === undefined || scenario.kind === 'resultparser' || hasErrors(problems)) return [];
  const { identities, data, caFile, certFile, keyFile, entries } = scenario;
  const isRows = identities?.kind === 'file' || data !== undefined;
  const names = [
    ...[identities?.kind === 'file' ? identities.file : undefined, data?.file],
    ...[caFile, certFile, keyFile],
    ...entries.map(({ parameters }) => parameters['payloadFile']),
  ].filter((name) => typeof name === 'string');
  const missing = [...new Set(names)].filter((name) => !existsSync(path.resolve(folder, name)));
  const problemAt = (file: string, severity: Problem['severity'], message: string): Problem => {
    const offset = placesOf(file, text).find((at) => !isComment(text, at)) ?? 0;
    return { code: 'named-file', severity, message, offset, length: file.length };
  };
  const found = missing.map((name) =>
    problemAt(name, 'warning', `There is no file ${name} here; a run would stop here.`),
  );
  if (!isRows) return found;
  const rows = await lookIntoRows(scenario, {
    readFile: (name, mostBytes) => readScenarioFile(path.resolve(folder, name), mostBytes),
  });
  for (const { file, message } of rows)
    if (!missing.includes(file)) found.push(problemAt(file, 'error', message));
  return found;
}

function placesOf(word: string, text: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) places.push(at);
  return places;
}

/** A scenario may be checked where its secrets are not, so a missing one is a warning here. */
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
