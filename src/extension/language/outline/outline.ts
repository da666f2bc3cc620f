import { childOf, newNode, type NodePlace, type OutlineNode } from './outlineNode';
import { readFlow } from './readFlow';

/** What {@link outlineOf} found. */
export interface Outline {
  readonly root: OutlineNode;
  /** All nodes in the order of the text, without the root. */
  readonly nodes: readonly OutlineNode[];
  /** `{ }` and `[ ]` behind a key, with the node they belong to. */
  readonly flows: readonly { readonly owner: OutlineNode; readonly start: number; end: number }[];
}

/** Scenario files have tens of lines; what is beyond is not looked at. */
const maximumLines = 20_000;
const maximumNodes = 20_000;

const keyPattern = /^(?:"([^"]{0,200})"|'([^']{0,200})'|([^\s"'#[\]{},][^:#]{0,200}?))\s*:(?=\s|$)/;

/**
 * The keys of a YAML text by lines and indentation. Unlike a parser it also answers for text that is
 * being typed; what it does not understand it leaves out. Never throws, linear in the text.
 */
export function outlineOf(text: string): Outline {
  const root = newNode(undefined, '', { column: -1, offset: 0, length: 0 });
  const building: Building = { text, nodes: [], flows: [], stack: [root] };
  /** Lines deeper than this column belong to a block scalar. */
  let blockColumn = Infinity;
  let start = text.startsWith('\uFEFF') ? 1 : 0;
  for (let line = 0; start < text.length && line < maximumLines; line++) {
    if (building.nodes.length >= maximumNodes) break;
    const lineEnd = endOfLine(text, start);
    const at = skipSpaces(text, start, lineEnd);
    let next = afterBreak(text, lineEnd);
    const blank = at === lineEnd || text.charAt(at) === '#';
    if (!blank && at - start <= blockColumn) {
      blockColumn = Infinity;
      const holder = readHolder(building, start, at, lineEnd);
      if (holder !== undefined) {
        const end = readBehind(building, holder, lineEnd);
        if (end > lineEnd) next = afterBreak(text, endOfLine(text, end));
        if (/^[|>][-+0-9]*$/.test(holder.value)) blockColumn = holder.column;
      }
    }
    start = next;
  }
  return { root, nodes: building.nodes, flows: building.flows };
}

interface Building {
  readonly text: string;
  readonly nodes: OutlineNode[];
  readonly flows: { owner: OutlineNode; start: number; end: number }[];
  /** From the root to the node that the last line belongs to. */
  readonly stack: OutlineNode[];
}

function open(building: Building, place: NodePlace, name: string, item: boolean): OutlineNode {
  const { stack, nodes } = building;
  while (stack.length > 1) {
    const top = stack.at(-1)!;
    const hasValue = top.valueLength > 0;
    // A list may stand at the column of its key.
    const owns = item && !top.item && top.column === place.column && !hasValue;
    if (owns || (top.column < place.column && !hasValue)) break;
    stack.pop();
  }
  const parent = stack.at(-1)!;
  const node = newNode(parent, item ? String(parent.children.length) : name, place, item);
  parent.children.push(node);
  nodes.push(node);
  stack.push(node);
  return node;
}

/** The dashes and the key of a line; the node that the rest of the line is a value of. */
function readHolder(
  building: Building,
  lineStart: number,
  from: number,
  lineEnd: number,
): OutlineNode | undefined {
  const { text } = building;
  let at = from;
  let holder: OutlineNode | undefined;
  while (/^-(\s|$)/.test(text.slice(at, Math.min(lineEnd, at + 2)))) {
    holder = open(building, { column: at - lineStart, offset: at, length: 1 }, '', true);
    at = skipSpaces(text, at + 1, lineEnd);
    holder.valueOffset = at;
  }
  const key = keyPattern.exec(text.slice(at, Math.min(lineEnd, at + 300)));
  if (key === null) return holder;
  const name = key[1] ?? key[2] ?? key[3] ?? '';
  const length = key[0].slice(0, -1).trimEnd().length;
  holder = open(building, { column: at - lineStart, offset: at, length }, name, false);
  holder.valueOffset = skipSpaces(text, at + key[0].length, lineEnd);
  return holder;
}

/** Reads the value behind a key or dash; the offset behind it, which may be on a later line. */
function readBehind({ text, nodes, flows }: Building, node: OutlineNode, lineEnd: number): number {
  const at = skipProperties(text, node.valueOffset, lineEnd);
  node.valueOffset = at;
  if (!/[{[]/.test(text.charAt(at))) {
    node.value = scalarAt(text, at, lineEnd);
    node.valueLength = node.value.length;
    extend(node, at + node.valueLength);
    return at + node.valueLength;
  }
  const whole = readFlow(text, at, text.length, node, maximumNodes - nodes.length);
  // What is never closed is being typed: the next lines stand for themselves.
  const inside = whole.closed ? whole : readFlow(text, at, lineEnd, node, maximumNodes);
  node.children.push(...inside.top);
  nodes.push(...inside.nodes);
  flows.push({ owner: node, start: at, end: inside.end });
  extend(node, inside.end);
  return inside.end;
}

/** The node at a path from the root, e.g. `['config', 'unit']`. */
export function nodeAt(outline: Outline, path: readonly string[]): OutlineNode | undefined {
  return path.reduce<OutlineNode | undefined>(childOf, outline.root);
}

function extend(node: OutlineNode, end: number): void {
  for (let at: OutlineNode | undefined = node; at !== undefined; at = at.parent) {
    at.end = Math.max(at.end, end);
  }
}

/** Offset of the line break that ends the line, or the end of the text. */
export function endOfLine(text: string, offset: number): number {
  for (let at = offset; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === 10 || character === 13) return at;
  }
  return text.length;
}

/** Offset of the first character of the line. */
export function startOfLine(text: string, offset: number): number {
  let at = offset;
  while (at > 0 && text.charCodeAt(at - 1) !== 10 && text.charCodeAt(at - 1) !== 13) at -= 1;
  return at === 0 && text.startsWith('\uFEFF') ? Math.min(1, offset) : at;
}

function afterBreak(text: string, offset: number): number {
  return text.startsWith('\r\n', offset) ? offset + 2 : offset + 1;
}

function skipSpaces(text: string, offset: number, end: number): number {
  let at = offset;
  while (at < end && (text.charAt(at) === ' ' || text.charAt(at) === '\t')) at += 1;
  return at;
}

/** Anchors and tags before a value. */
function skipProperties(text: string, offset: number, end: number): number {
  const found = /^(?:[&!]\S*\s+)+/.exec(text.slice(offset, Math.min(end, offset + 200)));
  return offset + (found?.[0].length ?? 0);
}

/** The scalar that begins there, without comment and trailing white space. */
function scalarAt(text: string, offset: number, end: number): string {
  const rest = text.slice(offset, end);
  const quoted = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(rest);
  if (quoted !== null) return quoted[0];
  if (rest.startsWith('#')) return '';
  const comment = rest.search(/\s#/);
  return (comment === -1 ? rest : rest.slice(0, comment)).trimEnd();
}
