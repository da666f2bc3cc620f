/**
 * A text without those of the characters that stand at its end, in one pass: a pattern such as `/x+$/` begins
 * anew at each of them, and takes the square of their number.
 */
export function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
