import type { OutlineNode } from '../outline/outlineNode';
import type { TextChange } from './setKey';

/**
 * A change that takes a key out of its section, with its value and the lines that belong to it. A section
 * of which nothing would be left goes with it.
 */
export function removeKey(text: string, node: OutlineNode): TextChange {
  const { parent } = node;
  const alone = parent?.children.length === 1 && parent.parent !== undefined && !parent.item;
  if (alone) return removeKey(text, parent);
  return node.flow ? outOfBraces(node) : outOfLines(text, node);
}

/** With the comma behind it, or the one before it where it is the last. */
function outOfBraces(node: OutlineNode): TextChange {
  const siblings = node.parent?.children ?? [node];
  const position = siblings.indexOf(node);
  const next = siblings[position + 1];
  const before = siblings[position - 1];
  const [from, to] =
    next !== undefined
      ? [node.offset, next.offset]
      : [before === undefined ? node.offset : before.end, node.end];
  return { offset: from, length: to - from, text: '' };
}

function outOfLines(text: string, node: OutlineNode): TextChange {
  const end = endOfLines(text, node);
  const start = text.lastIndexOf('\n', node.offset - 1) + 1;
  const next = node.parent?.children[node.parent.children.indexOf(node) + 1];
  // The first key of a list item stands behind its dash, which the next one takes over.
  const behindDash = text.slice(start, node.offset).trim() !== '';
  if (!behindDash) return { offset: start, length: end - start, text: '' };
  return { offset: node.offset, length: (next?.offset ?? end) - node.offset, text: '' };
}

/** Behind the line break of the last line that belongs to the key: those below it that are deeper. */
function endOfLines(text: string, { column, offset }: OutlineNode): number {
  const line = /[^\n]*\n?/y;
  let end = offset;
  for (let first = true; end < text.length; first = false) {
    line.lastIndex = first ? offset : endOfBlank(text, end);
    const [found = ''] = line.exec(text) ?? [];
    const depth = found.search(/\S/);
    const belongs = first || depth > column || (depth === column && /^\s*-\s/.test(found));
    if (!belongs || found === '') break;
    end = line.lastIndex;
  }
  return end;
}

/** Empty lines belong to what follows them. */
function endOfBlank(text: string, from: number): number {
  const blank = /(?:[ \t]*\r?\n)*/y;
  blank.lastIndex = from;
  blank.exec(text);
  return blank.lastIndex;
}
