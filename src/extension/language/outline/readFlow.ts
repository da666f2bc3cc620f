import { newNode, type OutlineNode } from './outlineNode';

/** What stands in one `{ }` or `[ ]`. */
export interface Flow {
  /** Children of the owner, and all nodes in the order of the text. */
  readonly top: readonly OutlineNode[];
  readonly nodes: readonly OutlineNode[];
  readonly closed: boolean;
  /** Behind the closing bracket, or where reading stopped. */
  readonly end: number;
  /** Where reading stopped: the innermost open bracket's owner, and the key that waits for a value. */
  readonly open: OutlineNode;
  readonly pending: OutlineNode | undefined;
  /** Start of the word that reading stopped in. */
  readonly word: number;
}

/** A bracket that reaches over more text than this is no part of a scenario. */
const longestFlow = 50_000;

/**
 * Reads the keys inside brackets, from the opening one at `start` up to its end, or to `stop`. Never
 * throws; what does not fit is passed over.
 */
export function readFlow(
  text: string,
  start: number,
  stop: number,
  owner: OutlineNode,
  mostNodes: number,
): Flow {
  const end = Math.min(stop, start + longestFlow);
  const top: OutlineNode[] = [];
  const nodes: OutlineNode[] = [];
  const stack: { node: OutlineNode; map: boolean; count: number }[] = [];
  let pending: OutlineNode | undefined;
  let word = start;
  let at = start;

  const add = (name: string, offset: number, length: number, item: boolean): OutlineNode => {
    const frame = stack.at(-1)!;
    const shown = item ? String(frame.count++) : name;
    const node = newNode(frame.node, shown, { column: -1, offset, length }, item, true);
    (frame.node === owner ? top : frame.node.children).push(node);
    nodes.push(node);
    return node;
  };

  while (at < end && nodes.length < mostNodes) {
    const character = text.charAt(at);
    if (/\s/.test(character)) {
      at += 1;
      word = at;
    } else if (character === '#' && /\s/.test(text.charAt(at - 1))) {
      while (at < end && !/[\r\n]/.test(text.charAt(at))) at += 1;
    } else if (character === '{' || character === '[') {
      const inList = stack.at(-1)?.map === false;
      const node: OutlineNode = inList
        ? add('', at, 1, true)
        : (pending ?? stack.at(-1)?.node ?? owner);
      stack.push({ node, map: character === '{', count: 0 });
      pending = undefined;
      at += 1;
      word = at;
    } else if (character === '}' || character === ']') {
      const closed = stack.pop()!;
      at += 1;
      word = at;
      closed.node.end = at;
      pending = undefined;
      if (stack.length === 0) {
        return { top, nodes, closed: true, end: at, open: owner, pending, word };
      }
    } else if (character === ',') {
      pending = undefined;
      at += 1;
      word = at;
    } else {
      word = at;
      const token = tokenAt(text, at, end);
      at += token.length;
      if (at >= end) {
        // Being typed: it is a value already, and may still grow.
        if (pending !== undefined) setValue(pending, word, token);
        break;
      }
      const colon = /^[ \t]*:(?=[\s,{}[\]]|$)/.exec(text.slice(at, at + 50));
      if (colon !== null && stack.at(-1)!.map) {
        pending = add(token.replace(/^(["'])(.*)\1$/, '$2'), word, token.length, false);
        at += colon[0].length;
        pending.valueOffset = Math.min(at + 1, end);
        word = at;
      } else if (pending !== undefined || stack.at(-1)?.map === false) {
        const node = pending ?? add('', word, 1, true);
        setValue(node, word, token);
        pending = undefined;
      }
    }
  }
  const open = stack.at(-1)?.node ?? owner;
  return { top, nodes, closed: false, end: at, open, pending, word };
}

function setValue(node: OutlineNode, offset: number, token: string): void {
  node.valueOffset = offset;
  node.value = token.trimEnd();
  node.valueLength = node.value.length;
  node.end = offset + node.valueLength;
}

/** A quoted text, or a plain one up to what ends it in brackets; at least one character. */
function tokenAt(text: string, offset: number, end: number): string {
  const rest = text.slice(offset, Math.min(end, offset + 2000));
  const quoted = /^"(?:[^"\\]|\\.)*"|^'(?:[^']|'')*'/.exec(rest)?.[0];
  if (quoted !== undefined) return quoted;
  // A reference is no bracket to people, though it is one to YAML.
  const plain = /^(?:\$\{[^{}\r\n]*\}|(?!:(?:[\s,{}[\]]|$))[^,{}[\]\r\n])+/.exec(rest)?.[0];
  return plain ?? rest.charAt(0);
}
