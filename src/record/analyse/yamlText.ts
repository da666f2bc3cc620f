import { Document, isCollection, type Node, Pair, Scalar, visit, YAMLMap, YAMLSeq } from 'yaml';
import { visibleLine, visibleText, visibleYaml } from '../../base/text';
import { Keys } from '../writtenKeys';
import type { WrittenStep } from './plannedSteps';

/** Steps, to be written as such where they stand as a value. */
export class StepList {
  constructor(readonly steps: readonly WrittenStep[]) {}
}

/** The text of a scenario file: what clients have sent stands in it as it was, and nothing of it is obeyed. */
export function yamlText(head: readonly string[], keys: Keys): string {
  const document = new Document();
  document.commentBefore = comment(head);
  document.contents = mapOf(document, keys) as never;
  visit(document, {
    Scalar: (_key, node) => {
      const { value } = node;
      // Only there have escapes a meaning.
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

function mapOf(document: Document, { keys }: Keys): YAMLMap {
  const map = new YAMLMap();
  for (const [name, { value, above = [], beside }] of Object.entries(keys)) {
    const node = nodeOf(document, value);
    if (beside !== undefined) node.comment = comment([beside]);
    add(document, map, name, node, above);
  }
  return map;
}

function add(
  document: Document,
  map: YAMLMap,
  name: string,
  value: Node,
  above: readonly string[] = [],
): void {
  const key = document.createNode(name);
  if (above.length > 0) key.commentBefore = comment(above);
  map.add(new Pair(key, value));
}

function nodeOf(document: Document, value: unknown): Node {
  if (value instanceof Keys) return mapOf(document, value);
  if (value instanceof StepList) return stepsOf(document, value.steps);
  if (Array.isArray(value) && value.some((item) => item instanceof Keys)) {
    const list = new YAMLSeq();
    for (const item of value) list.add(nodeOf(document, item));
    return list;
  }
  const node = document.createNode(value);
  if (isCollection(node)) node.flow = true;
  return node;
}

function stepsOf(document: Document, steps: readonly WrittenStep[]): YAMLSeq {
  const list = new YAMLSeq();
  for (const { comments, keys, steps: inner, ways } of steps) {
    const map = new YAMLMap();
    for (const [name, value] of Object.entries(keys))
      add(document, map, name, nodeOf(document, value));
    if (inner !== undefined) add(document, map, 'steps', stepsOf(document, inner));
    if (ways !== undefined) add(document, map, 'choose', waysOf(document, ways));
    if (comments.length > 0) map.commentBefore = comment(comments);
    list.add(map);
  }
  return list;
}

function waysOf(document: Document, ways: NonNullable<WrittenStep['ways']>): YAMLSeq {
  const list = new YAMLSeq();
  for (const { weight, steps } of ways) {
    const map = new YAMLMap();
    add(document, map, 'weight', document.createNode(weight) as Node);
    add(document, map, 'steps', stepsOf(document, steps));
    list.add(map);
  }
  return list;
}

/** Lines of a long comment. */
export function commentLines(text: string): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + word.length > 110) {
      lines.push(line);
      line = ' ';
    }
    line += line === '' || line === ' ' ? word.padStart(word.length + line.length) : ` ${word}`;
  }
  return line.trim() === '' ? lines : [...lines, line];
}
