import { ExpectedError } from '../base/expectedError';
import { parseDurationMs } from '../base/units';
import { hideUrlPassword, type Bus } from '../agents/bus/bus';
import { readFileBounded } from '../results/readResult';
import { describeFileError } from '../results/resultFolder';
import { pause } from '../engine/pause';
import { connectBus } from '../run/agentFiles';
import { isLoopback } from '../wire/socket/hosts';
import { SignalError } from './exitCode';
import type { ProcessIo } from './io';
import { printable } from './views/line';

export interface BusFlags {
  readonly bus?: string;
}

const busVariables = {
  url: 'SIGNALR_BENCH_BUS',
  user: 'SIGNALR_BENCH_BUS_USER',
  password: 'SIGNALR_BENCH_BUS_PASSWORD',
  token: 'SIGNALR_BENCH_BUS_TOKEN',
  ca: 'SIGNALR_BENCH_BUS_CA',
  /** How long to wait for a bus that is not up yet. */
  within: 'SIGNALR_BENCH_BUS_WITHIN',
} as const;

const againMs = 250;

export const createBusWarning =
  ({ stderr }: Pick<ProcessIo, 'stderr'>) =>
  (text: string): void =>
    stderr.write(`warning: ${printable(text)}\n`);

/** Whether the bus wants a key, and whether all its servers are on this machine. */
export function describeBus({ bus }: BusFlags, { env }: Pick<ProcessIo, 'env'>) {
  const written = (bus ?? env[busVariables.url] ?? '').split(',').map((each) => each.trim());
  const servers = written.map((each) => each.replace(/^(?!\w+:\/\/)/, 'nats://'));
  const key = env[busVariables.password] ?? env[busVariables.token] ?? '';
  return {
    hasKey: key !== '' || servers.some((each) => each.includes('@')),
    servers,
    isHere: servers.every(isLoopback),
  };
}

/** As the client library takes it, without WebSockets. */
function isBusAddress(url: string): boolean {
  const [, scheme = 'nats'] = /^([^:/]*):\/\//.exec(url) ?? [];
  const plain = url.replace(/^[^:/]*:\/\//, '');
  return /^(nats|tls)$/i.test(scheme) && /^[^\s/?#]+\/?$/.test(plain);
}

/** @throws ExpectedError `bus-address`, `bus-missing`, `bus-unreachable`, `bus-ca`, `bus-within`; SignalError for one that came while it waits */
export async function openBus(
  { bus }: BusFlags,
  io: Pick<ProcessIo, 'env' | 'onSignal'>,
  name: string,
  warn: (text: string) => void,
): Promise<Bus> {
  const { env } = io;
  const url = bus ?? env[busVariables.url];
  if (!url)
    throw new ExpectedError(
      'bus-missing',
      `Agents and the run meet on a bus: name it with --bus nats://… or in ${busVariables.url} (start one: nats-server --jetstream).`,
    );
  const wrong = url.split(',').find((each) => !isBusAddress(each.trim()));
  if (wrong !== undefined)
    throw new ExpectedError(
      'bus-address',
      `${hideUrlPassword(wrong.trim())} is not an address of a bus: nats://host:port, or tls://host:port for TLS.`,
    );
  const caFile = env[busVariables.ca];
  const ca =
    caFile === undefined
      ? undefined
      : await readFileBounded(caFile).catch((error: unknown) => {
          const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
          const why = isMissing ? 'there is no such file' : describeFileError(error);
          throw new ExpectedError(
            'bus-ca',
            `${busVariables.ca}: ${caFile} cannot be read: ${why}.`,
          );
        });
  const address = {
    ...{ url, name, ca, user: env[busVariables.user], password: env[busVariables.password] },
    token: env[busVariables.token],
    warn,
  };
  const within = env[busVariables.within];
  const withinMs = within ? parseDurationMs(within) : 0;
  if (withinMs === undefined)
    throw new ExpectedError(
      'bus-within',
      `${busVariables.within} is not a duration: write one such as 3m.`,
    );
  try {
    return await (withinMs === 0 ? connectBus(address) : untilThere(address, withinMs, io));
  } catch (error) {
    if (!isNotLetIn(error)) throw error;
    const { user, password, token } = busVariables;
    throw new ExpectedError(
      error.code,
      `${error.message} It does not let this user in: set ${user} and ${password}, or ${token}, to what it wants.`,
      { cause: error },
    );
  }
}

const isNotLetIn = (error: unknown): error is ExpectedError =>
  error instanceof ExpectedError && /authori[sz]ation/i.test(error.message);

/** Pods start together with their bus. @throws as {@link openBus} */
async function untilThere(
  address: Parameters<typeof connectBus>[0],
  withinMs: number,
  { onSignal }: Pick<ProcessIo, 'onSignal'>,
): Promise<Bus> {
  const untilMs = performance.now() + withinMs;
  let interrupted: SignalError | undefined;
  const subscription = onSignal((signal) => (interrupted = new SignalError(signal)));
  try {
    for (;;) {
      try {
        return await connectBus(address);
      } catch (error) {
        if (isNotLetIn(error) || performance.now() > untilMs) throw error;
      }
      if (interrupted !== undefined) throw interrupted;
      await pause(againMs);
    }
  } finally {
    subscription.dispose();
  }
}
