/** Sentences that are filled in where people read them, in their language. */
import { english, type Translate } from './text';

/** The English text, by which other languages have theirs, and what stands at its places `{0}`, `{1}` …, or between what it stands. */
export interface Sentence {
  readonly text: string;
  readonly values: readonly Words[];
}

/** A sentence, or what is the same in every language. */
export type Words = Sentence | string;

export const sentence = (text: string, ...values: Words[]): Sentence => ({ text, values });

export const joined = (values: readonly Words[], between: '; ' | ', ' | ' + ' = '; '): Words =>
  values.length === 0 ? '' : { text: between, values };

export function say(words: Words, t: Translate = english): string {
  if (typeof words === 'string') return words;
  const { text } = words;
  const values = words.values.map((each) => say(each, t));
  return values.length > 0 && !text.includes('{') ? values.join(t(text)) : t(text, ...values);
}

/** With a capital and a full stop. */
export function wholeSentence(words: Words, t: Translate): string {
  const said = say(words, t);
  // Names of metrics stay small.
  const begun = /^(?:p\d|[a-z]+(?:\.[a-z]|[A-Z]))/.test(said)
    ? said
    : `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return begun === '' || /[.。]$/.test(begun) ? begun : t('{0}.', begun);
}

/** With another text in place of each that is not ours. */
export const withValues = (words: Words, change: (text: string) => string): Words =>
  typeof words === 'string'
    ? change(words)
    : { ...words, values: words.values.map((each) => withValues(each, change)) };

/** What has happened, for the people who run it. */
export class SaidError extends Error {
  constructor(readonly words: Words) {
    super(say(words));
  }
}
