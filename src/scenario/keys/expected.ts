import type { ParameterSpec } from '../../usecases/parameterSpec';
import type { KeySpec } from './keySpec';

/** Description of a key whose value is one scalar. */
export type PlainSpec = ParameterSpec & Pick<KeySpec, 'references' | 'refused' | 'pattern'>;

/** What a value should look like, for messages. */
export const expected: Readonly<Record<ParameterSpec['type'], string>> = {
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
