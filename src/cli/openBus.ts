import { readFile } from 'node:fs/promises';
import { ExpectedError } from '../base/expectedError';
import type { Bus } from '../machines/bus/bus';
import { fileProblem } from '../results/resultFolder';
import { connectBus } from '../session/connectBus';
import type { ProcessIo } from './io';

/** Where the bus is, and who asks; what is secret comes from the environment. */
export interface BusFlags {
  readonly bus?: string;
}

/** Names of the environment variables that hold what should not stand in a command line. */
export const busVariables = {
  url: 'SIGNALR_BENCH_BUS',
  user: 'SIGNALR_BENCH_BUS_USER',
  password: 'SIGNALR_BENCH_BUS_PASSWORD',
  token: 'SIGNALR_BENCH_BUS_TOKEN',
  /** File with the certificate authority of the bus, PEM. */
  ca: 'SIGNALR_BENCH_BUS_CA',
} as const;

/** @throws ExpectedError `bus-missing`, `bus-unreachable`, `bus-ca` */
export async function openBus(
  { bus }: BusFlags,
  { env }: Pick<ProcessIo, 'env'>,
  name: string,
): Promise<Bus> {
  const url = bus ?? env[busVariables.url];
  if (!url)
    throw new ExpectedError(
      'bus-missing',
      `Agents and the run meet on a bus: name it with --bus nats://… or in ${busVariables.url} (start one: nats-server --jetstream).`,
    );
  const caFile = env[busVariables.ca];
  const ca =
    caFile === undefined
      ? undefined
      : await readFile(caFile, 'utf8').catch((error: unknown) => {
          const why = fileProblem(error);
          throw new ExpectedError('bus-ca', `${caFile} cannot be read: ${why}.`);
        });
  return connectBus({
    ...{ url, name, ca, user: env[busVariables.user], password: env[busVariables.password] },
    token: env[busVariables.token],
  });
}
