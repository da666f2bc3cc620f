import { english, type Translate } from './text';

/**
 * The English text is the key for other languages. `values` fill its places `{0}`, `{1}` …, or are joined by it when
 * it has none.
 */
export interface Sentence {
  readonly text: string;
  readonly values: readonly Words[];
}

export type Words = Sentence | string;

export const sentence = (text: string, ...values: Words[]): Sentence => ({ text, values });

export const joinWords = (values: readonly Words[], between: '; ' | ', ' | ' + ' = '; '): Words =>
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
  // Names of metrics keep their small letter.
  const begun = /^(?:p\d|[a-z]+(?:\.[a-z]|[A-Z]))/.test(said)
    ? said
    : `${said.charAt(0).toUpperCase()}${said.slice(1)}`;
  return begun === '' || /[.。]$/.test(begun) ? begun : t('{0}.', begun);
}

export const mapPlainText = (words: Words, change: (text: string) => string): Words =>
  typeof words === 'string'
    ? change(words)
    : { ...words, values: words.values.map((each) => mapPlainText(each, change)) };

export class SentenceError extends Error {
  constructor(readonly words: Words) {
    super(say(words));
  }
}
