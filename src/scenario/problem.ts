/** `error`: nothing can be run; `warning`: it runs, but probably not as meant; `info`: worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

export interface Fix {
  readonly title: string;
  /** A length of 0 inserts. */
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

export interface Problem {
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  /** In UTF-16 code units. */
  readonly offset: number;
  readonly length: number;
  /** The flag that the value came from; it has no place in the text. */
  readonly flag?: string;
  readonly fix?: Fix;
}

/** Pipelines of the Azure SignalR benchmark may have 1.7 MB. */
export const maximumCharacters = 2 * 1024 * 1024;

/** Here, so that it needs no YAML library. */
export const tooLarge: Problem = {
  code: 'too-large',
  severity: 'error',
  message:
    'This file is larger than 2 MB, so it was not read. Scenario files are a few kilobytes: is it the right file?',
  offset: 0,
  length: 0,
};

interface Position {
  readonly line: number;
  readonly column: number;
}

/** Lines end with LF, CRLF or CR. Columns count UTF-16 code units, as in VS Code. */
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
