/** A place in a text as editors and command lines show it, both numbers from 1. */
export interface Position {
  readonly line: number;
  /** Counted in UTF-16 code units, as VS Code does. */
  readonly column: number;
}

/**
 * Line and column of an offset. Lines end with LF, CRLF or a lone CR; an offset inside CRLF belongs to
 * the line it ends; offsets outside the text are moved to its nearest end.
 */
export function positionAt(text: string, offset: number): Position {
  const end = Math.max(0, Math.min(offset, text.length));
  let line = 1;
  let lineStart = 0;
  for (let index = 0; index < end; index++) {
    const character = text.charCodeAt(index);
    const ends = character === 10 || (character === 13 && text.charCodeAt(index + 1) !== 10);
    if (!ends) continue;
    line += 1;
    lineStart = index + 1;
  }
  return { line, column: end - lineStart + 1 };
}
