import { visit, type Document, type Scalar } from 'yaml';
import { parseScenario, type ParsedScenario } from '../parseScenario';
import type { Problem } from '../problem';
import { sourceOf } from '../read/readValue';
import { scalarContent } from './scalarContent';
import { readYaml } from './yamlDocument';

/** A range of a text. */
export interface TextRange {
  readonly offset: number;
  readonly length: number;
}

/** What puts a reference in the place of a secret. */
export interface SecretMove {
  /** The secret as the scenario means it: without quotes and escapes. */
  readonly secret: string;
  /** The change of the text. */
  readonly offset: number;
  readonly length: number;
  readonly text: string;
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
  if (!before.problems.some((problem) => isSecret(problem) && sameRange(problem, at))) {
    return undefined;
  }
  const found = secretAt(text, at);
  if (found === undefined) return undefined;
  const reference = `\${secret:${name}}`;
  const { scalar, secret } = found;
  const bare = { secret, ...at, text: reference };
  const moves: SecretMove[] = [bare];
  const meant = found.lead + reference + found.rest;
  if (scalar?.type === 'PLAIN') {
    moves.push({ secret, ...scalarContent(text, scalar), text: JSON.stringify(meant) });
  }
  return moves.find((move) => {
    const after = text.slice(0, move.offset) + move.text + text.slice(move.offset + move.length);
    if (scalar !== undefined && valueAt(after, move) !== meant) return false;
    return isSolved(before, parseScenario(after), move);
  });
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

function valueAt(text: string, { offset, text: { length } }: SecretMove): string | undefined {
  const scalar = scalarAt(readYaml(text).document, { offset, length });
  return scalar && sourceOf(scalar);
}

/** Whether the problem is gone, nothing else went wrong, and the target is of the same kind. */
function isSolved(before: ParsedScenario, after: ParsedScenario, move: SecretMove): boolean {
  const end = move.offset + move.text.length;
  const left = after.problems.filter(isSecret);
  if (left.length >= before.problems.filter(isSecret).length) return false;
  if (left.some(({ offset, length }) => offset < end && offset + length > move.offset))
    return false;
  const known = before.problems.filter(isError).map(({ code }) => code);
  const fresh = after.problems.filter(isError).filter(({ code }) => {
    const position = known.indexOf(code);
    if (position >= 0) known.splice(position, 1);
    return position < 0;
  });
  return fresh.length === 0 && before.scenario?.target?.kind === after.scenario?.target?.kind;
}

const isError = ({ severity }: Problem): boolean => severity === 'error';
const isSecret = ({ code }: Problem): boolean => code === secretInFile;
const sameRange = (a: TextRange, b: TextRange): boolean =>
  a.offset === b.offset && a.length === b.length;
