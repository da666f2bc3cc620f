/** Which keys scenario files have: one table for the reader, the schema, completion and help. */
import type { ParameterSpec } from '../../usecases/parameters';

/**
 * Description of one key of a scenario file: a parameter's description and the kinds of values that
 * only keys outside `parameters` have. Parser, schema, completion and hover are driven by it.
 */
export interface KeySpec extends Omit<ParameterSpec, 'type'> {
  /**
   * Beyond the kinds of a parameter: `targets` is one text, a comma list or a list; `texts` a map from
   * names to texts; `senders` a count or a share in percent; `useCase` the name of a use case;
   * `parameters` the parameters of the use case named beside it; `section` a map of `keys`; `entries`
   * a list of such maps.
   */
  readonly type:
    | ParameterSpec['type']
    | 'targets'
    | 'texts'
    | 'senders'
    | 'useCase'
    | 'parameters'
    | 'section'
    | 'entries';
  /** Keys of a `section` and of each of the `entries`. */
  readonly keys?: readonly KeySpec[];
  /** What holds when the key is absent and that is no fixed value, for people. */
  readonly defaultText?: string;
  /**
   * Where editors list it: `first` are the keys that most files have, `oldTool` those that are there for
   * files of the Azure SignalR benchmark, which come last.
   */
  readonly listed?: 'first' | 'oldTool';
  /** Whether `${env:NAME}` and `${secret:name}` are understood in the value. */
  readonly references?: boolean;
  /** For the schema: what a text must match. The parser says in detail what is wrong. */
  readonly pattern?: string;
  /** A choice of other tools that gets an explanation instead of a suggestion. */
  readonly refused?: { readonly value: string; readonly code: string; readonly message: string };
}

/** Names of HTTP headers (RFC 9110, section 5.1: a token). */
export const headerNamePattern = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";

/** Whether the value is one YAML scalar that is read by its description alone. */
export function isPlain(spec: KeySpec): spec is KeySpec & ParameterSpec {
  return ![
    ...['targets', 'texts', 'senders', 'useCase', 'parameters', 'section', 'entries'],
    // A parameter, but no scalar.
    'list',
  ].includes(spec.type);
}

/** Description of a key whose value is one scalar. */
export type PlainSpec = ParameterSpec & Pick<KeySpec, 'references' | 'refused' | 'pattern'>;

/** What a value should look like, for messages. */
export const expectedWords: Readonly<Record<ParameterSpec['type'], string>> = {
  size: 'a size: bytes, or text such as 2KB or 1MB',
  duration: 'a duration: milliseconds, or text such as 250ms, 30s or 5m',
  share: 'a share: a number from 0 to 1, or text such as 1%',
  count: 'a whole number',
  number: 'a number',
  choice: 'one of the words it knows',
  text: 'a text',
  flag: 'true or false',
  list: 'a list',
};
