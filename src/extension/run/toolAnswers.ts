/** What coding agents in the editor are answered: plain text, bounded, in English as scenarios and summaries are. */
import { formatTarget, mapTargetTexts } from '../../scenario/target/targetKinds';
import { redactTarget } from '../../results/redact';
import type { Override } from '../../scenario/read/overrides';
import { parseScenario } from '../../scenario/parseScenario';
import { positionAt } from '../../scenario/problem';
import { reachLines, reachOf } from '../../run/reach';
import { loadNumbers, loadNumbersWords, loadWords } from '../../run/runWords';
import { estimateOf } from '../language/analyseScenario';
import { validScenario } from './runTexts';

/** More says nothing that somebody could act on at once. */
const mostProblems = 50;
const mostCharacters = 20_000;
const mostKeys = 20;

export const bounded = (text: string): string =>
  text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}\n… (cut)`;

/** `3:5 error unknown-key: …` for each problem, sorted by place. */
export function validateAnswer(text: string, overrides: readonly Override[] = []): string {
  const problems = [...parseScenario(text, { overrides }).problems].sort(
    (a, b) => a.offset - b.offset,
  );
  if (problems.length === 0) return 'No problems.';
  const lines = problems.slice(0, mostProblems).map(({ offset, severity, code, message }) => {
    const { line, column } = positionAt(text, offset);
    return `${line}:${column} ${severity} ${code}: ${message}`;
  });
  const more = problems.length - lines.length;
  return bounded([...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n'));
}

/** What the scenario does, and the estimate with all of its fields, as `estimate --json` has them. */
export function estimateAnswer(text: string, overrides: readonly Override[] = []): string {
  const scenario = validScenario(text, overrides);
  if (!scenario)
    return `There is no estimate, since the scenario has errors:\n${validateAnswer(text, overrides)}`;
  const { estimate, noEstimate } = estimateOf(scenario);
  const words =
    estimate === undefined ? `No estimate: ${noEstimate ?? ''}` : JSON.stringify(estimate);
  return bounded(`${loadWords(scenario)}\n${words}`);
}

/** What a person is asked to agree to: the load in numbers, where it goes, and all that the run reaches; undefined with errors. */
export function loadAnswer(text: string, overrides: readonly Override[]): string | undefined {
  const scenario = validScenario(text, overrides);
  if (!scenario) return undefined;
  const target = formatTarget(scenario.target && mapTargetTexts(scenario.target, redactTarget));
  const reach = reachOf(scenario, { reference: () => undefined });
  return [`${loadNumbersWords(loadNumbers(scenario))} → ${target}`, ...reachLines(reach)].join(
    '\n',
  );
}

/** Keys to set for one run, as an agent wrote them: what is not a text or number is left out. */
export function overridesIn(set: unknown): Override[] {
  if (typeof set !== 'object' || set === null) return [];
  return Object.entries(set)
    .slice(0, mostKeys)
    .flatMap(([path, value]: [string, unknown]) =>
      typeof value === 'string' || typeof value === 'number'
        ? [{ path, value: String(value).slice(0, 1000) }]
        : [],
    );
}
