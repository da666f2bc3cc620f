import type { KeySpec } from '../../../scenario/keys/keySpec';
import { descriptionOf } from '../../../scenario/keys/schema';
import type { OutlineNode } from '../../../scenario/text/outline';
import type { Analysis } from '../analyseScenario';
import { english, type Translate } from '../../../base/translate';
import { keysBelow, specOf } from '../keysBelow';
import type { Completion, ReferenceNames } from './completion';
import { cursorPlace } from './cursorPlace';
import { valueCompletions } from './valueCompletions';
import { presetCompletions, wholeScenarios } from './wholeScenarios';

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

/** Orders keys by how much they are needed; those of one kind stay as they are. */
const firstOnes = (a: KeySpec, b: KeySpec): number => rankOf(a) - rankOf(b);

const rankOf = ({ required, listed }: KeySpec): number =>
  required === true ? 0 : listed === 'first' ? 1 : 2;

/** `scenario` and `scenarios` exclude each other. */
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
