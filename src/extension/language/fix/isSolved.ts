import { exceedsUnit, unitNotOffered } from '../../../capacity/start/sizeProblem';
import type { Problem } from '../../../scenario/problem';
import { analyseScenario, type Analysis } from '../analyseScenario';
import { diagnosticsOf } from '../diagnosticsOf';
import type { TextChange } from './setKey';

/** Errors of a text that says something else than was meant, wherever they appear. */
const brokenText = ['yaml', 'too-deep'];
/** Problems of the whole load, not of the place they stand at. */
const ofSize: readonly string[] = [exceedsUnit, unitNotOffered];
/** Errors that tell the same when they stand where something was written. */
const brokenPlace = ['unknown-key', 'unknown-value', 'wrong-type'];

/**
 * Whether changes solve a problem and break nothing: the text is read again with them. Mistakes that
 * only come to light because a name is now known, such as a key written twice, are none of the change.
 */
export function isSolved(
  analysis: Analysis,
  problem: Problem,
  changes: readonly TextChange[],
): boolean {
  const after = analyseScenario(withChanges(analysis.text, changes));
  const known = diagnosticsOf(analysis);
  const left = diagnosticsOf(after);
  const fresh = freshErrors(known, left);
  if (ofSize.includes(problem.code)) {
    return fresh.length === 0 && left.every(({ code }) => !ofSize.includes(code));
  }
  const written = changes.map((change) => ({
    offset: moved(change.offset, changes),
    length: change.text.length,
  }));
  const places = [...written, { offset: moved(problem.offset, changes), length: problem.length }];
  const same = (among: readonly Problem[], at: readonly Place[]): number =>
    among.filter((one) => one.code === problem.code && at.some((place) => touch(one, place)))
      .length;
  return (
    same(left, places) < same(known, [problem]) &&
    fresh.every(
      (one) =>
        !brokenText.includes(one.code) &&
        !(brokenPlace.includes(one.code) && written.some((place) => touch(one, place))),
    )
  );
}

type Place = Pick<Problem, 'offset' | 'length'>;

const touch = (a: Place, b: Place): boolean =>
  a.offset < b.offset + Math.max(1, b.length) && b.offset < a.offset + Math.max(1, a.length);

/** Where an offset is once the changes before it are made. */
const moved = (offset: number, changes: readonly TextChange[]): number =>
  changes
    .filter((change) => change.offset + change.length <= offset && change.offset < offset)
    .reduce((now, { length, text }) => now + text.length - length, offset);

const byOffset = (a: Place, b: Place): number => a.offset - b.offset;

/** Changes are given for the text as it is; those of one place are made in their order. */
function withChanges(text: string, changes: readonly TextChange[]): string {
  let result = '';
  let end = 0;
  for (const { offset, length, text: put } of [...changes].sort(byOffset)) {
    result += text.slice(end, offset) + put;
    end = offset + length;
  }
  return result + text.slice(end);
}

/** Errors of `after` beyond as many of the same code as were known. */
function freshErrors(before: readonly Problem[], after: readonly Problem[]): Problem[] {
  const known = before.filter(isError).map(({ code }) => code);
  return after.filter(isError).filter(({ code }) => {
    const position = known.indexOf(code);
    if (position >= 0) known.splice(position, 1);
    return position < 0;
  });
}

const isError = ({ severity }: Problem): boolean => severity === 'error';
