import { ExpectedError } from '../../base/expectedError';
import { allParameters, topKeys } from '../../scenario/keys/scenarioKeys';
import type { KeySpec } from '../../scenario/keys/keySpec';
import { allStepKeys } from '../../scenario/keys/stepKeys';
import { didYouMean, formatForFile } from '../../scenario/text/words';
import { exitCode } from '../exitCode';
import { jsonDocument } from '../../base/text';
import { canColour, widthOf, type ProcessIo } from '../io';
import { paintAll, wrapped, type Line } from '../views/line';

interface ListedKey {
  readonly name: string;
  readonly type: string;
  readonly default?: string | undefined;
  readonly required?: boolean | undefined;
  readonly choices?: readonly string[] | undefined;
  /** Inclusive; in milliseconds, bytes or as a share where there is a unit. */
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly doc: string;
  /** How the Azure SignalR benchmark differs. */
  readonly note?: string | undefined;
  readonly useCases?: readonly string[];
}

export function listedKeys(): ListedKey[] {
  return topKeys.flatMap((spec) => listed(spec, spec.name));
}

function listed(spec: KeySpec, name: string): ListedKey[] {
  const below = spec.type === 'entries' ? `${name}.0` : name;
  const steps =
    spec.type === 'parameters'
      ? allStepKeys.map((key) => listedKey(key, `${name}.steps.0.${key.name}`))
      : [];
  const parameters =
    spec.type === 'parameters'
      ? [...allParameters].map(([own, { spec: of, useCases }]) => ({
          ...listedKey(of, `${name}.${own}`),
          useCases,
        }))
      : [];
  return [
    listedKey(spec, name),
    ...(spec.keys ?? []).flatMap((key) => listed(key, `${below}.${key.name}`)),
    ...parameters,
    ...steps,
  ];
}

function listedKey(spec: KeySpec, name: string): ListedKey {
  const { type, required, choices, minimum, maximum, summary, seedNote } = spec;
  const fallback =
    typeof spec.default === 'number'
      ? formatForFile(type as 'count', spec.default)
      : (spec.default?.toString() ?? spec.defaultText);
  return {
    ...{ name, type, default: fallback, required: required === true ? required : undefined },
    ...{ choices, minimum, maximum, doc: summary, note: seedNote },
  };
}

/** @throws ExpectedError `unknown-key` */
function keysNamed(name: string): ListedKey[] {
  const keys = listedKeys();
  const wanted = name.replace(/^scenarios\.\d{1,3}(?=\.)/, 'scenarios.0');
  const found = keys.filter((key) => key.name === wanted || key.name.startsWith(`${wanted}.`));
  if (found.length > 0) return found;
  const names = keys.map((key) => key.name);
  const meant =
    names.find((known) => known.toLowerCase().endsWith(`.${name.toLowerCase()}`)) ??
    didYouMean(name, names) ??
    nearestLast(name, names);
  throw new ExpectedError(
    'unknown-key',
    `There is no key ${JSON.stringify(name.slice(0, 60))}. ${meant === undefined ? '`signalr-bench keys` lists all.' : `Did you mean ${meant}?`}`,
  );
}

function nearestLast(name: string, names: readonly string[]): string | undefined {
  const lastOf = (path: string): string => path.slice(path.lastIndexOf('.') + 1);
  const last = didYouMean(lastOf(name), names.map(lastOf));
  return names.find((known) => lastOf(known) === last);
}

/** Lists all keys, or everything about one. @throws ExpectedError `unknown-key` */
export function keysCommand(
  name: string | undefined,
  { json = false }: { readonly json?: boolean },
  io: ProcessIo,
): number {
  const keys = name === undefined ? listedKeys() : keysNamed(name);
  const { stdout } = io;
  const width = Math.max(40, Math.min(100, widthOf(stdout)));
  const lines = keys.flatMap((key) => linesOf(key, name !== undefined, width));
  stdout.write(json ? jsonDocument(keys) : paintAll(lines, canColour(io)));
  return exitCode.done;
}

const indent = '    ';

function linesOf(key: ListedKey, whole: boolean, width: number): Line[] {
  const { type, required, choices, minimum, maximum, doc, note, useCases } = key;
  const head = [
    type === 'choice' ? (choices ?? []).join(' | ') : type,
    required === true ? 'required' : key.default === undefined ? '' : `default ${key.default}`,
  ].filter((word) => word !== '');
  const more = whole
    ? [
        minimum === undefined ? '' : `At least ${minimum}.`,
        maximum === undefined ? '' : `At most ${maximum}.`,
        note ?? '',
        useCases === undefined ? '' : `Use cases: ${useCases.join(', ')}.`,
      ].filter((text) => text !== '')
    : [];
  return [
    ...wrapped(`${key.name}: ${head.join(', ')}`, width, indent, 'bold'),
    ...[doc, ...more].flatMap((text) => wrapped(indent + text, width, indent)),
  ];
}
