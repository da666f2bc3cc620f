import type { Outline } from '../outline/outline';
import { childOf, type OutlineNode } from '../outline/outlineNode';

/** Replaces `length` characters from `offset` by `text`. */
export interface TextChange {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/**
 * A change that gives the key at a path a value: in its place when it is written, else as the first key
 * of its section, which is opened when it is missing. Undefined when there is no place for it, or when
 * its value goes on below its line.
 */
export function setKey(
  text: string,
  outline: Outline,
  path: readonly string[],
  value: string,
): TextChange | undefined {
  let parent = outline.root;
  for (const [depth, name] of path.entries()) {
    const node = childOf(parent, name);
    if (node === undefined) return insertInto(text, parent, path.slice(depth), value);
    parent = node;
  }
  if (parent.children.length > 0 || goesOn(text, parent)) return undefined;
  const { valueOffset: offset, valueLength: length } = parent;
  const space = length === 0 && !/\s/.test(text.charAt(offset - 1)) ? ' ' : '';
  return { offset, length, text: space + value };
}

/** Whether what stands below the line of a key, deeper than it, belongs to its value. */
function goesOn(text: string, { flow, column, valueOffset }: OutlineNode): boolean {
  if (flow) return false;
  const [, ...below] = text.slice(valueOffset).split(/\r?\n/);
  const next = below.find((line) => /^\s*[^\s#]/.test(line));
  return next !== undefined && next.search(/\S/) > column;
}

function insertInto(
  text: string,
  parent: OutlineNode,
  missing: readonly string[],
  value: string,
): TextChange | undefined {
  const first = parent.children[0];
  const lineBreak = text.includes('\r\n') ? '\r\n' : '\n';
  if (first === undefined || first.item) return undefined;
  if (first.flow) {
    const name = missing[0];
    if (missing.length > 1 || name === undefined) return undefined;
    return { offset: first.offset, length: 0, text: `${name}: ${value}, ` };
  }
  const lines = missing.map((name, depth) => {
    const end = depth === missing.length - 1 ? ` ${value}` : '';
    return `${' '.repeat(depth === 0 ? 0 : first.column + 2 * depth)}${name}:${end}`;
  });
  const written = `${lines.join(lineBreak)}${lineBreak}${' '.repeat(first.column)}`;
  return { offset: first.offset, length: 0, text: written };
}
