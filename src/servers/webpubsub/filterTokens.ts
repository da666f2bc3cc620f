/** A filter that is not understood; its message tells where. */
export class FilterError extends Error {}

/** A piece of a filter: signs and words are in lower case. */
export interface FilterToken {
  readonly kind: 'sign' | 'word' | 'text' | 'number' | 'end';
  readonly text: string;
  /** Position in the filter, from 1. */
  readonly at: number;
}

const pattern = /\s*(?:([(),])|'((?:[^']|'')*)'|(-?[0-9]{1,15})(?![\w.])|([A-Za-z]+)|($))/y;

/** @throws FilterError */
export function filterTokens(filter: string): FilterToken[] {
  const tokens: FilterToken[] = [];
  pattern.lastIndex = 0;
  for (;;) {
    const from = pattern.lastIndex;
    const match = pattern.exec(filter);
    if (match === null)
      throw new FilterError(`The filter is not understood at position ${from + 1}.`);
    const [, sign, text, number, word] = match;
    const at = from + 1;
    if (sign !== undefined) tokens.push({ kind: 'sign', text: sign, at });
    else if (text !== undefined)
      tokens.push({ kind: 'text', text: text.replaceAll("''", "'"), at });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number, at });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word.toLowerCase(), at });
    else {
      tokens.push({ kind: 'end', text: '', at });
      return tokens;
    }
  }
}
