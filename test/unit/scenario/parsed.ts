import assert from 'node:assert/strict';
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

/** The text after the fix of a problem. */
export function fixed(text: string, { fix }: Problem): string {
  assert.ok(fix, 'no fix');
  return text.slice(0, fix.offset) + fix.text + text.slice(fix.offset + fix.length);
}

/** Codes of the errors of a text. */
export const errorsOf = (text: string, options?: ParseOptions): string[] =>
  parseScenario(text, options)
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ code }) => code);
