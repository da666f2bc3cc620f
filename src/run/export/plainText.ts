/** Texts of a result may be hostile: each format gets them without its markup. */
import { visibleLine } from '../../base/text';
import { redactText } from '../../results/redact';

/** Not allowed in XML (XML 1.0, 2.2 "Characters"). */
const notXml = /[\p{Cs}\uFFFE\uFFFF]/gu;

/** One line without secrets and control characters. */
export function plainLine(text: string, most = 300): string {
  const line = visibleLine(redactText(text)).replace(notXml, '').trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(notXml, '')}…`;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** For text and attributes of XML and HTML. */
export const escapeMarkup = (text: string, most?: number): string =>
  plainLine(text, most).replace(/[&<>"']/g, (character) => entities[character]!);

/** Markdown: marks, mentions, references, links, entities, formulas. */
const markdown = /[\\`*_[\]<>|~&$@#]|!(?=[\d[])|GH(?=-\d)|:(?=\/\/)|www(?=\.)/gi;
const marked = /[\\`*_[\]<>|~]/;

/** Without Markdown or HTML. Mentions and addresses get a zero-width blank: GitHub ignores backslashes there. */
export const escapeMarkdown = (text: string, most = 1000): string =>
  plainLine(text, most).replace(markdown, (found) =>
    marked.test(found) ? `\\${found}` : (references[found] ?? `${found}&#8203;`),
  );

const references: Readonly<Record<string, string>> = { '&': '&amp;', $: '&#36;' };

/** `chat-room`: the id without its time. */
export function scenarioNameFromId(id: string): string {
  const name = plainLine(id.replace(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/, ''), 80);
  return name === '' ? 'scenario' : name.replace(/\s+/g, ' ');
}
