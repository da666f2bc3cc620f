import { Composer, Lexer, Parser, type CST, type Document, type YAMLError } from 'yaml';
import type { Problem } from '../problem';
import { maximumCharacters, tooLarge } from './tooLarge';

/** Lexical pieces of YAML; an ordinary line has about ten. */
const maximumTokens = 50_000;
/** Backslashes in double quotes; each wrong escape is an error object of its own. */
const maximumEscapes = 10_000;
/** A scenario needs five levels; composing recurses, so the depth is checked before. */
const maximumDepth = 64;
/** More errors of the same broken line help nobody. */
const maximumYamlErrors = 20;

export interface YamlText {
  readonly document?: Document.Parsed;
  readonly problems: readonly Problem[];
}

/**
 * Reads YAML within bounds of size, number of tokens and depth. What is broken becomes problems, and the
 * document holds the parts that could be read; without any, it is absent. Never throws.
 */
export function readYaml(text: string): YamlText {
  const unreadable = notText(text) ?? tooManyTokens(text);
  if (unreadable !== undefined) return { problems: [unreadable] };
  const tokens = [...new Parser().parse(text)];
  const deep = tooDeep(tokens);
  if (deep !== undefined) return { problems: [deep] };
  // Duplicate keys are looked for where sections are read: the library compares all pairs.
  const composer = new Composer({
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
    schema: 'core',
    resolveKnownTags: false,
    strict: true,
  });
  const [document, further] = composer.compose(tokens, true, text.length);
  if (document === undefined) return { problems: [] };
  const open = unclosed(tokens);
  const problems = [
    // What stands behind an open bracket is read as if it were inside, so its errors tell nothing.
    ...(open === undefined ? [] : [unclosedProblem(text, open)]),
    ...document.errors
      .filter(({ pos }) => open === undefined || pos[0] < open)
      .slice(0, maximumYamlErrors)
      .map((error) => yamlProblem(text, error)),
    ...document.warnings.slice(0, maximumYamlErrors).map((warning) => tagProblem(text, warning)),
  ];
  if (further !== undefined) problems.push(secondDocument(text, further));
  return { document: document, problems };
}

function error(code: string, message: string, offset = 0, length = 0): Problem {
  return { code, severity: 'error', message, offset, length };
}

function notText(text: string): Problem | undefined {
  if (text.length > maximumCharacters) return tooLarge;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const binary = /[\u0000-\u0008\u000e-\u001f]/.exec(text);
  if (binary === null) return undefined;
  return error(
    'binary',
    'This is no text file: it holds control characters. Save scenarios as UTF-8 text.',
    binary.index,
    1,
  );
}

function tooManyTokens(text: string): Problem | undefined {
  const tokens = new Lexer().lex(text);
  let escapes = 0;
  for (let count = 0; count <= maximumTokens && escapes <= maximumEscapes; count++) {
    const { done, value } = tokens.next();
    if (done === true) return undefined;
    if (value.startsWith('"')) escapes += value.split('\\').length - 1;
  }
  return error(
    'too-large',
    'This file has far more entries than a scenario can have, so it was not read. Is it the right file?',
  );
}

/** Walks the concrete syntax without recursion, since hostile nesting would exhaust the stack. */
function tooDeep(tokens: readonly CST.Token[]): Problem | undefined {
  const open: { token: CST.Token; depth: number }[] = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > maximumDepth) {
      return error(
        'too-deep',
        `This is nested deeper than ${maximumDepth} levels, so the file was not read. A scenario needs five.`,
        token.offset,
        1,
      );
    }
    if (token.type === 'document' && token.value !== undefined) {
      open.push({ token: token.value, depth });
    }
    if ('items' in token) {
      for (const { key, value } of token.items as CST.CollectionItem[]) {
        if (key != null) open.push({ token: key, depth: depth + 1 });
        if (value !== undefined) open.push({ token: value, depth: depth + 1 });
      }
    }
  }
  return undefined;
}

/** Position of the first bracket that is never closed; undefined when all are. */
function unclosed(tokens: readonly CST.Token[]): number | undefined {
  let first: number | undefined;
  const left: CST.Token[] = [...tokens];
  for (let token = left.pop(); token !== undefined; token = left.pop()) {
    if (token.type === 'document' && token.value !== undefined) left.push(token.value);
    if (token.type === 'flow-collection') {
      const ends = token.end.some(({ type }) => /^flow-(seq|map)-end$/.test(type));
      if (!ends && token.offset < (first ?? Infinity)) first = token.offset;
    }
    if ('items' in token) {
      for (const { key, value } of token.items as CST.CollectionItem[]) {
        if (key != null) left.push(key);
        if (value !== undefined) left.push(value);
      }
    }
  }
  return first;
}

function unclosedProblem(text: string, offset: number): Problem {
  const [open, close] = text[offset] === '{' ? ['{', '}'] : ['[', ']'];
  const message = `Not valid YAML: this ${open} is never closed. Write ${close} where the ${open === '{' ? 'map' : 'list'} ends.`;
  return error('yaml', message, offset, 1);
}

/** Own words for the errors people meet; the library's texts may repeat pieces of the file. */
const explanations: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'This line is indented with a tab. YAML wants spaces.',
  BAD_INDENT: 'The indentation of this line does not fit the lines around it.',
  MISSING_CHAR: 'Something is not closed: a quote, a bracket, or a colon after a key is missing.',
  MULTILINE_IMPLICIT_KEY: 'A colon is missing: write `key: value`, each key on its own line.',
  BLOCK_AS_IMPLICIT_KEY:
    'A second colon makes this line a map inside a map. Put the value on its own line, or into quotes.',
  BAD_SCALAR_START: 'A value cannot start with this character. Put the value into quotes.',
  BAD_DQ_ESCAPE:
    'There is no such escape in double quotes. Use single quotes, or write the backslash twice.',
  BAD_ALIAS: 'This alias has no name.',
  BLOCK_IN_FLOW: 'Inside { } and [ ] everything is written in brackets too, without indentation.',
  UNEXPECTED_TOKEN: 'This does not belong here.',
};

function yamlProblem(text: string, { code, pos }: YAMLError): Problem {
  const [offset, end] = inside(text, pos);
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset + 2);
  const reference = code === 'UNEXPECTED_TOKEN' && line.includes('${');
  const what = reference
    ? 'Inside { } and [ ] a value with a reference needs quotes: `"${env:NAME}"`.'
    : (explanations[code] ?? 'The text is not valid here.');
  return error('yaml', `Not valid YAML: ${what}`, offset, end - offset);
}

function tagProblem(text: string, { pos }: YAMLError): Problem {
  const [offset, end] = inside(text, pos);
  const message = 'Tags such as this one mean nothing in a scenario and are ignored. Remove it.';
  const length = end - offset;
  const fix = { title: 'Remove the tag', offset, length, text: '' };
  return { code: 'yaml-tag', severity: 'warning', message, offset, length, fix };
}

function secondDocument(text: string, further: Document): Problem {
  const start = further.range?.[0] ?? text.length;
  const [offset, end] = inside(text, [start, start + 1]);
  return error(
    'several-documents',
    'A file holds one scenario: only what stands before this second document is read. Put the rest into a file of its own.',
    offset,
    end - offset,
  );
}

function inside(text: string, [start, end]: readonly [number, number]): [number, number] {
  const offset = Math.min(Math.max(0, start), text.length);
  return [offset, Math.min(Math.max(offset, end), text.length)];
}
