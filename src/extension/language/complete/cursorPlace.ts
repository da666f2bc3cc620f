import {
  lastLine,
  nodeAt,
  outlineOf,
  pathOf,
  type Outline,
  type OutlineNode,
} from '../../../scenario/text/outline';

/** What is typed at a place of the text, and where that begins. */
export type CursorPlace =
  /** A key below `parent`. */
  | {
      readonly kind: 'key';
      readonly parent: OutlineNode;
      readonly start: number;
      readonly flow: boolean;
    }
  /** The value of a key or list item. */
  | { readonly kind: 'value'; readonly node: OutlineNode; readonly start: number };

/**
 * Finds out what the cursor is at: the text up to it is read as if a word ended there. Undefined in
 * comments, and where YAML goes on with a value that begins on another line.
 *
 * @param outline that of the whole text
 */
export function cursorPlace(
  text: string,
  outline: Outline,
  offset: number,
): CursorPlace | undefined {
  // The braces of a reference that is being typed mean something else to YAML in brackets.
  const before = text.slice(0, offset).replace(/\$(?:\{[\w:-]*)?$/, '');
  const probe = `${before}_`;
  const { root, nodes, words } = outlineOf(probe);
  const whole = (node: OutlineNode): OutlineNode => nodeAt(outline, pathOf(node)) ?? node;
  const keyBelow = (
    parent: OutlineNode,
    { start, flow }: { readonly start: number; readonly flow: boolean },
  ): CursorPlace | undefined =>
    /^["']?[\w-]*$/.test(text.slice(start, offset))
      ? { kind: 'key', parent: whole(parent), start, flow }
      : undefined;
  const word = words.at(-1);
  if (word !== undefined && word.offset + word.length === probe.length) {
    return keyBelow(word.parent, { ...word, start: word.offset });
  }
  const node = [root, ...nodes]
    .filter(({ valueOffset, valueLength }) => valueOffset + valueLength === probe.length)
    .at(-1);
  if (node === undefined || node.valueLength === 0) return undefined;
  const { flow, item, valueOffset, value } = node;
  const typed = lastLine(value);
  // The first key of a section is a value to YAML as long as it has no colon.
  if (!flow && (node === root || /[\r\n]/.test(probe.slice(node.offset, valueOffset)))) {
    return keyBelow(node, { start: probe.length - typed.length, flow });
  }
  if (/[\r\n]/.test(value)) return undefined;
  if (item && !flow && !holdsValues(node)) return keyBelow(node, { start: valueOffset, flow });
  return { kind: 'value', node: whole(node), start: valueOffset };
}

/** Whether a list item is one value, as those of `target` are. */
const holdsValues = ({ parent }: OutlineNode): boolean =>
  parent !== undefined && listKeys.includes(parent.name);

const listKeys: readonly string[] = ['target', 'webAppTarget', 'arguments', 'streamingItems'];
