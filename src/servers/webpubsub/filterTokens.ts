/**
 * A filter that is not understood. Its message tells what and where, in the words of the service: it reads
 * filters with the OData library of .NET, which counts positions from 0 and stops behind what it read last.
 */
export class FilterError extends Error {
  constructor(filter: string, problem: string) {
    super(`Invalid syntax for '${filter}': ${problem} (Parameter 'filter')`);
  }
}

/** A piece of a filter: signs and words are in lower case. */
export interface FilterToken {
  readonly kind: 'sign' | 'word' | 'text' | 'number' | 'end';
  readonly text: string;
  /** Where it begins and ends in the filter, from 0. */
  readonly start: number;
  readonly end: number;
}

export const syntaxError = (filter: string, position: number): FilterError =>
  new FilterError(filter, `Syntax error at position ${position} in '${filter}'.`);

const pattern = /\s*(?:([(),])|'((?:[^']|'')*)'|(-?[0-9]{1,15})(?![\w.])|([A-Za-z]+)|($))/y;

/** @throws FilterError */
export function filterTokens(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  pattern.lastIndex = 0;
  for (;;) {
    const from = pattern.lastIndex;
    const match = pattern.exec(filter);
    if (match === null) throw unreadable(filter, from);
    const [, sign, text, number, word] = match;
    const end = pattern.lastIndex;
    const start = from + match[0].length - match[0].trimStart().length;
    const add = (kind: FilterToken['kind'], value: string): void => {
      tokens.push({ kind, text: value, start, end });
    };
    if (sign !== undefined) add('sign', sign);
    else if (text !== undefined) add('text', text.replaceAll("''", "'"));
    else if (number !== undefined) add('number', number);
    else if (word !== undefined) add('word', word.toLowerCase());
    else {
      add('end', '');
      return tokens;
    }
  }
}

function unreadable(filter: string, from: number): FilterError {
  const rest = filter.slice(from).trimStart();
  const at = filter.length - rest.length;
  if (rest.startsWith("'")) {
    const problem = `There is an unterminated string literal at position ${filter.length} in '${filter}'.`;
    return new FilterError(filter, problem);
  }
  if (/^[-\w]/.test(rest)) return syntaxError(filter, at);
  const character = String.fromCodePoint(rest.codePointAt(0)!);
  return new FilterError(
    filter,
    `Syntax error: character '${character}' is not valid at position ${at} in '${filter}'.`,
  );
}
