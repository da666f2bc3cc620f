import { plainValue, type OutlineNode } from '../../scenario/text/outline';
import { specOf, type Analysis } from './analyseScenario';

export interface SymbolText {
  readonly name: string;
  /** The value, unless it may hold a secret. */
  readonly detail: string;
  readonly kind: 'section' | 'entry' | 'key';
  readonly offset: number;
  readonly length: number;
  readonly nameLength: number;
  readonly children: readonly SymbolText[];
}

const maximumSymbols = 2000;
const maximumDepth = 16;

/** The keys of a scenario as a tree. */
export function documentSymbols({ outline }: Analysis): SymbolText[] {
  let left = maximumSymbols;
  const symbols = (nodes: readonly OutlineNode[], depth: number): SymbolText[] => {
    if (depth > maximumDepth) return [];
    return nodes.slice(0, left).flatMap((node) => {
      if (left <= 0) return [];
      left -= 1;
      return [symbolOf(node, symbols(node.children, depth + 1))];
    });
  };
  return symbols(outline.root.children, 0);
}

function symbolOf(node: OutlineNode, children: readonly SymbolText[]): SymbolText {
  const { item, offset, length, end } = node;
  const named = item ? node.children.find(({ name }) => name === 'name') : undefined;
  return {
    name: item
      ? (plainValue(named)?.slice(0, 60) ?? `- ${Number(node.name) + 1}`)
      : node.name === ''
        ? '""'
        : node.name,
    detail: shown(node),
    kind: item ? 'entry' : children.length > 0 ? 'section' : 'key',
    offset,
    length: Math.max(end, offset + length) - offset,
    nameLength: length,
    children,
  };
}

/** Texts that take references may hold what a reference stands for. */
function shown(node: OutlineNode): string {
  const spec = specOf(node);
  if (spec === undefined || spec.references === true) return '';
  return node.value.slice(0, 60).replace(/\s+/g, ' ');
}
