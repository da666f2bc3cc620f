import { Composer, CST, Lexer, Parser, type Document, type YAMLError } from 'yaml';
import { maximumCharacters, tooLarge, type Problem } from '../problem';

/** An ordinary line has about ten. */
const maximumTokens = 50_000;
/** A generated pipeline of 400 steps has 65,000. */
const maximumPipelineTokens = 600_000;
/** In double quotes, where each wrong one is an error object. */
const maximumEscapes = 10_000;
/** Composing recurses, so the depth is checked before. A scenario needs five levels. */
const maximumDepth = 64;
const maximumYamlErrors = 20;

interface YamlText {
  readonly document?: Document.Parsed;
  readonly problems: readonly Problem[];
}

/** Within bounds of size, tokens and depth; with the parts that could be read. Never throws. */
export function readYaml(text: string): YamlText {
  const read = readTokens(text);
  if ('problem' in read) return { problems: [read.problem] };
  // The library would compare all pairs; sections look for duplicate keys.
  const composer = new Composer({
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: 'silent',
    schema: 'core',
    resolveKnownTags: false,
    strict: true,
  });
  const [document, further] = composer.compose(read.tokens, true, text.length);
  if (document === undefined) return { problems: [] };
  const { bracket, quotes } = read;
  const inQuotes = (at: number): boolean =>
    quotes.some(({ offset, source }) => offset <= at && at <= offset + source.length);
  const problems = [
    ...[...quotes.map(({ offset }) => offset), bracket]
      // After an open bracket everything is read as inside it, so its errors mean nothing.
      .filter((offset) => offset <= bracket && offset < Infinity)
      .map((offset) => unclosedProblem(text, offset)),
    ...withoutTwins(document.errors)
      .filter(({ pos: [at] }) => at < bracket && !inQuotes(at))
      .slice(0, maximumYamlErrors)
      .map((error) => yamlProblem(text, error)),
    ...document.warnings.slice(0, maximumYamlErrors).map((warning) => tagProblem(text, warning)),
  ];
  if (further !== undefined) problems.push(secondDocument(text, further));
  return { document: document, problems };
}

type YamlTokens =
  | {
      readonly tokens: readonly CST.Token[];
      /** First bracket that is never closed; `Infinity` when all are. */
      readonly bracket: number;
      readonly quotes: readonly CST.FlowScalar[];
    }
  | { readonly problem: Problem };

/** Within the bounds of {@link readYaml}. Never throws; linear in the text. */
export function readTokens(text: string): YamlTokens {
  const unreadable = notText(text);
  if (unreadable !== undefined) return { problem: unreadable };
  const pieces = piecesOf(text);
  if (pieces === undefined) return { problem: tooManyTokens };
  const parser = new Parser();
  const tokens = [...pieces.flatMap((piece) => [...parser.next(piece)]), ...parser.end()];
  let bracket = Infinity;
  const quotes: CST.FlowScalar[] = [];
  for (const { token, depth } of nested(tokens)) {
    if (depth > maximumDepth) return { problem: error('too-deep', tooDeep, token.offset, 1) };
    if (token.type === 'flow-collection') {
      const ends = token.end.some(({ type }) => /^flow-(seq|map)-end$/.test(type));
      if (!ends) bracket = Math.min(bracket, token.offset);
    } else if (/quoted/.test(token.type) && openQuote((token as CST.FlowScalar).source)) {
      if (quotes.length < maximumYamlErrors) quotes.push(token as CST.FlowScalar);
    }
  }
  return { tokens, bracket, quotes };
}

function piecesOf(text: string): string[] | undefined {
  const pieces = cut(text, text.length);
  const quote = openQuote(pieces?.at(-1) ?? '');
  // With one more quote the lexer ends the open one where the indentation says so.
  return quote === undefined ? pieces : cut(`${text}\n${quote}`, text.length);
}

function cut(text: string, end: number): string[] | undefined {
  const pieces: string[] = [];
  const most = /^Pipeline:/m.test(text) ? maximumPipelineTokens : maximumTokens;
  let escapes = 0;
  let left = end;
  for (const piece of new Lexer().lex(text)) {
    if (piece.startsWith('"')) escapes += piece.split('\\').length - 1;
    if (pieces.length >= most || escapes > maximumEscapes) return undefined;
    pieces.push(piece.slice(0, left));
    if (![CST.DOCUMENT, CST.FLOW_END, CST.SCALAR].includes(piece)) left -= piece.length;
    if (left <= 0) break;
  }
  return pieces;
}

function openQuote(piece: string): string | undefined {
  const quote = piece.charAt(0);
  const inner = piece.slice(1);
  if (quote === "'") return endingWith(inner, "'") % 2 === 0 ? quote : undefined;
  if (quote !== '"') return undefined;
  const closed = inner.endsWith('"') && endingWith(inner.slice(0, -1), '\\') % 2 === 0;
  return closed ? undefined : quote;
}

function endingWith(text: string, character: string): number {
  let count = 0;
  while (text.charAt(text.length - 1 - count) === character) count += 1;
  return count;
}

/** Without recursion: hostile nesting would exhaust the stack. */
function* nested(tokens: readonly CST.Token[]): Generator<{ token: CST.Token; depth: number }> {
  const open = tokens.map((token) => ({ token, depth: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    yield next;
    if (token.type === 'document' && token.value !== undefined)
      open.push({ token: token.value, depth });
    if ('items' in token) {
      for (const { key, value } of token.items as CST.CollectionItem[]) {
        if (key != null) open.push({ token: key, depth: depth + 1 });
        if (value !== undefined) open.push({ token: value, depth: depth + 1 });
      }
    }
  }
}

const error = (code: string, message: string, offset = 0, length = 0): Problem => ({
  code,
  severity: 'error',
  message,
  offset,
  length,
});

function notText(text: string): Problem | undefined {
  if (text.length > maximumCharacters) return tooLarge;
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  const binary = /[\u0000-\u0008\u000e-\u001f]/.exec(text);
  if (binary === null) return undefined;
  const message =
    'This is not a text file: it holds control characters. Save scenarios as UTF-8 text.';
  return error('binary', message, binary.index, 1);
}

const tooManyTokens = error(
  'too-large',
  'This file has far more entries than a scenario can have, so it was not read. Is it the right file?',
);

const tooDeep = `This is nested deeper than ${maximumDepth} levels, so the file was not read. A scenario needs five.`;

function unclosedProblem(text: string, offset: number): Problem {
  const open = text.charAt(offset);
  const [close, what] = { '{': ['}', 'map'], '[': [']', 'list'] }[open] ?? [open, 'text'];
  const message = `Not valid YAML: this ${open} is never closed. Write ${close} where the ${what} ends.`;
  return error('yaml', message, offset, 1);
}

type YamlTrouble = Pick<YAMLError, 'pos'> & { readonly code: string };
const indentedFurther = 'INDENTED_FURTHER';

/** A line indented further than the one above gives two errors at one place. */
function withoutTwins(errors: readonly YAMLError[]): YamlTrouble[] {
  return errors.flatMap((error, index) => {
    const { code, pos } = error;
    const isTwin = (other: YAMLError | undefined): boolean => other?.pos[0] === pos[0];
    if (isTwin(errors[index - 1])) return [];
    if (code !== 'BLOCK_AS_IMPLICIT_KEY' || !isTwin(errors[index + 1])) return [error];
    return [{ code: indentedFurther, pos }];
  });
}

/** The library's texts may repeat pieces of the file, which may be secret. */
const explanations: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'This line is indented with a tab. YAML wants spaces.',
  BAD_INDENT: 'The indentation of this line does not fit the lines around it.',
  MISSING_CHAR: 'Something is not closed: a quote, a bracket, or a colon after a key is missing.',
  MULTILINE_IMPLICIT_KEY: 'A colon is missing: write `key: value`, each key on its own line.',
  BLOCK_AS_IMPLICIT_KEY:
    'A second colon makes this line a map inside a map. Put the value on its own line, or into quotes.',
  [indentedFurther]:
    'The line below is indented further than this one, so it would belong to this value. Indent both alike.',
  BAD_SCALAR_START: 'A value cannot start with this character. Put the value into quotes.',
  BAD_DQ_ESCAPE:
    'There is no such escape in double quotes. Use single quotes, or write the backslash twice.',
  BAD_ALIAS: 'This alias has no name.',
  BLOCK_IN_FLOW: 'Inside { } and [ ] everything is written in brackets too, without indentation.',
  UNEXPECTED_TOKEN: 'This does not belong here.',
};

function yamlProblem(text: string, { code, pos }: YamlTrouble): Problem {
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
  const message =
    'A file holds one scenario: only what stands before this second document is read. Put the rest into a file of its own.';
  return error('several-documents', message, offset, end - offset);
}

function inside(text: string, [start, end]: readonly [number, number]): [number, number] {
  const offset = Math.min(Math.max(0, start), text.length);
  return [offset, Math.min(Math.max(offset, end), text.length)];
}
