import assert from 'node:assert/strict';
import Ajv from 'ajv';
import { parse } from 'yaml';
import { scenarioSchema } from '../../../src/scenario/keys/schema';
import { parseScenario, type ParseOptions } from '../../../src/scenario/parseScenario';
import type { Problem } from '../../../src/scenario/problem';
import type { Scenario } from '../../../src/scenario/scenario';

/** The scenario of a text that must have one. */
export function scenarioOf(text: string, options?: ParseOptions): Scenario {
  const { scenario } = parseScenario(text, options);
  assert.ok(scenario, 'no scenario');
  return scenario;
}

/** A file with these lines under `config`, for a hub that needs nothing else. */
export const withConfig = (...lines: string[]): string =>
  ['config:', '  target: local', ...lines.map((line) => `  ${line}`), ''].join('\n');

/** The problems of a text as `severity code "text they point at"`. */
export function brief(text: string, options?: ParseOptions): string[] {
  return parseScenario(text, options).problems.map(
    ({ severity, code, offset, length }) =>
      `${severity} ${code} "${text.slice(offset, offset + length)}"`,
  );
}

/** The only problem with that code. */
export function problemOf(text: string, code: string, options?: ParseOptions): Problem {
  const { problems } = parseScenario(text, options);
  const found = problems.filter((problem) => problem.code === code);
  assert.equal(found.length, 1, `expected one ${code} in ${JSON.stringify(problems, null, 1)}`);
  return found[0]!;
}

export const messageOf = (...args: Parameters<typeof problemOf>): string =>
  problemOf(...args).message;

/** The text after the fix of a problem. */
export function fixed(text: string, { fix }: Problem): string {
  assert.ok(fix, 'no fix');
  return text.slice(0, fix.offset) + fix.text + text.slice(fix.offset + fix.length);
}

/** The scenario of a text without errors. */
export function goodScenario(text: string): Scenario {
  assert.deepEqual(errorsOf(text), []);
  return scenarioOf(text);
}

export const isValid = new Ajv({
  ...{ strict: true, strictTypes: false, allowUnionTypes: true },
}).compile(scenarioSchema());

/** Codes of the errors of a text; where there are none, the schema accepts it too. */
export function errorsOf(text: string, options?: ParseOptions): string[] {
  const { problems } = parseScenario(text, options);
  const codes = problems.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  if (codes.length === 0 && options === undefined)
    assert.ok(isValid(parse(text)), JSON.stringify(isValid.errors));
  return codes;
}

/** Cells of the lines of a table, without white space around them. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split(/ \|(?= )/).map((cell) => cell.trim()));

const linesOf = (cell: string): string[] => (cell === '' ? [] : cell.split(' // '));

/**
 * A test for each row: its title, lines of `config` and of the rest of the file with `//` between, the problems with `+`
 * between, and what the first of them says. A fix must mend its problem.
 */
export function testProblems(table: string): void {
  for (const [title, config, rest, expected, says = ''] of rowsOf(table))
    it(`${title!}: ${expected!}`, () => {
      const text = withConfig(...linesOf(config!)) + linesOf(rest!).join('\n');
      const { problems } = parseScenario(text);
      assert.deepEqual(brief(text), expected === 'none' ? [] : expected!.split(' + '));
      if (problems.length === 0) assert.ok(isValid(parse(text)), JSON.stringify(isValid.errors));
      assert.match(problems[0]?.message ?? '', new RegExp(says));
      for (const problem of problems.filter(({ fix }) => fix !== undefined))
        assert.ok(!errorsOf(fixed(text, problem)).includes(problem.code), 'the fix mends it');
    });
}
