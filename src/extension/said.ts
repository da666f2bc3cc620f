import { saidTexts } from './saidTexts';
import type { Translate } from '../base/translate';

/** Longer than any sentence of ours: what a server says is not looked through. */
const mostCharacters = 2000;

/** Between parts that are sentences by themselves. */
const separators = ['; ', ' + '] as const;
/** Between the parts of a sentence. Templates have it too, values only where they are sentences. */
const comma = ', ';

/**
 * Sentences of runs are made in English, kept in results, and the same on the command line. This translates
 * them for the editor: a text is recognised by the template it was made from, and so is each of the values in
 * it. What is not recognised, such as the words of a server, stays.
 */
export function sayIn(t: Translate): (text: string) => string {
  const known = [...saidTexts()].sort(byFit).map(templateOf);
  const say = (text: string): string => recognised(text) ?? text;
  const recognised = (text: string): string | undefined => {
    const [, sign = '', words = ''] = /^([✓✗⚠■] )?([^]*)$/u.exec(text) ?? [];
    if (sign !== '') return `${sign}${say(words)}`;
    const parts = (separator: string): string | undefined => {
      const all = partsOf(text, separator);
      const said = all.map(recognised);
      if (said.every((each) => each === undefined)) return undefined;
      return said.map((each, at) => each ?? all[at]!).join(t(separator));
    };
    const sentences = separators.find((each) => partsOf(text, each).length > 1);
    if (sentences !== undefined) return parts(sentences);
    for (const { template, pieces } of known) {
      const values = valuesIn(text, pieces);
      if (values === undefined) continue;
      const begins =
        pieces[0] !== '' || pieces[1]?.startsWith(' (') === true || amount.test(values[0]!);
      if (begins || recognised(values[0]!) !== undefined) return t(template, ...values.map(say));
    }
    return text.includes(comma) ? parts(comma) : undefined;
  };
  return (text) => (text.length > mostCharacters ? text : say(text));
}

/** What a template begins with that is no text of ours: the words of a server may end like one, too. */
const amount = /(?:^|\s)[\d.,]+ ?(?:%|[µm]?s|min|h|[KMG]?B)?$/;

interface Template {
  readonly template: string;
  /** The text between the places of the values. */
  readonly pieces: readonly string[];
}

const templateOf = (template: string): Template => ({
  template,
  pieces: template.split(/\{\d\}/),
});

/** The best fitting template first: those that begin with words, then those that have more of them. */
const byFit = (a: string, b: string): number =>
  Number(a.startsWith('{')) - Number(b.startsWith('{')) || ownLength(b) - ownLength(a);

const ownLength = (template: string): number => template.replace(/\{\d\}/g, '').length;

/** Whether each bracket that opens in it closes in it, and the other way round. */
function isClosed(value: string): boolean {
  let depth = 0;
  for (const character of value) {
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
  }
  return depth === 0;
}

/** What stands between separators that are in no brackets. */
function partsOf(text: string, separator: string): string[] {
  const parts: string[] = [];
  for (const piece of text.split(separator)) {
    const last = parts.at(-1);
    if (last === undefined || isClosed(last)) parts.push(piece);
    else parts[parts.length - 1] = last + separator + piece;
  }
  return parts;
}

/** Whether a whole sentence may stand at a place: behind a colon or a full stop, and before what is said of more. */
const holdsSentence = (pieces: readonly string[], at: number): boolean =>
  /[:.] $/.test(pieces[at]!) || pieces[at + 1]!.startsWith(' (and ');

/** The values at the places of a template; undefined when the text was not made from it. */
function valuesIn(text: string, pieces: readonly string[]): string[] | undefined {
  const [first = '', ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const end = text.length - last.length;
  const values: string[] = [];
  let from = first.length;
  for (const piece of rest) {
    const at = text.indexOf(piece, from);
    if (at < 0 || at > end) return undefined;
    values.push(text.slice(from, at));
    from = at + piece.length;
  }
  if (from > end) return undefined;
  values.push(text.slice(from, end));
  const fits = values.every(
    (value, at) =>
      value !== '' && isClosed(value) && (!value.includes(comma) || holdsSentence(pieces, at)),
  );
  return fits ? values : undefined;
}
