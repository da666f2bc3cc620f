import { Document, isCollection, type Node, Pair, Scalar, visit, YAMLMap, YAMLSeq } from 'yaml';
import { visibleLine, visibleText, visibleYaml } from '../base/text';

/** The text of a scenario file; values from clients are escaped, never interpreted. */
export function yamlText(head: readonly string[], keys: CommentedMap): string {
  const document = new Document();
  document.commentBefore = comment(head);
  document.contents = nodeOf(document, keys) as never;
  visit(document, {
    Scalar: (_key, node) => {
      const { value } = node;
      // Only double quotes can have escapes.
      if (typeof value === 'string' && visibleText(value) !== value)
        node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  return visibleYaml(
    document.toString({ singleQuote: true, lineWidth: 110, flowCollectionPadding: true }),
  );
}

const comment = (lines: readonly string[]): string =>
  lines.map((line) => ` ${visibleLine(line)}`).join('\n');

function nodeOf(document: Document, value: unknown): Node {
  if (value instanceof CommentedMap) return mapOf(document, value);
  if (Array.isArray(value) && value.some((item) => item instanceof CommentedMap)) {
    const list = new YAMLSeq();
    for (const item of value) list.add(nodeOf(document, item));
    return list;
  }
  const node = document.createNode(value);
  if (isCollection(node)) node.flow = true;
  return node;
}

function mapOf(document: Document, { keys, above: aboveAll }: CommentedMap): YAMLMap {
  const map = new YAMLMap();
  if (aboveAll.length > 0) map.commentBefore = comment(aboveAll);
  for (const [name, held] of Object.entries(keys)) {
    const { value, beside, above } =
      held instanceof CommentedValue ? held : new CommentedValue(held);
    if (value === undefined) continue;
    const key = document.createNode(name);
    const node = nodeOf(document, value);
    if (above.length > 0) key.commentBefore = comment(above);
    if (beside !== undefined) node.comment = comment([beside]);
    map.add(new Pair(key, node));
  }
  return map;
}

/** A map of a scenario file with a comment above; keys without a value are left out. */
export class CommentedMap {
  constructor(
    readonly keys: Readonly<Record<string, unknown>>,
    readonly above: readonly string[] = [],
  ) {}
}

export class CommentedValue {
  constructor(
    readonly value: unknown,
    readonly beside?: string,
    readonly above: readonly string[] = [],
  ) {}
}

export function secretNamesIn(value: unknown): string[] {
  if (value instanceof CommentedValue) return secretNamesIn(value.value);
  if (value instanceof CommentedMap) return Object.values(value.keys).flatMap(secretNamesIn);
  if (typeof value !== 'string') return [];
  return [...value.matchAll(/\$\{secret:([^}]+)\}/g)].map(([, name]) => name!);
}
