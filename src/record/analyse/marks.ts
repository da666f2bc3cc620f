import { visitValues } from './values';

/** Smaller whole numbers are the same by chance: those of rounds, rows, days. */
const tellingNumber = 10_000;
/** Longer texts count as equal by their length and their ends. */
export const wholeText = 256;

/** What stands for a text. */
export const keyOf = (text: string): string =>
  text.length <= wholeText
    ? text
    : `${text.length}:${text.slice(0, wholeText / 2)}${text.slice(-wholeText / 2)}`;

/** A text, or a number with a fraction or of many digits, such as a place on a map. */
export type Mark = string | number;

/** By which a callback is known to be of a call. */
export function marksOf(values: readonly unknown[]): Mark[] {
  const marks: Mark[] = [];
  visitValues(values, (leaf) => {
    if (typeof leaf === 'string') {
      if (leaf !== '') marks.push(keyOf(leaf));
    } else if (!Number.isInteger(leaf) || Math.abs(leaf) > tellingNumber) marks.push(leaf);
  });
  return marks;
}
