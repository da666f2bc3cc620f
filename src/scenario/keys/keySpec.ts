import type { Row, PersonalName } from '../../base/personalText';
import { specBuilder, type ParameterSpec } from '../../usecases/parameters';

/** Describes a key for parser, schema, completion and hover. */
export interface KeySpec extends Omit<ParameterSpec, 'type'> {
  /**
   * `targets`: one text, a comma list or a list; `texts`: a map from names to texts; `values`: to
   * values of any shape; `senders`: a count or a share; `entries`: a list of maps; `limit`: what
   * the objective beside it has.
   */
  readonly type:
    | ParameterSpec['type']
    | 'targets'
    | 'texts'
    | 'senders'
    | 'useCase'
    | 'parameters'
    | 'section'
    | 'entries'
    | 'values'
    | 'metric'
    | 'limit'
    | 'value';
  /** Of a section or entries; else of a map in place of the plain value. */
  readonly keys?: readonly KeySpec[];
  /** Of entries; absent: {@link maximumEntries}. */
  readonly most?: number;
  /** Names that a section knows beyond `keys`. */
  readonly named?: (name: string) => KeySpec | undefined;
  /** Of those names, for the schema. */
  readonly namedAs?: readonly { readonly pattern: string; readonly example: string }[];
  /** Keys of each map where a list stands in place of a section. */
  readonly items?: readonly KeySpec[];
  /** A list of maps with the user's own names may stand in place of a section. */
  readonly rows?: true;
  readonly defaultText?: string;
  /**
   * Place in editors: most files have `first` ones; `oldTool` is for files of the Azure SignalR
   * benchmark.
   */
  readonly listed?: 'first' | 'oldTool';
  /** Most values of a list in place of one value. */
  readonly several?: number;
  /** Keys that belong to each kind, by the key that says it. */
  readonly kinds?: Kinds;
  readonly example?: string;
  /** It has a reader of its own. */
  readonly apart?: true;
  readonly references?: boolean;
  /** What the secret is, for people. */
  readonly secret?: string;
  readonly pattern?: string;
  /** Message for a text that does not match. */
  readonly says?: string;
  readonly longest?: number;
  readonly placeholders?: readonly PersonalName[];
  readonly refused?: { readonly value: string; readonly code: string; readonly message: string };
}

export type Kinds = Readonly<Record<string, readonly string[]>>;

/** Before a kind is chosen, keys that all kinds share. */
export function belongsToKind(kinds: Kinds, name: string, present: ReadonlySet<string>): boolean {
  const kind = Object.keys(kinds).find((each) => present.has(each));
  if (kind !== undefined) return kinds[kind]!.includes(name);
  return Object.hasOwn(kinds, name) || Object.values(kinds).every((all) => all.includes(name));
}

/** Durations are fields in milliseconds. */
export const fieldName = ({ name, type }: Pick<KeySpec, 'name' | 'type'>): string =>
  type === 'duration' ? `${name}Ms` : name;

type Specs = Readonly<Record<string, { readonly type: string }>>;
type FieldOf<Name extends string, Spec> = Spec extends { type: 'duration' } ? `${Name}Ms` : Name;
type Filled<Of extends Specs> = {
  [Name in keyof Of]: Of[Name] extends
    | { default: unknown }
    | { required: true }
    | { type: 'texts' | 'values' }
    ? Name
    : never;
}[keyof Of] &
  string;
type ValueOf<Spec> = Spec extends { choices: readonly (infer Choice)[] }
  ? Choice
  : Spec extends { type: 'flag' }
    ? boolean
    : Spec extends { type: 'text' }
      ? string
      : Spec extends { type: 'texts' }
        ? Readonly<Record<string, string>>
        : Spec extends { type: 'values' }
          ? Row
          : number;

/** Durations in milliseconds, sizes in bytes, shares as 0…1, rates per second. */
export type Fields<Of extends Specs, Always extends string = never> = {
  readonly [Name in (Filled<Of> | Always) & keyof Of & string as FieldOf<Name, Of[Name]>]: ValueOf<
    Of[Name]
  >;
} & {
  readonly [
    Name in Exclude<keyof Of & string, Filled<Of> | Always> as FieldOf<Name, Of[Name]>
  ]?: ValueOf<Of[Name]>;
};

/** For the schema, whose patterns have no flags. */
export const anyCasePattern = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);

/** Names of HTTP headers (RFC 9110, section 5.1: a token). */
export const headerNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

export const withoutDefault = ({ default: _ofOne, ...spec }: KeySpec): KeySpec => spec;

/** Whether the value is one YAML scalar that is read by its description alone. */
export function isScalarSpec(spec: KeySpec): spec is KeySpec & ParameterSpec {
  return ![
    ...['targets', 'texts', 'senders', 'useCase', 'parameters', 'section', 'entries'],
    ...['values', 'metric', 'limit', 'value'],
    ...['list', 'steps'],
  ].includes(spec.type);
}

export type PlainSpec = ParameterSpec &
  Pick<
    KeySpec,
    'references' | 'refused' | 'pattern' | 'says' | 'several' | 'longest' | 'placeholders'
  >;

export const expectedWords: Readonly<Record<ParameterSpec['type'], string>> = {
  size: 'a size: bytes, or text such as 2KB or 1MB',
  duration: 'a duration: milliseconds, or text such as 250ms, 30s or 5m',
  share: 'a share: a number from 0 to 1, or text such as 1%',
  rate: 'a rate: a number per second, or text such as 500/s',
  count: 'a whole number',
  number: 'a number',
  choice: 'one of the words it knows',
  text: 'a text',
  flag: 'true or false',
  list: 'a list',
  steps: 'a list of steps',
};

/** Secret keys by path, with what they are. */
export const secretPaths = (keys: readonly KeySpec[], above = ''): [string, string][] =>
  keys.flatMap(({ name, secret, keys: below = [] }) => [
    ...(secret === undefined ? [] : ([[above + name, secret]] satisfies [string, string][])),
    ...secretPaths(below, `${above}${name}.`),
  ]);

export const keyOf = specBuilder<KeySpec>();
export const [flag, text, choice] = [keyOf('flag'), keyOf('text'), keyOf('choice')];
export const [section, entries] = [keyOf('section'), keyOf('entries')];
