import { usualService } from '../../base/services';
import type { Translate } from '../../base/text';
import { presetOf } from '../../capacity/start/preset';
import { offers } from '../../capacity/tables/resolved';
import type { KeySpec } from '../../scenario/keys/keySpec';
import { referencesIn } from '../../scenario/target/references';
import { targetKinds } from '../../scenario/target/targetKinds';
import { writtenNumber } from '../../scenario/text/numberText';
import { placeholderWords } from '../../usecases/ownArguments';
import type { ParameterSpec } from '../../usecases/parameters';
import { useCases } from '../../usecases/registry';
import { runsOnHub, type UseCase } from '../../usecases/useCase';
import type { Analysis } from './analyseScenario';

/** One proposal at the cursor. */
export interface Completion {
  readonly kind: 'key' | 'value' | 'reference' | 'scenario';
  readonly label: string;
  /** What is written; in the notation of snippets when `snippet` is set. */
  readonly insert: string;
  readonly snippet: boolean;
  readonly offset: number;
  readonly length: number;
  readonly detail?: string;
  readonly documentation?: string;
  /** Whether the values are proposed next. */
  readonly goesOn?: boolean;
}

/** Names that references may name, whose values are never asked for, and hubs without secrets in them. */
export interface ReferenceNames {
  readonly environment: readonly string[];
  readonly secrets: readonly string[];
  /** URLs of hubs that were used, the last one first. */
  readonly hubs: readonly string[];
}

const suffixes: Readonly<Partial<Record<KeySpec['type'], readonly string[]>>> = {
  duration: ['ms', 's', 'm', 'h'],
  size: ['B', 'KB', 'MB'],
  share: ['%'],
  senders: ['%'],
};

/** Whether a variable is called like something that leads to a target, and not like a key or a token. */
const namesTarget = (name: string): boolean =>
  /SIGNALR|PUBSUB|CONN|ENDPOINT|HUB|TARGET/i.test(name);

/** More names than anybody scrolls through. */
const maximumNames = 200;

/** Proposals for the value of a key, of which `start` to `offset` is typed already. */
export function valueCompletions(
  analysis: Analysis,
  spec: KeySpec,
  { start, offset }: { readonly start: number; readonly offset: number },
  names: ReferenceNames,
  t: Translate,
): Completion[] {
  const typed = analysis.text.slice(start, offset);
  const reference = /\$(?:\{[\w:-]*)?$/.exec(typed);
  if (spec.references === true && reference !== null) {
    return references(analysis.text, offset - reference[0].length, offset, names, t);
  }
  const range = { offset: start, length: offset - start };
  const value = (label: string, detail?: string, documentation?: string): Completion => ({
    ...range,
    kind: 'value',
    label,
    insert: label,
    snippet: false,
    ...(detail === undefined ? {} : { detail }),
    ...(documentation === undefined ? {} : { documentation }),
  });
  const isDefault = (choice: string): string | undefined =>
    String(spec.default) === choice ? t('default') : undefined;
  switch (spec.type) {
    case 'choice':
      return (spec.choices ?? []).map((choice) => value(choice, isDefault(choice)));
    case 'flag':
      return ['true', 'false'].map((word) => value(word, isDefault(word)));
    case 'useCase':
      return useCases.map(({ name, summary }) => value(name, isDefault(name), summary));
    case 'list':
      return placeholders(analysis.text, spec.name, start, offset);
    case 'targets': {
      const kinds = spec.name === 'target' ? targetKinds : [];
      const local = kinds.flatMap(({ offers = [] }) =>
        offers.map(([text, words]) => value(text, t(words))),
      );
      const hubs = names.hubs.map((url) => value(url, t('used before')));
      if (typed !== '') return hubs;
      const named = { ...names, environment: names.environment.filter(namesTarget) };
      return [...local, ...hubs, ...references(analysis.text, offset, offset, named, t)];
    }
    case 'text':
      return spec.references === true && typed === ''
        ? references(analysis.text, offset, offset, names, t)
        : [];
    default:
      return numbers(analysis, spec, typed, value, t);
  }
}

function numbers(
  { estimate, scenario }: Analysis,
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
    const sizes = offers[estimate?.product ?? usualService].units[scenario?.sku ?? 'premium'];
    const first = needed == null ? [] : [needed];
    return [...new Set([...first, ...sizes])].map((size) =>
      value(String(size), size === needed ? t('smallest that fits') : undefined),
    );
  }
  if (spec.default === undefined || spec.type === 'senders') return [];
  return [value(startValue({ ...spec, type: spec.type as 'count' }), t('default'))];
}

/** Placeholders of arguments, in quotes where there are none yet. */
function placeholders(text: string, key: string, start: number, offset: number): Completion[] {
  const typed = text.slice(start, offset);
  const open = /\{\w*$/.exec(typed)?.[0].length ?? 0;
  if (open === 0 && typed !== '') return [];
  const quoted = /^["']/.test(typed);
  // Editors close the brace by themselves.
  const end = open > 0 && text.charAt(offset) === '}' ? offset + 1 : offset;
  // Items of a stream have no receivers.
  const known = placeholderWords.filter(
    ({ written }) => key === 'arguments' || !['{receiver}', '{group}'].includes(written),
  );
  return known.map(({ written, summary }) => ({
    kind: 'value',
    label: written,
    insert: quoted ? written : `'${written}'`,
    snippet: false,
    offset: offset - open,
    length: end - offset + open,
    detail: summary,
  }));
}

/** `${env:NAME}` and `${secret:name}` in place of what is typed of one. */
function references(
  text: string,
  start: number,
  offset: number,
  { environment, secrets }: ReferenceNames,
  t: Translate,
): Completion[] {
  const end = text.charAt(offset) === '}' && start < offset ? offset + 1 : offset;
  const one = (label: string, detail: string): Completion => ({
    kind: 'reference',
    label,
    insert: label,
    snippet: false,
    offset: start,
    length: end - start,
    detail,
  });
  return [
    ...secrets.slice(0, maximumNames).map((name) => one(`\${secret:${name}}`, t('stored secret'))),
    ...environment
      .slice(0, maximumNames)
      .map((name) => one(`\${env:${name}}`, t('environment variable'))),
  ];
}

/** Names that are likely to hold a target or what lets somebody in. */
const likely = /SIGNALR|PUBSUB|CONNECTION|ENDPOINT|URL|HUB|TOKEN|SECRET|KEY|AZURE/i;
/** What a reference understands. */
const understood = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** Names of environment variables to propose: those the text refers to, and those that sound like it. */
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

/** A scenario to fill in for each use case. */
export function wholeScenarios(
  range: Pick<Completion, 'offset' | 'length'>,
  t: Translate,
): Completion[] {
  return useCases.map((useCase) => ({
    ...range,
    kind: 'scenario',
    label: useCase.name,
    insert: scenarioTemplate(useCase),
    snippet: true,
    detail: t('A whole scenario'),
    documentation: useCase.summary,
  }));
}

/** Groups of ten in a scenario of that many connections. */
const connections = 1000;
const groups = 100;

/**
 * A whole scenario for a use case in the notation of snippets, its values as places to fill in.
 * REST use cases need a service, the others run against the embedded hub.
 */
function scenarioTemplate(useCase: UseCase): string {
  let place = 0;
  const field = (value: string): string => `\${${++place}:${value}}`;
  const target = runsOnHub(useCase)
    ? `target: ${field('local')}`
    : `connectionString: \\\${secret:${field('connection')}}`;
  return [
    `# ${useCase.summary}`,
    'config:',
    `  ${target}`,
    `  connections: ${field(String(connections))}`,
    `  baseSending: ${field('500')}`,
    // Where who does not send is to move, there is one step.
    `  step: ${field(useCase.run.othersMove === true ? '0' : '500')}`,
    `  singleStepDuration: ${field('1m')}`,
    'scenario:',
    `  name: ${useCase.name}`,
    ...(useCase.parameters.length === 0 ? [] : ['  parameters:']),
    ...useCase.parameters
      .filter(
        ({ name, required }) =>
          useCase.starting?.[name] !== undefined ||
          required === true ||
          name === 'messageSize' ||
          name === 'sendingInterval',
      )
      .map((spec) => {
        const value = useCase.starting?.[spec.name] ?? startValue(spec);
        // In the notation of snippets a brace would end the place.
        return `    ${spec.name}: ${field(value.replace(/[}$\\]/g, '\\$&'))}`;
      }),
    '',
  ].join('\n');
}

/** A value to begin with: the default as people write it. */
function startValue({ name, type, default: fallback, minimum }: ParameterSpec): string {
  if (fallback === undefined) return name === 'groupCount' ? String(groups) : String(minimum ?? '');
  if (typeof fallback !== 'number') return String(fallback);
  return type === 'size' || type === 'duration' || type === 'share'
    ? writtenNumber(type, fallback)
    : String(fallback);
}

/** Sizes offered; `signalr-bench init` knows all of them. */
const units = [1, 10, 100];

interface PresetSnippet {
  readonly label: string;
  readonly text: string;
  readonly summary: string;
}

/** Made once: finding the senders of a size takes some estimates. */
let snippets: readonly PresetSnippet[] | undefined;

export function presetCompletions(
  range: Pick<Completion, 'offset' | 'length'>,
  t: Translate,
): Completion[] {
  snippets ??= useCases
    .filter(({ inGuides }) => inGuides === true)
    .flatMap((useCase) =>
      units.map((unit) => ({
        label: `${useCase.name}, Unit ${unit}`,
        text: presetOf(useCase, { service: usualService, unit }).text,
        summary: useCase.summary,
      })),
    );
  return snippets.map(({ label, text, summary }) => ({
    ...range,
    kind: 'scenario',
    label,
    insert: text,
    snippet: false,
    detail: t('Set-up of the performance guides'),
    documentation: summary,
  }));
}
