/** `error`: nothing can be run; `warning`: it runs, but probably not as meant; `info`: worth knowing. */
export type Severity = 'error' | 'warning' | 'info';

export interface Fix {
  /** What the change does, as a label: `Write "groupCount"`. */
  readonly title: string;
  /** Replace `length` characters from `offset` by `text`; a length of 0 inserts. */
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

export interface Problem {
  /** Stable name, e.g. `unknown-key`, the same in editor, command line and panel. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  /** Characters (UTF-16 code units) from the start of the text. */
  readonly offset: number;
  readonly length: number;
  /** The flag that the value came from, which has no place in the text; the message begins with it and a colon. */
  readonly flag?: string;
  readonly fix?: Fix;
}

/** Pipelines of the Azure SignalR benchmark may have 1.7 MB. */
export const maximumCharacters = 2 * 1024 * 1024;

/** A file of its own: who only asks for the bound does not load the YAML library. */
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
  /** Counted in UTF-16 code units, as VS Code does. */
  readonly column: number;
}

/** Lines end with LF, CRLF or a lone CR; offsets outside the text are moved to its nearest end. */
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
