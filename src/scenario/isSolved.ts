import type { Problem } from './problem';
import type { TextChange, TextRange } from './text/editYaml';

/** Errors of a text that says something else than was meant, wherever they appear. */
const brokenText = ['yaml', 'too-deep'];
/** Errors that tell the same when they stand where something was written. */
const brokenPlace = ['unknown-key', 'unknown-value', 'wrong-type'];

/**
 * Whether changes of a text solve one of its problems and break nothing. Mistakes that only come to light
 * because a name is now known, such as a key written twice, are none of the changes.
 *
 * @param before problems of the text as it is
 * @param after problems of the text with the changes
 */
export function isSolved(
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
    freshErrors(before, after).every(
      (one) =>
        !brokenText.includes(one.code) &&
        !(brokenPlace.includes(one.code) && written.some((place) => touch(one, place))),
    )
  );
}

/** Errors of `after` beyond as many of the same code as were known. */
export function freshErrors(before: readonly Problem[], after: readonly Problem[]): Problem[] {
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

/** Where an offset is once the changes before it are made. */
const moved = (offset: number, changes: readonly TextChange[]): number =>
  changes
    .filter((change) => change.offset + change.length <= offset && change.offset < offset)
    .reduce((now, { length, text }) => now + text.length - length, offset);
