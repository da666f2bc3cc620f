/** A key or a list item of a YAML text, as far as its lines and indentation tell. */
export interface OutlineNode {
  /** The key without quotes; of a list item its number from 0. Empty for the root. */
  readonly name: string;
  readonly item: boolean;
  readonly parent: OutlineNode | undefined;
  readonly children: OutlineNode[];
  /** Column of the key or of the dash; -1 for the root. */
  readonly column: number;
  /** Whether it stands inside `{ }` or `[ ]`. */
  readonly flow: boolean;
  /** Place of the key, or of the dash. */
  readonly offset: number;
  readonly length: number;
  /** Place of the scalar behind it; of length 0, where one would stand, when there is none. */
  valueOffset: number;
  valueLength: number;
  /** The scalar as written, quotes included. */
  value: string;
  /** Behind the last character that belongs to it. */
  end: number;
}

/** Where a key stands. */
export interface NodePlace {
  readonly column: number;
  readonly offset: number;
  readonly length: number;
}

/** A node without value and children. */
export function newNode(
  parent: OutlineNode | undefined,
  name: string,
  { column, offset, length }: NodePlace,
  item = false,
  flow = false,
): OutlineNode {
  const end = offset + length;
  return {
    name,
    item,
    parent,
    children: [],
    column,
    flow,
    offset,
    length,
    valueOffset: end,
    valueLength: 0,
    value: '',
    end,
  };
}

/** The child of that name; the first one when it is written twice. */
export function childOf(node: OutlineNode | undefined, name: string): OutlineNode | undefined {
  return node?.children.find((child) => child.name === name);
}

/** Names from the root to the node. */
export function pathOf(node: OutlineNode): string[] {
  const path: string[] = [];
  for (let at: OutlineNode = node; at.parent !== undefined; at = at.parent) path.unshift(at.name);
  return path;
}

/** The scalar without its quotes. */
export function plainValue(node: OutlineNode | undefined): string | undefined {
  if (node === undefined || node.valueLength === 0) return undefined;
  return /^(["'])(.*)\1$/.exec(node.value)?.[2] ?? node.value;
}
