import type { CST } from 'yaml';
import { readTokens } from './yamlDocument';

/** A key or list item, and where it stands. */
export interface OutlineNode {
  /** Without quotes; of a list item its number from 0, empty for the root. */
  readonly name: string;
  readonly item: boolean;
  readonly parent: OutlineNode | undefined;
  readonly children: OutlineNode[];
  readonly flow: boolean;
  /** Of the key; of a list item the dash, or its first character in brackets. */
  readonly offset: number;
  readonly length: number;
  /** Of the scalar; of length 0 where there is none. */
  valueOffset: number;
  valueLength: number;
  /** As written, with quotes. */
  value: string;
  end: number;
}

export interface Outline {
  readonly root: OutlineNode;
  readonly nodes: readonly OutlineNode[];
  /** Where a key would stand, not followed by a colon. */
  readonly words: readonly Word[];
}

interface Word extends Place {
  readonly parent: OutlineNode;
}

type Place = Pick<OutlineNode, 'offset' | 'length' | 'flow'>;

const longestKey = 200;

/** From the syntax tokens, so that it works while text is typed. Never throws, linear. */
export function outlineOf(text: string): Outline {
  const root = newNode(undefined, '', { offset: 0, length: 0, flow: false });
  const building: Building = { text, nodes: [], words: [] };
  const read = readTokens(text);
  const documents = 'problem' in read ? [] : read.tokens.filter(({ type }) => type === 'document');
  const [first] = documents as CST.Document[];
  if (first?.value !== undefined) readBehind(building, root, first.value);
  return { root, nodes: building.nodes, words: building.words };
}

interface Building {
  readonly text: string;
  readonly nodes: OutlineNode[];
  readonly words: Word[];
}

function newNode(parent: OutlineNode | undefined, name: string, place: Place, item = false) {
  const end = place.offset + place.length;
  const value = { valueOffset: end, valueLength: 0, value: '' };
  return { name, item, parent, children: [] as OutlineNode[], ...place, ...value, end };
}

function add(building: Building, ...of: [OutlineNode, string, Place, isItem?: boolean]) {
  const node = newNode(...of);
  of[0].children.push(node);
  building.nodes.push(node);
  return node;
}

type Item = CST.CollectionItem;

/** Recursive: {@link readTokens} bounds the depth. */
function readBehind(building: Building, node: OutlineNode, token: CST.Token): void {
  if (!('items' in token)) {
    const end = endOf(token);
    node.value = building.text.slice(token.offset, end).trimEnd();
    node.valueOffset = token.offset;
    node.valueLength = node.value.length;
    node.end = node.valueOffset + node.valueLength;
    return;
  }
  const flow = token.type === 'flow-collection';
  if (flow) node.valueOffset = token.offset;
  const list = flow ? token.start.type === 'flow-seq-start' : token.type === 'block-seq';
  for (const item of token.items as Item[]) {
    if (list) readItem(building, node, item, flow);
    else readPair(building, node, item, flow);
    node.end = Math.max(node.end, node.children.at(-1)?.end ?? 0);
  }
  const closing = flow ? token.end.find(({ type }) => /^flow-\w+-end$/.test(type)) : undefined;
  if (closing !== undefined) node.end = closing.offset + 1;
}

function readItem(building: Building, list: OutlineNode, item: Item, flow: boolean): void {
  const { start, key, value } = item;
  const dash = start.find(({ type }) => type === 'seq-item-ind');
  const offset = dash?.offset ?? (key ?? value)?.offset;
  if (offset === undefined) return;
  const place = { offset, length: 1, flow };
  const node = add(building, list, String(list.children.length), place, true);
  node.valueOffset = dash === undefined ? offset : behind(start, dash);
  if (key != null) readPair(building, node, item, flow);
  else if (value !== undefined) readBehind(building, node, value);
  node.end = Math.max(node.end, node.children.at(-1)?.end ?? 0);
}

function readPair(building: Building, map: OutlineNode, item: Item, flow: boolean): void {
  const { key, sep = [], value } = item;
  const colon = sep.find(({ type }) => type === 'map-value-ind');
  const written = key == null || !('source' in key) ? undefined : keyIn(key);
  if (written === undefined) return;
  const { name, offset, length } = written;
  if (colon === undefined) {
    building.words.push({ parent: map, offset, length, flow });
    map.end = Math.max(map.end, offset + length);
    return;
  }
  const node = add(building, map, name, { offset, length, flow });
  node.valueOffset = behind(sep, colon);
  if (value !== undefined) readBehind(building, node, value);
}

/** A word without a colon is read together with the key of the next line. */
function keyIn({
  type,
  offset,
  source,
}: Pick<CST.FlowScalar, 'offset' | 'source'> & { readonly type: string }):
  | { readonly name: string; readonly offset: number; readonly length: number }
  | undefined {
  const quoted = /^(single|double)-quoted-scalar$/.test(type);
  if ((type !== 'scalar' && !quoted) || source.length > longestKey) return undefined;
  if (quoted) return { name: source.slice(1, -1), offset, length: source.length };
  const name = lastLine(source);
  return { name, offset: offset + source.length - name.length, length: name.length };
}

export const lastLine = (source: string): string =>
  source.slice(source.lastIndexOf('\n') + 1).trimStart();

/** Where a value would begin on the same line: after white space, anchor and tag. */
function behind(tokens: readonly CST.SourceToken[], mark: CST.SourceToken): number {
  let end = mark.offset + mark.source.length;
  for (const { type, offset, source } of tokens.slice(tokens.indexOf(mark) + 1)) {
    if (!['space', 'anchor', 'tag'].includes(type)) break;
    end = offset + source.length;
  }
  return end;
}

function endOf(token: CST.Token): number {
  const props = token.type === 'block-scalar' ? token.props : [];
  const length = 'source' in token ? token.source.length : 0;
  return props.reduce(
    (end, prop) => end + ('source' in prop ? prop.source.length : 0),
    token.offset + length,
  );
}

export const childNamed = (node: OutlineNode | undefined, name: string): OutlineNode | undefined =>
  node?.children.find((child) => child.name === name);

export const pathOf = (node: OutlineNode): string[] =>
  node.parent === undefined ? [] : [...pathOf(node.parent), node.name];

export const nodeAt = ({ root }: Outline, path: readonly string[]): OutlineNode | undefined =>
  path.reduce<OutlineNode | undefined>(childNamed, root);

export function unquotedValue(node: OutlineNode | undefined): string | undefined {
  if (node === undefined || node.valueLength === 0) return undefined;
  return /^(["'])(.*)\1$/.exec(node.value)?.[2] ?? node.value;
}

export interface TextRange {
  readonly offset: number;
  readonly length: number;
}

export interface TextChange extends TextRange {
  readonly text: string;
}

/** Offsets are those of the text before; changes at one place keep their order. */
export function applyChanges(text: string, changes: readonly TextChange[]): string {
  let result = '';
  let end = 0;
  for (const { offset, length, text: put } of [...changes].sort((a, b) => a.offset - b.offset)) {
    result += text.slice(end, offset) + put;
    end = offset + length;
  }
  return result + text.slice(end);
}

/**
 * Inserts a missing key first in its section, after a `name`. Undefined where there is no place.
 */
export function setKey(
  text: string,
  { root }: Outline,
  path: readonly string[],
  value: string,
): TextChange | undefined {
  let node = root;
  for (const [depth, name] of path.entries()) {
    const child = childNamed(node, name);
    if (child === undefined) return insertInto(text, node, path.slice(depth), value);
    node = child;
  }
  if (node.children.length > 0) return undefined;
  const { valueOffset: offset, end } = node;
  const space = /\s/.test(text.charAt(offset - 1)) ? '' : ' ';
  return { offset, length: Math.max(0, end - offset), text: space + value };
}

function insertInto(text: string, section: OutlineNode, missing: readonly string[], value: string) {
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
  // After an anchor there is no line to write below.
  if (!/^\s*(?::\s*)?(?:#.*)?$/.test(rest) || (first === undefined && section.valueLength > 0))
    return undefined;
  const indent = `${indentAt(text, before.offset)}${first === undefined ? '  ' : ''}`;
  const offset = before.end + rest.trimEnd().length;
  return { offset, length: 0, text: `${lineBreak}${linesAt(indent)}` };
}

function indentAt(text: string, offset: number): string {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  return text
    .slice(lineStart, offset)
    .replace(/^\uFEFF/, '')
    .replace(/[^\t]/g, ' ');
}

/** Removes a key with its lines, and a section that would be left empty. */
export function removeKey(text: string, node: OutlineNode): TextChange {
  const { parent } = node;
  const alone = parent?.children.length === 1 && parent.parent !== undefined && !parent.item;
  if (alone) return removeKey(text, parent);
  const siblings = parent?.children ?? [];
  const position = siblings.indexOf(node);
  const next = siblings[position + 1];
  const before = siblings[position - 1];
  if (node.flow) {
    return next === undefined
      ? removed(before?.end ?? node.offset, node.end)
      : removed(node.offset, next.offset);
  }
  const end = endOfLines(text, node);
  const start = text.lastIndexOf('\n', node.offset - 1) + 1;
  // The first key of a list item leaves its dash to the next one.
  const behindDash = text.slice(start, node.offset).trim() !== '';
  return behindDash ? removed(node.offset, next?.offset ?? end) : removed(start, end);
}

const removed = (from: number, to: number): TextChange => ({
  offset: from,
  length: to - from,
  text: '',
});

/** After the line break of its last line; deeper comments belong to it. */
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

/** The bare text first; then the whole value in quotes, since braces may end a bare one. */
export function replacementCandidates(
  at: TextRange,
  put: string,
  plain?: { readonly content: TextRange; readonly meant: string },
): TextChange[] {
  const bare = { offset: at.offset, length: at.length, text: put };
  if (plain === undefined) return [bare];
  const { offset, length } = plain.content;
  return [bare, { offset, length, text: JSON.stringify(plain.meant) }];
}
