import type { PersonalName } from '../../base/personalText';
import type { Row } from '../../base/rows';
import { describing, type ParameterSpec } from '../../usecases/parameters';

/** A parameter's description and the kinds of values that only other keys have; it drives parser, schema, completion and hover. */
export interface KeySpec extends Omit<ParameterSpec, 'type'> {
  /**
   * Beyond the kinds of a parameter: `targets` is one text, a comma list or a list; `texts` a map from
   * names to texts; `senders` a count or a share in percent; `useCase` the name of a use case;
   * `parameters` the parameters of the use case named beside it; `section` a map of `keys`; `entries`
   * a list of such maps; `values` a map from names to values of any shape; `metric` the name of an objective, and
   * `limit` what the objective beside it may be; `value` any scalar.
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
  /** Of a section or of entries; elsewhere those of a map that may stand in place of the plain value. */
  readonly keys?: readonly KeySpec[];
  /** Of entries: how many there may be; absent: {@link maximumEntries}. */
  readonly most?: number;
  /** Of a section: names that it knows beyond those of `keys`, which are the ones that are offered. */
  readonly named?: (name: string) => KeySpec | undefined;
  /** The pattern of those names, for the schema, and one of them. */
  readonly namedAs?: readonly { readonly pattern: string; readonly example: string }[];
  /** Of a section: the keys of each entry where a list of maps stands in its place. */
  readonly items?: readonly KeySpec[];
  /** Of a section: whether a list of maps with names of the user's own may stand in its place. */
  readonly rows?: true;
  /** What holds when the key is absent and that is no fixed value, for people. */
  readonly defaultText?: string;
  /** In editors: `first` are keys that most files have; `oldTool`, for files of the Azure SignalR benchmark, come last. */
  readonly listed?: 'first' | 'oldTool';
  /** Whether a list of such values may stand in place of one: at most so many. */
  readonly several?: number;
  /** Of a section or of entries: their kinds, each by the key that says it, with the keys that belong to it. */
  readonly kinds?: Kinds;
  /** Of entries: one of them as people write it. */
  readonly example?: string;
  /** What reads it is elsewhere. */
  readonly apart?: true;
  /** Whether `${env:NAME}` and `${secret:name}` are understood in the value. */
  readonly references?: boolean;
  /** The value lets somebody in: it is kept nowhere, and in a file it stands as a reference. In words, for people. */
  readonly secret?: string;
  /** For the schema: what a text must match. */
  readonly pattern?: string;
  /** What is wrong with a text that does not match it; absent: another reader says it in detail. */
  readonly says?: string;
  /** Most characters of a text. */
  readonly longest?: number;
  /** Placeholders that texts in it may hold, which are filled when a connection opens or an identity is made. */
  readonly placeholders?: readonly PersonalName[];
  /** A choice of other tools that gets an explanation instead of a suggestion. */
  readonly refused?: { readonly value: string; readonly code: string; readonly message: string };
}

export type Kinds = Readonly<Record<string, readonly string[]>>;

/** Whether a key may stand beside those that do: one that says the kind, or one that belongs to it; before it is said, to all kinds. */
export function belongs(kinds: Kinds, name: string, present: ReadonlySet<string>): boolean {
  const kind = Object.keys(kinds).find((each) => present.has(each));
  if (kind !== undefined) return kinds[kind]!.includes(name);
  return Object.hasOwn(kinds, name) || Object.values(kinds).every((all) => all.includes(name));
}

/** The field of what is read that has the value of a key: durations are milliseconds. */
export const fieldOf = ({ name, type }: Pick<KeySpec, 'name' | 'type'>): string =>
  type === 'duration' ? `${name}Ms` : name;

type Specs = Readonly<Record<string, { readonly type: string }>>;
type FieldOf<Name extends string, Spec> = Spec extends { type: 'duration' } ? `${Name}Ms` : Name;
/** Keys that are always there: with a default, required, or maps that may have nothing in them. */
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

/** What the keys of a section say: durations in milliseconds, sizes in bytes, shares as 0…1, rates per second. */
export type Fields<Of extends Specs, Always extends string = never> = {
  readonly [Name in (Filled<Of> | Always) & keyof Of & string as FieldOf<Name, Of[Name]>]: ValueOf<
    Of[Name]
  >;
} & {
  readonly [
    Name in Exclude<keyof Of & string, Filled<Of> | Always> as FieldOf<Name, Of[Name]>
  ]?: ValueOf<Of[Name]>;
};

/** Any letter of a text in either case, as a regular expression. */
export const anyCase = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`);

/** Names of HTTP headers (RFC 9110, section 5.1: a token). */
export const headerNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

/** As for a key that stands for others, too. */
export const withoutDefault = ({ default: _ofOne, ...spec }: KeySpec): KeySpec => spec;

/** Whether the value is one YAML scalar that is read by its description alone. */
export function isPlain(spec: KeySpec): spec is KeySpec & ParameterSpec {
  return ![
    ...['targets', 'texts', 'senders', 'useCase', 'parameters', 'section', 'entries'],
    ...['values', 'metric', 'limit', 'value'],
    // Parameters, but no scalars.
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

/** Keys whose value lets somebody in, by their paths, with what they are in words. */
export const secretPaths = (keys: readonly KeySpec[], above = ''): [string, string][] =>
  keys.flatMap(({ name, secret, keys: below = [] }) => [
    ...(secret === undefined ? [] : ([[above + name, secret]] satisfies [string, string][])),
    ...secretPaths(below, `${above}${name}.`),
  ]);

export const keyOf = describing<KeySpec>();
export const [flag, text, choice] = [keyOf('flag'), keyOf('text'), keyOf('choice')];
export const [section, entries] = [keyOf('section'), keyOf('entries')];
