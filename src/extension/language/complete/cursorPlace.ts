import { endOfLine, nodeAt, outlineOf, startOfLine, type Outline } from '../outline/outline';
import { pathOf, type OutlineNode } from '../outline/outlineNode';
import { readFlow } from '../outline/readFlow';

/** What is typed at a place of the text. */
export type CursorPlace =
  | {
      readonly kind: 'key';
      /** The node the key hangs on. */
      readonly parent: OutlineNode;
      /** Start of the word that is being typed. */
      readonly start: number;
      readonly flow: boolean;
    }
  | {
      readonly kind: 'value';
      /** The key, or the list item, whose value it is. */
      readonly node: OutlineNode;
      /** Start of the value. */
      readonly start: number;
    };

/**
 * Tells what the cursor is at from indentation and brackets, so that it also works in text that is no
 * YAML yet. Undefined in comments and in what no description knows.
 */
export function cursorPlace(
  text: string,
  outline: Outline,
  offset: number,
): CursorPlace | undefined {
  const flow = outline.flows.find(
    ({ start, end }) =>
      offset > start && (offset < end || (offset === end && !/[}\]]/.test(text.charAt(end - 1)))),
  );
  if (flow !== undefined) return placeInFlow(text, flow.owner, flow.start, offset);
  const lineStart = startOfLine(text, offset);
  const before = text.slice(lineStart, offset);
  if (before.length > 2000 || inComment(before)) return undefined;
  const key = /^(\s*(?:-\s+)*)["']?([\w-]*)$/.exec(before);
  const dashed = key?.[1]?.includes('-') === true;
  if (key !== null) {
    const prefix = key[1]!;
    const parent = parentBefore(text, outline, lineStart, prefix);
    const list = dashed ? parent : undefined;
    const start = lineStart + prefix.length;
    if (list !== undefined && holdsValues(list)) return { kind: 'value', node: list, start };
    return { kind: 'key', parent, start, flow: false };
  }
  const node = outline.nodes
    .filter(({ offset: from, length }) => from >= lineStart && from + length < offset)
    .at(-1);
  if (node === undefined || node.valueOffset > endOfLine(text, offset)) return undefined;
  const colon = node.offset + node.length;
  const gap = /^\s*:?[ \t]*/.exec(text.slice(colon, offset))?.[0].length ?? 0;
  if (!node.item && gap < 2) return undefined;
  return { kind: 'value', node, start: Math.min(offset, Math.max(colon + gap, 0)) };
}

/** The node a key would hang on that stands behind `prefix` on the line. */
function parentBefore(
  text: string,
  outline: Outline,
  lineStart: number,
  prefix: string,
): OutlineNode {
  // The part before the cursor is read as if a key stood at its end.
  const upTo = outlineOf(`${text.slice(0, lineStart)}${prefix}_:`);
  const placed = upTo.nodes.at(-1);
  const parent = placed?.parent ?? upTo.root;
  const path = pathOf(parent);
  return nodeAt(outline, path) ?? parent;
}

/** Whether a list item holds one value, as those of `target` do. */
const holdsValues = ({ item, parent }: OutlineNode): boolean =>
  item && parent !== undefined && listKeys.includes(parent.name);

const listKeys: readonly string[] = ['target', 'webAppTarget', 'arguments', 'streamingItems'];

function placeInFlow(
  text: string,
  owner: OutlineNode,
  start: number,
  offset: number,
): CursorPlace | undefined {
  const flow = readFlow(text, start, offset, owner, 1000);
  const typed = text.slice(flow.word, offset);
  const path = pathOf(flow.open);
  if (flow.pending !== undefined) {
    return { kind: 'value', node: flow.pending, start: offset - typed.trimStart().length };
  }
  if (!/^[\w-]*$/.test(typed)) return undefined;
  if (path.length > 0 && text.charAt(start) === '[' && flow.open === owner) {
    return { kind: 'value', node: owner, start: flow.word };
  }
  return { kind: 'key', parent: flow.open, start: flow.word, flow: true };
}

/** Whether a comment begins on the line before the cursor. */
function inComment(before: string): boolean {
  let quote = '';
  for (let at = 0; at < before.length; at++) {
    const character = before.charAt(at);
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if ((character === '"' || character === "'") && /[\s:[{,]/.test(before.charAt(at - 1))) {
      quote = character;
    } else if (character === '#' && (at === 0 || /\s/.test(before.charAt(at - 1)))) {
      return true;
    }
  }
  return false;
}
