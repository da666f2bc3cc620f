import type { KeySpec } from '../../scenario/keys/keySpec';
import { descriptionOf } from '../../scenario/keys/schema';
import {
  lastLine,
  nodeAt,
  outlineOf,
  pathOf,
  type Outline,
  type OutlineNode,
} from '../../scenario/text/outline';
import { keysBelow, specOf, type Analysis } from './analyseScenario';
import { english, type Translate } from '../../base/text';
import {
  presetCompletions,
  valueCompletions,
  wholeScenarios,
  type Completion,
  type ReferenceNames,
} from './proposals';

/**
 * What can be written at an offset, best first: keys of the section at the cursor that it does not have
 * yet, values of a key, references, and whole scenarios in an empty file. Keys that only files of the
 * Azure SignalR benchmark have come last.
 */
export function completionsAt(
  analysis: Analysis,
  offset: number,
  names: ReferenceNames,
  t: Translate = english,
): Completion[] {
  const { text, outline } = analysis;
  const at = Math.max(0, Math.min(offset, text.length));
  const place = cursorPlace(text, outline, at);
  if (place === undefined) return [];
  if (place.kind === 'value') {
    const spec = specOf(place.node);
    const typed = { start: place.start, offset: at };
    return spec === undefined ? [] : valueCompletions(analysis, spec, typed, names, t);
  }
  const specs = keysBelow(place.parent);
  const range = { offset: place.start, length: at - place.start };
  if (specs === undefined) return [];
  const present = new Set(
    place.parent.children.filter((child) => child.offset !== place.start).map(({ name }) => name),
  );
  const hasColon = /^[\w-]*["']?\s*:/.test(text.slice(at, at + 100));
  const missing = specs.filter(
    ({ name }) => !present.has(name) && !excluded(place.parent, name, present),
  );
  const keyOf = (spec: KeySpec): Completion => ({
    ...range,
    kind: 'key',
    label: spec.name,
    ...keyInsert(spec, hasColon, place.flow),
    documentation: descriptionOf(spec),
    ...(spec.required === true ? { detail: t('required') } : {}),
  });
  const isEmpty = place.parent === outline.root && outline.root.children.length === 0;
  return [
    ...[...missing].filter(isOurs).sort(firstOnes).map(keyOf),
    ...(isEmpty ? [...wholeScenarios(range, t), ...presetCompletions(range, t)] : []),
    ...missing.filter((spec) => !isOurs(spec)).map(keyOf),
  ];
}

const isOurs = ({ listed }: KeySpec): boolean => listed !== 'oldTool';

const firstOnes = (a: KeySpec, b: KeySpec): number => rankOf(a) - rankOf(b);

const rankOf = ({ required, listed }: KeySpec): number =>
  required === true ? 0 : listed === 'first' ? 1 : 2;

function excluded(parent: OutlineNode, name: string, present: ReadonlySet<string>): boolean {
  const other = { scenario: 'scenarios', scenarios: 'scenario' }[name];
  return parent.parent === undefined && other !== undefined && present.has(other);
}

function keyInsert(
  { name, type }: KeySpec,
  hasColon: boolean,
  flow: boolean,
): Pick<Completion, 'insert' | 'snippet' | 'goesOn'> {
  if (hasColon) return { insert: name, snippet: false };
  if (!flow) {
    if (type === 'entries') {
      return { insert: `${name}:\n  - name: $0`, snippet: true, goesOn: true };
    }
    if (type === 'section' || type === 'parameters') {
      return { insert: `${name}:\n  $0`, snippet: true, goesOn: true };
    }
    if (type === 'texts') return { insert: `${name}:\n  $0`, snippet: true };
  }
  return { insert: `${name}: `, snippet: false, goesOn: true };
}

/** What is typed at a place of the text, and where that begins. */
type CursorPlace =
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
 */
function cursorPlace(text: string, outline: Outline, offset: number): CursorPlace | undefined {
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
