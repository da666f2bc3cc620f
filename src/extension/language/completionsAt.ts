import { defaultService } from '../../base/serviceTraits';
import { objectives } from '../../base/slo';
import { english, type Translate } from '../../base/text';
import { belongsToKind, type KeySpec } from '../../scenario/keys/keySpec';
import { keyDescription } from '../../scenario/keys/schema';
import { referencesIn } from '../../scenario/target/references';
import { formatForFile } from '../../scenario/text/words';
import {
  lastLine,
  nodeAt,
  outlineOf,
  pathOf,
  type Outline,
  type OutlineNode,
} from '../../scenario/text/outline';
import { placeholderHelp } from '../../usecases/ownArguments';
import { useCases } from '../../usecases/registry';
import { keysBelow, specOf, type Analysis } from './analyseScenario';
import { offers } from '../../capacity/tables/publishedLimits';
import { presetOf, startingFile } from '../../capacity/start/preset';
import { runsOnHub, type UseCase } from '../../usecases/useCase';

/** Completions at an offset, best first; keys of the Azure SignalR benchmark alone come last. */
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
  const range = { offset: place.start, length: at - place.start };
  if (place.kind === 'value') {
    const { node } = place;
    const owner = node.parent && specOf(node.parent);
    const spec = specOf(node) ?? (owner?.type === 'texts' ? owner : undefined);
    return spec === undefined
      ? []
      : valueCompletions(analysis, spec, range, { ...names, values: valuesBefore(node) }, t);
  }
  const specs = keysBelow(place.node);
  if (specs === undefined) return [];
  const present = new Set(
    place.node.children.filter((child) => child.offset !== place.start).map(({ name }) => name),
  );
  const hasColon = /^[\w.-]*["']?\s*:/.test(text.slice(at, at + 100));
  const missing = specs.filter(
    ({ name }) => !present.has(name) && !excluded(place.node, name, present),
  );
  const keyOf = (spec: KeySpec): Completion =>
    proposal(range, 'key', spec.name, {
      ...keyInsert(spec, hasColon, place.flow),
      documentation: keyDescription(spec),
      detail: spec.required === true ? t('required') : undefined,
    });
  const isEmpty = place.node === outline.root && outline.root.children.length === 0;
  return [
    ...[...missing].filter(isOurs).sort(firstOnes).map(keyOf),
    ...(isEmpty ? wholeScenarios(t) : []).map(({ label, ...text }) =>
      proposal(range, 'scenario', label, text),
    ),
    ...missing.filter((spec) => !isOurs(spec)).map(keyOf),
  ];
}

const isOurs = ({ listed }: KeySpec): boolean => listed !== 'oldTool';

const firstOnes = (a: KeySpec, b: KeySpec): number => rankOf(a) - rankOf(b);

const rankOf = ({ required, listed }: KeySpec): number =>
  required === true ? 0 : listed === 'first' ? 1 : 2;

function excluded(parent: OutlineNode, name: string, present: ReadonlySet<string>): boolean {
  const kinds = specOf(parent)?.kinds;
  if (kinds !== undefined) return !belongsToKind(kinds, name, present);
  const other = { scenario: 'scenarios', scenarios: 'scenario' }[name];
  return parent.parent === undefined && other !== undefined && present.has(other);
}

/** Names that earlier steps of the same session `keep`. */
function valuesBefore(node: OutlineNode): string[] {
  let steps: OutlineNode | undefined;
  for (let at: OutlineNode | undefined = node; at !== undefined; at = at.parent)
    if (at.name === 'steps' && !at.item) steps = at;
  const valuesIn = (below: OutlineNode): string[] =>
    below.offset >= node.offset
      ? []
      : below.name === 'keep'
        ? below.children.map(({ name }) => name)
        : below.children.flatMap(valuesIn);
  return steps === undefined ? [] : [...new Set(valuesIn(steps))];
}

function keyInsert(
  { name, type, keys }: KeySpec,
  hasColon: boolean,
  flow: boolean,
): Pick<Completion, 'insert' | 'snippet' | 'goesOn'> {
  if (hasColon) return { insert: name, snippet: false };
  const below: Partial<Record<KeySpec['type'], string>> = {
    section: '$0',
    parameters: '$0',
    texts: '$0',
    entries: `- ${keys?.[0]?.name ?? 'name'}: $0`,
  };
  const inside = flow ? undefined : below[type];
  if (inside === undefined) return { insert: `${name}: `, snippet: false, goesOn: true };
  const insert = `${name}:\n  ${inside}`;
  return { insert, snippet: true, ...(type !== 'texts' && { goesOn: true }) };
}

interface CursorPlace {
  readonly kind: 'key' | 'value';
  readonly node: OutlineNode;
  readonly start: number;
  readonly flow: boolean;
}

/**
 * Parses the text up to the cursor as if a word ended there. Undefined in comments and after values of several
 * lines.
 */
function cursorPlace(text: string, outline: Outline, offset: number): CursorPlace | undefined {
  // In flow collections, YAML reads the braces of an unfinished reference as a map.
  const before = text.slice(0, offset).replace(/\$(?:\{[\w:-]*)?$/, '');
  const probe = `${before}_`;
  const { root, nodes, words } = outlineOf(probe);
  const whole = (node: OutlineNode): OutlineNode => nodeAt(outline, pathOf(node)) ?? node;
  const keyBelow = (
    parent: OutlineNode,
    { start, flow }: { readonly start: number; readonly flow: boolean },
  ): CursorPlace | undefined =>
    /^["']?[\w.-]*$/.test(text.slice(start, offset))
      ? { kind: 'key', node: whole(parent), start, flow }
      : undefined;
  const word = words.at(-1);
  if (word !== undefined && word.offset + word.length === probe.length)
    return keyBelow(word.parent, { ...word, start: word.offset });
  const node = [root, ...nodes]
    .filter(({ valueOffset, valueLength }) => valueOffset + valueLength === probe.length)
    .at(-1);
  if (node === undefined || node.valueLength === 0) return undefined;
  const { flow, item, valueOffset, value } = node;
  const typed = lastLine(value);
  // Without a colon YAML reads the first key of a section as a value.
  if (!flow && (node === root || /[\r\n]/.test(probe.slice(node.offset, valueOffset))))
    return keyBelow(node, { start: probe.length - typed.length, flow });
  if (/[\r\n]/.test(value)) return undefined;
  if (item && !flow && !holdsValues(node)) return keyBelow(node, { start: valueOffset, flow });
  return { kind: 'value', node: whole(node), start: valueOffset, flow };
}

/** Whether a list item is a single value, as in `target`. */
const holdsValues = ({ parent }: OutlineNode): boolean =>
  parent !== undefined && listKeys.includes(parent.name);

const listKeys: readonly string[] = [
  'target',
  'webAppTarget',
  'arguments',
  'streamingItems',
  'command',
];

export interface Completion {
  readonly kind: 'key' | 'value' | 'reference' | 'scenario';
  readonly label: string;
  readonly insert: string;
  readonly snippet: boolean;
  readonly offset: number;
  readonly length: number;
  readonly detail?: string | undefined;
  readonly documentation?: string | undefined;
  /** Whether the editor suggests values next. */
  readonly goesOn?: boolean;
}

type Range = Pick<Completion, 'offset' | 'length'>;

const proposal = (
  { offset, length }: Range,
  kind: Completion['kind'],
  label: string,
  more: Partial<Completion> = {},
): Completion => ({ offset, length, kind, label, insert: label, snippet: false, ...more });

/** Names for references, never their values, and hub URLs without secrets. */
interface ReferenceNames {
  readonly environment: readonly string[];
  readonly secrets: readonly string[];
  readonly hubs: readonly string[];
  readonly values?: readonly string[];
}

const suffixes: Readonly<Partial<Record<KeySpec['type'], readonly string[]>>> = {
  duration: ['ms', 's', 'm', 'h'],
  size: ['B', 'KB', 'MB'],
  share: ['%'],
  rate: ['/s'],
  senders: ['%'],
};

/** Whether a variable sounds like a target rather than a key or token. */
const namesTarget = (name: string): boolean =>
  /SIGNALR|PUBSUB|CONN|ENDPOINT|HUB|TARGET/i.test(name);

const maximumNames = 200;

/** Completions for a value; `range` is already typed. */
function valueCompletions(
  { text, ...analysis }: Analysis,
  spec: KeySpec,
  range: Range,
  names: ReferenceNames,
  t: Translate,
): Completion[] {
  const end = range.offset + range.length;
  const typed = text.slice(range.offset, end);
  const reference = /\$(?:\{[\w:-]*)?$/.exec(typed);
  if (spec.references === true && reference !== null)
    return references(text, end - reference[0].length, end, names, t);
  const value = (label: string, detail?: string, documentation?: string): Completion =>
    proposal(range, 'value', label, { detail, documentation });
  const placeholders = (): Completion[] =>
    proposePlaceholders(text, range, placeholdersOf(spec, names.values ?? []));
  const isDefault = (choice: string): string | undefined =>
    String(spec.default) === choice ? t('default') : undefined;
  switch (spec.type) {
    case 'choice':
      return (spec.choices ?? []).map((choice) => value(choice, isDefault(choice)));
    case 'flag':
      return ['true', 'false'].map((word) => value(word, isDefault(word)));
    case 'useCase':
      return useCases.map(({ name, summary }) => value(name, isDefault(name), summary));
    case 'metric':
      return objectives().map(([metric, { summary }]) => value(metric, undefined, summary));
    case 'list':
    case 'texts':
      return placeholders();
    case 'targets': {
      const local = spec.name === 'target' ? [value('local', t('the embedded hub'))] : [];
      const hubs = names.hubs.map((url) => value(url, t('used before')));
      if (typed !== '') return hubs;
      const named = { ...names, environment: names.environment.filter(namesTarget) };
      return [...local, ...hubs, ...references(text, end, end, named, t)];
    }
    case 'text':
      if (spec.name === 'if') return (names.values ?? []).map((name) => value(name));
      return [
        ...(spec.references === true && typed === '' ? references(text, end, end, names, t) : []),
        ...placeholders(),
      ];
    default:
      return numbers(analysis, spec, typed, value, t);
  }
}

function numbers(
  { estimate, scenario }: Pick<Analysis, 'estimate' | 'scenario'>,
  spec: KeySpec,
  typed: string,
  value: (label: string, detail?: string) => Completion,
  t: Translate,
): Completion[] {
  const digits = /^(\d{1,20}(?:\.\d{0,20})?)\s*(?:[a-zA-Z]{0,3}|%)$/.exec(typed)?.[1];
  if (digits !== undefined) {
    return (suffixes[spec.type] ?? []).map((suffix) => value(`${digits}${suffix}`));
  }
  if (typed !== '') return [];
  if (spec.name === 'unit') {
    const needed = estimate?.unit;
    const sizes = offers[estimate?.product ?? defaultService].units[scenario?.sku ?? 'premium'];
    const first = needed == null ? [] : [needed];
    return [...new Set([...first, ...sizes])].map((size) =>
      value(String(size), size === needed ? t('smallest that fits') : undefined),
    );
  }
  if (spec.default === undefined || spec.type === 'senders') return [];
  return [value(defaultText(spec), t('default'))];
}

function defaultText({ type, default: value }: KeySpec): string {
  const hasUnit = type === 'size' || type === 'duration' || type === 'share';
  return hasUnit && typeof value === 'number' ? formatForFile(type, value) : String(value);
}

type Placeholder = (typeof placeholderHelp)[number];

const valueWords = (name: string): Placeholder => ({
  written: `{${name}}`,
  summary: 'a value that a step before has kept',
});

function proposePlaceholders(
  text: string,
  { offset, length }: Range,
  known: readonly Placeholder[],
): Completion[] {
  const at = offset + length;
  const typed = text.slice(offset, at);
  const open = /\{[\w.]*$/.exec(typed)?.[0].length ?? 0;
  if (open === 0 && typed !== '') return [];
  const quoted = /^["']/.test(typed);
  // Editors close the brace themselves.
  const closed = open > 0 && text.charAt(at) === '}' ? 1 : 0;
  const range = { offset: at - open, length: open + closed };
  return known.map(({ written, summary: detail }) =>
    proposal(range, 'value', written, { insert: quoted ? written : `'${written}'`, detail }),
  );
}

const personalKeys: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['headers', 'query', 'accessToken'].map((key) => [
      key,
      ['{senderIndex}', '{group}', '{identity.COLUMN}', '{data.COLUMN}', '{time}', '{ticks}'],
    ]),
  ),
  ...Object.fromEntries(
    ['rule', 'command', 'url', 'body', 'env'].map((key) => [key, ['{index}', '{data.COLUMN}']]),
  ),
};

function placeholdersOf({ name, type }: KeySpec, values: readonly string[]): Placeholder[] {
  const personal = personalKeys[name];
  if (personal !== undefined)
    return personal.map(
      (written) =>
        placeholderHelp.find((each) => each.written === written) ?? {
          written,
          summary: 'number of the identity, from 0',
        },
    );
  if (type !== 'list') return [];
  // Items of a stream have neither receivers nor rows.
  const known = placeholderHelp.filter(
    ({ written }) => name === 'arguments' || !/^\{(?:receiver|group|identity|data)\b/.test(written),
  );
  return [...values.map(valueWords), ...known];
}

function references(
  text: string,
  start: number,
  offset: number,
  { environment, secrets }: ReferenceNames,
  t: Translate,
): Completion[] {
  const end = text.charAt(offset) === '}' && start < offset ? offset + 1 : offset;
  const range = { offset: start, length: end - start };
  const one = (label: string, detail: string): Completion =>
    proposal(range, 'reference', label, { detail });
  return [
    ...secrets.slice(0, maximumNames).map((name) => one(`\${secret:${name}}`, t('stored secret'))),
    ...environment
      .slice(0, maximumNames)
      .map((name) => one(`\${env:${name}}`, t('environment variable'))),
  ];
}

const likely = /SIGNALR|PUBSUB|CONNECTION|ENDPOINT|URL|HUB|TOKEN|SECRET|KEY|AZURE/i;
const understood = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

export function environmentNames(
  environment: Readonly<Record<string, string | undefined>>,
  text: string,
): string[] {
  const written = referencesIn(text)
    .filter(({ kind }) => kind === 'env')
    .map(({ name }) => name);
  const sounding = Object.keys(environment)
    .filter((name) => understood.test(name) && likely.test(name))
    .sort();
  return [...new Set([...written, ...sounding])];
}

const connections = 200;

/** A small load for any machine. Groups of ten are the *small group* of the performance guides. */
export function templateText(useCase: UseCase): string {
  return startingFile(useCase, {
    service: runsOnHub(useCase) ? 'hub' : defaultService,
    connections,
    arrivingRate: connections,
    baseSending: connections / 2,
    // Where others move, they must not send: one step.
    step: useCase.run.othersMove === true ? 0 : connections / 2,
    groupCount: connections / 10,
    singleStepDuration: '15s',
    warmup: '2s',
    comments: [],
  });
}

const units = [1, 10, 100];

const templates = () =>
  useCases.map((useCase) => ({
    label: useCase.name,
    insert: templateText(useCase),
    documentation: useCase.summary,
  }));
const guidePresets = () =>
  useCases
    .filter(({ inGuides }) => inGuides === true)
    .flatMap((useCase) =>
      units.map((unit) => ({
        label: `${useCase.name}, Unit ${unit}`,
        insert: presetOf(useCase, { service: defaultService, unit }).text,
        documentation: useCase.summary,
      })),
    );
/** Cached: finding the senders of a size takes several estimates. */
let presets: ReturnType<typeof guidePresets> | undefined;

function wholeScenarios(t: Translate) {
  presets ??= guidePresets();
  return [
    ...templates().map((each) => ({ ...each, detail: t('A whole scenario') })),
    ...presets.map((each) => ({ ...each, detail: t('Set-up of the performance guides') })),
  ];
}
