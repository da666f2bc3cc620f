import type { Analysis } from './analyseScenario';
import { pathOf, type OutlineNode } from './outline/outlineNode';

/** Whether the hover of a key begins with the estimate wherever it is written. */
export function showsEstimate(node: OutlineNode): boolean {
  const path = pathOf(node)
    .map((name) => (/^\d+$/.test(name) ? '*' : name))
    .join('.');
  return /^(config\.(connections|unit)|(scenario|scenarios\.\*)\.(name|parameters\.(messageSize|sendingInterval)))$/.test(
    path,
  );
}

/**
 * Where a text surely shows its estimate: its connections, else the first key that makes up the load.
 * Files that leave all of that to the defaults, and pipelines, show it where they begin.
 */
export function estimatePlace({ text, outline }: Analysis): { offset: number; length: number } {
  const keys = outline.nodes.filter(({ item }) => !item);
  const own = keys.filter(showsEstimate);
  const node = own.find(({ name }) => name === 'connections') ?? own[0] ?? keys[0];
  if (node !== undefined) return { offset: node.offset, length: node.length };
  return { offset: Math.max(0, text.search(/^[^\s#]/m)), length: 1 };
}
