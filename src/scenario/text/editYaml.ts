import { childOf, type Outline, type OutlineNode } from './outline';

export interface TextRange {
  readonly offset: number;
  readonly length: number;
}

export interface TextChange extends TextRange {
  readonly text: string;
}

/** The text after changes, which are given for the text as it is; those of one place keep their order. */
export function withChanges(text: string, changes: readonly TextChange[]): string {
  let result = '';
  let end = 0;
  for (const { offset, length, text: put } of [...changes].sort((a, b) => a.offset - b.offset)) {
    result += text.slice(end, offset) + put;
    end = offset + length;
  }
  return result + text.slice(end);
}

/** In the key's place when it is written, else as the first key of its section (behind a `name`). Undefined without a place. */
export function setKey(
  text: string,
  { root }: Outline,
  path: readonly string[],
  value: string,
): TextChange | undefined {
  let node = root;
  for (const [depth, name] of path.entries()) {
    const child = childOf(node, name);
    if (child === undefined) return insertInto(text, node, path.slice(depth), value);
    node = child;
  }
  if (node.children.length > 0) return undefined;
  const { valueOffset: offset, end } = node;
  const space = /\s/.test(text.charAt(offset - 1)) ? '' : ' ';
  return { offset, length: Math.max(0, end - offset), text: space + value };
}

function insertInto(
  text: string,
  section: OutlineNode,
  missing: readonly string[],
  value: string,
): TextChange | undefined {
  const first = section.children[0];
  const braces = text.charAt(section.valueOffset) === '{' && section.valueLength === 0;
  if (braces || section.flow) {
    const [name, ...inner] = missing;
    const line = `${name!}: ${inner.reduceRight((all, key) => `{ ${key}: ${all} }`, value)}`;
    const offset = first?.offset ?? section.valueOffset + 1;
    return braces
      ? { offset, length: 0, text: first === undefined ? ` ${line} ` : `${line}, ` }
      : undefined;
  }
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  const linesAt = (indent: string): string =>
    missing
      .map((name, depth) => `${indent}${'  '.repeat(depth)}${name}:`)
      .join(lineBreak)
      .concat(` ${value}`);
  if (first !== undefined && first.name !== 'name') {
    const indent = indentAt(text, first.offset);
    const written = linesAt(indent).slice(indent.length);
    if (first.item) return undefined;
    return { offset: first.offset, length: 0, text: `${written}${lineBreak}${indent}` };
  }
  const before = first ?? section;
  if (before.parent === undefined) return undefined;
  const [rest] = /.*/.exec(text.slice(before.end))!;
  // Behind an anchor or what does not belong there, there is no line to write below.
  if (!/^\s*(?::\s*)?(?:#.*)?$/.test(rest) || (first === undefined && section.valueLength > 0))
    return undefined;
  const indent = `${indentAt(text, before.offset)}${first === undefined ? '  ' : ''}`;
  const offset = before.end + rest.trimEnd().length;
  return { offset, length: 0, text: `${lineBreak}${linesAt(indent)}` };
}

/** White space as wide as what stands before `offset` on its line. */
function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return text
    .slice(lineStart, offset)
    .replace(/^\uFEFF/, '')
    .replace(/[^\t]/g, ' ');
}

/** A change that takes a key out with its lines; a section of which nothing would be left goes with it. */
export function removeKey(text: string, node: OutlineNode): TextChange {
  const { parent } = node;
  const alone = parent?.children.length === 1 && parent.parent !== undefined && !parent.item;
  if (alone) return removeKey(text, parent);
  const siblings = parent?.children ?? [];
  const position = siblings.indexOf(node);
  const next = siblings[position + 1];
  const before = siblings[position - 1];
  if (node.flow) {
    // With the comma behind it, or the one before it where it is the last.
    return next === undefined
      ? removed(before?.end ?? node.offset, node.end)
      : removed(node.offset, next.offset);
  }
  const end = endOfLines(text, node);
  const start = text.lastIndexOf('\n', node.offset - 1) + 1;
  // The first key of a list item stands behind its dash, which the next one takes over.
  const behindDash = text.slice(start, node.offset).trim() !== '';
  return behindDash ? removed(node.offset, next?.offset ?? end) : removed(start, end);
}

const removed = (from: number, to: number): TextChange => ({
  offset: from,
  length: to - from,
  text: '',
});

/** Behind the line break of the last line that belongs to a key: comments that are deeper do. */
function endOfLines(text: string, { offset, end }: OutlineNode): number {
  const line = /[^\n]*\n?/y;
  line.lastIndex = end;
  line.exec(text);
  const column = indentAt(text, offset).length;
  const comment = new RegExp(`(?:[ \\t]*\\r?\\n)*[ \\t]{${column + 1},}#[^\\n]*\\n?`, 'y');
  let last = line.lastIndex;
  for (comment.lastIndex = last; comment.test(text);) last = comment.lastIndex;
  return last;
}

/** The plainest first: as it is; the whole value in quotes, where braces would end one without them. */
export function replacements(
  at: TextRange,
  put: string,
  plain?: { readonly content: TextRange; readonly meant: string },
): TextChange[] {
  const bare = { offset: at.offset, length: at.length, text: put };
  if (plain === undefined) return [bare];
  const { offset, length } = plain.content;
  return [bare, { offset, length, text: JSON.stringify(plain.meant) }];
}
