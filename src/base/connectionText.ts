/** Something in braces that has no meaning in a header or the query, at `offset` of the text. */
export interface WrongPlaceholder {
  readonly offset: number;
  readonly length: number;
  readonly name: string;
}

/**
 * A text that is fixed when a connection opens, such as a header: `{senderIndex}` is the number of the
 * connection, and `{{` stands for a brace.
 *
 * @returns the pieces between which the number stands; a single one where it is the same for all
 */
export function connectionText(text: string): {
  readonly pieces: readonly string[];
  readonly wrong: readonly WrongPlaceholder[];
} {
  const pieces: string[] = [];
  let piece = '';
  const wrong: WrongPlaceholder[] = [];
  let done = 0;
  for (const match of text.matchAll(/\{\{|(?<!\$)\{([A-Za-z]+)(?::[^{}]{0,300})?\}/g)) {
    const [source, name = ''] = match;
    piece += text.slice(done, match.index);
    done = match.index + source.length;
    if (source === '{{') piece += '{';
    else if (source === '{senderIndex}') {
      pieces.push(piece);
      piece = '';
    } else {
      piece += source;
      wrong.push({ offset: match.index, length: source.length, name });
    }
  }
  pieces.push(piece + text.slice(done));
  return { pieces, wrong };
}
