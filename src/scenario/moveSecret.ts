import { visit, type Document, type Scalar } from 'yaml';
import { secretInFileCode } from './check/checkTarget';
import { parseScenario } from './parseScenario';
import type { Problem } from './problem';
import { scalarText } from './read/readValue';
import {
  replacementCandidates,
  applyChanges,
  type TextChange,
  type TextRange,
} from './text/outline';
import { scalarContent } from './text/scenarioReading';
import { readYaml } from './text/yamlDocument';

interface SecretMove extends TextChange {
  readonly secret: string;
}

/** Undefined where a reference would change the meaning. */
export function moveSecret(text: string, at: TextRange, name: string): SecretMove | undefined {
  const before = parseScenario(text);
  const problem = before.problems.find(
    (one) => one.code === secretInFileCode && sameRange(one, at),
  );
  const found = problem && secretAt(text, at);
  if (problem === undefined || found === undefined) return undefined;
  const reference = `\${secret:${name}}`;
  const { scalar, secret } = found;
  const meant = found.lead + reference + found.rest;
  const plain =
    scalar?.type === 'PLAIN' ? { content: scalarContent(text, scalar), meant } : undefined;
  const change = replacementCandidates(at, reference, plain).find((one) => {
    const changed = applyChanges(text, [one]);
    const put = { offset: one.offset, length: one.text.length };
    if (scalar !== undefined && valueAt(changed, put) !== meant) return false;
    const after = parseScenario(changed);
    return (
      solvesProblem(problem, [one], before.problems, after.problems) &&
      newErrors(before.problems, after.problems).length === 0 &&
      before.scenario?.target?.kind === after.scenario?.target?.kind
    );
  });
  return change && { secret, ...change };
}

type FoundSecret = Record<'secret' | 'lead' | 'rest', string> & { scalar?: Scalar };

function secretAt(text: string, at: TextRange): FoundSecret | undefined {
  const written = text.slice(at.offset, at.offset + at.length);
  const scalar = scalarAt(readYaml(text).document, at);
  if (scalar === undefined) return { secret: written, lead: '', rest: '' };
  const content = scalarContent(text, scalar);
  const value = scalarText(scalar);
  if (sameRange(content, at)) return { scalar, secret: value.trim(), lead: '', rest: '' };
  // Only where the value stands in the text as it is.
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
  return scalar && scalarText(scalar);
}

const sameRange = (a: TextRange, b: TextRange): boolean =>
  a.offset === b.offset && a.length === b.length;

/** Errors of a text that says something else. */
const brokenText = ['yaml', 'too-deep'];
/** Errors that count only where something was written. */
const brokenPlace = ['unknown-key', 'unknown-value', 'wrong-type'];

/** Whether changes solve a problem and break nothing. */
export function solvesProblem(
  problem: Problem,
  changes: readonly TextChange[],
  before: readonly Problem[],
  after: readonly Problem[],
): boolean {
  const written = changes.map((change) => ({
    offset: moved(change.offset, changes),
    length: change.text.length,
  }));
  const places = [...written, { offset: moved(problem.offset, changes), length: problem.length }];
  const same = (among: readonly Problem[], at: readonly TextRange[]): number =>
    among.filter((one) => one.code === problem.code && at.some((place) => touch(one, place)))
      .length;
  return (
    same(after, places) < same(before, [problem]) &&
    newErrors(before, after).every(
      (one) =>
        !brokenText.includes(one.code) &&
        !(brokenPlace.includes(one.code) && written.some((place) => touch(one, place))),
    )
  );
}

/** Errors of `after` beyond as many of the same code as were known. */
export function newErrors(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = before.filter(isError).map(({ code }) => code);
  return after.filter(isError).filter(({ code }) => {
    const position = known.indexOf(code);
    if (position >= 0) known.splice(position, 1);
    return position < 0;
  });
}

const isError = ({ severity }: Problem): boolean => severity === 'error';

const touch = (a: TextRange, b: TextRange): boolean =>
  a.offset < b.offset + Math.max(1, b.length) && b.offset < a.offset + Math.max(1, a.length);

const moved = (offset: number, changes: readonly TextChange[]): number =>
  changes
    .filter((change) => change.offset + change.length <= offset && change.offset < offset)
    .reduce((now, { length, text }) => now + text.length - length, offset);
