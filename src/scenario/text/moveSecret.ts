import { visit, type Document, type Scalar } from 'yaml';
import { freshErrors, isSolved } from '../isSolved';
import { parseScenario } from '../parseScenario';
import type { Problem } from '../problem';
import { sourceOf } from '../read/readValue';
import { replacements, withChanges, type TextChange, type TextRange } from './editYaml';
import { scalarContent } from './scenarioReading';
import { readYaml } from './yamlDocument';

/** What puts a reference in the place of a secret. */
export interface SecretMove extends TextChange {
  /** The secret as the scenario means it: without quotes and escapes. */
  readonly secret: string;
}

/** Code of the problem that a secret stands in the file. */
export const secretInFile = 'secret-in-file';

/**
 * Finds the change that writes `${secret:name}` for a secret of the text. Where a bare reference would
 * mean something else, as inside braces, it gets quotes.
 *
 * @param at range of a problem `secret-in-file` of the text
 * @returns undefined when no change leaves a scenario that says the same without the secret
 */
export function moveSecret(text: string, at: TextRange, name: string): SecretMove | undefined {
  const before = parseScenario(text);
  const problem = before.problems.find((one) => isSecret(one) && sameRange(one, at));
  const found = problem && secretAt(text, at);
  if (problem === undefined || found === undefined) return undefined;
  const reference = `\${secret:${name}}`;
  const { scalar, secret } = found;
  const meant = found.lead + reference + found.rest;
  const plain =
    scalar?.type === 'PLAIN' ? { content: scalarContent(text, scalar), meant } : undefined;
  const change = replacements(at, reference, plain).find((one) => {
    const changed = withChanges(text, [one]);
    const put = { offset: one.offset, length: one.text.length };
    if (scalar !== undefined && valueAt(changed, put) !== meant) return false;
    const after = parseScenario(changed);
    return (
      isSolved(problem, [one], before.problems, after.problems) &&
      freshErrors(before.problems, after.problems).length === 0 &&
      before.scenario?.target?.kind === after.scenario?.target?.kind
    );
  });
  return change && { secret, ...change };
}

/** The secret, and what stands before and behind it in its scalar; no scalar in a comment. */
function secretAt(
  text: string,
  at: TextRange,
): { scalar?: Scalar; secret: string; lead: string; rest: string } | undefined {
  const written = text.slice(at.offset, at.offset + at.length);
  const scalar = scalarAt(readYaml(text).document, at);
  if (scalar === undefined) return { secret: written, lead: '', rest: '' };
  const content = scalarContent(text, scalar);
  const value = sourceOf(scalar);
  if (sameRange(content, at)) return { scalar, secret: value.trim(), lead: '', rest: '' };
  // A part can be told apart only where the value stands in the text as it is.
  const source = text.slice(content.offset, content.offset + content.length);
  const start = at.offset - content.offset;
  if (source !== value || start < 0 || start + at.length > value.length) return undefined;
  const rest = value.slice(start + at.length);
  return { scalar, secret: written, lead: value.slice(0, start), rest };
}

function scalarAt(document: Document.Parsed | undefined, at: TextRange): Scalar | undefined {
  let found: Scalar | undefined;
  visit(document ?? null, {
    Scalar: (_key, node) => {
      const [start, end] = node.range ?? [0, 0];
      if (start > at.offset || end < at.offset + at.length) return undefined;
      found = node;
      return visit.BREAK;
    },
  });
  return found;
}

function valueAt(text: string, at: TextRange): string | undefined {
  const scalar = scalarAt(readYaml(text).document, at);
  return scalar && sourceOf(scalar);
}

const isSecret = ({ code }: Problem): boolean => code === secretInFile;
const sameRange = (a: TextRange, b: TextRange): boolean =>
  a.offset === b.offset && a.length === b.length;
