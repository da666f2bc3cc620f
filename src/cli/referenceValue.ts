import { secretVariable } from '../targets/connect/secretVariable';
import type { Surroundings } from './surroundings';

/** Value of `${env:NAME}` or `${secret:name}`; undefined when there is none. */
export function referenceValue(
  env: Surroundings['env'],
  kind: 'env' | 'secret',
  name: string,
): string | undefined {
  return env[kind === 'env' ? name : secretVariable(name)];
}
