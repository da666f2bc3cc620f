/** Texts of a result may come from anywhere: what they would be in the format that they are put into is taken from them. */
import { visibleLine } from '../../base/text';
import { redactText } from '../../results/redact';

/** Characters that no XML document may hold (XML 1.0, 2.2 "Characters"), as far as they are left by then. */
const notXml = /[\p{Cs}\uFFFE\uFFFF]/gu;

/** One line without secrets and without anything that is obeyed, at most `most` characters. */
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

/** {@link plainLine} as text or value of an attribute of XML or HTML. */
export const markupText = (text: string, most?: number): string =>
  plainLine(text, most).replace(/[&<>"']/g, (character) => entities[character]!);

/** Obeyed by Markdown where a text stands: marks, links to people, issues and pages, references to characters, and formulas. */
const markdown = /[\\`*_[\]<>|~&$@#]|!(?=[\d[])|GH(?=-\d)|:(?=\/\/)|www(?=\.)/gi;
const marked = /[\\`*_[\]<>|~]/;

/**
 * {@link plainLine} without Markdown or HTML of its own. Behind what would name somebody, or begin an address, stands a blank
 * without width: a backslash before it does not keep GitHub from its links.
 */
export const markdownText = (text: string, most = 1000): string =>
  plainLine(text, most).replace(markdown, (found) =>
    marked.test(found) ? `\\${found}` : (references[found] ?? `${found}&#8203;`),
  );

const references: Readonly<Record<string, string>> = { '&': '&amp;', $: '&#36;' };

/** Of a result: the id without the time before it, `chat-room`. */
export function scenarioName(id: string): string {
  const name = plainLine(id.replace(/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-/, ''), 80);
  return name === '' ? 'scenario' : name.replace(/\s+/g, ' ');
}
