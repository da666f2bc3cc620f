import type { Surroundings } from './surroundings';

/** Environment variable that holds a secret on the command line: `my-key` is in …`_MY_KEY`. */
export function secretVariable(name: string): string {
  return `SIGNALR_BENCH_SECRET_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** Value of `${env:NAME}` or `${secret:name}`; undefined when there is none. */
export function referenceValue(
  env: Surroundings['env'],
  kind: 'env' | 'secret',
  name: string,
): string | undefined {
  return env[kind === 'env' ? name : secretVariable(name)];
}
