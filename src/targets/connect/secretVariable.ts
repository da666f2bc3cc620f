/** Name of the environment variable that holds a secret on the command line. */
export function secretVariable(name: string): string {
  return `SIGNALR_BENCH_SECRET_${name.toUpperCase().replaceAll('-', '_')}`;
}
