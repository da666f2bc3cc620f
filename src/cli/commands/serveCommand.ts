import { ExpectedError } from '../../base/expectedError';
import { appServerVariable } from '../../targets/service/appServerVariable';
import type { AppServerOptions } from '../../servers/appServer/appServer';
import { ProblemLines } from '../../servers/problemLines';
import {
  parseAzureSignalrFlags,
  type AzureSignalrFlags,
  type AzureSignalrOptions,
} from '../../servers/azureSignalr/serviceOptions';
import {
  parseBenchHubFlags,
  type BenchHubFlags,
  type BenchHubOptions,
} from '../../servers/hub/benchHubOptions';
import {
  parseWebPubSubFlags,
  type WebPubSubEmulatorOptions,
  type WebPubSubFlags,
} from '../../servers/webpubsub/emulatorOptions';
import { redactText } from '../../results/redact';
import { upstreamVariable } from '../../targets/service/upstreamVariable';
import type { ServicePass } from '../../base/endpoint';
import { exitCode } from '../exitCode';
import type { ProcessIo } from '../io';

export interface ServeFlags {
  /** 0 takes any free port. */
  readonly port: number;
  /** End when standard input closes: whoever started this process is gone. */
  readonly exitWithStdin?: boolean;
}
export interface ServeHubFlags extends BenchHubFlags, ServeFlags {}
export interface ServeAzureSignalrFlags extends AzureSignalrFlags, ServeFlags {}
export interface ServeWebPubSubFlags extends WebPubSubFlags, ServeFlags {}

interface Disposable {
  dispose(): Promise<void>;
}

/** Gets in with what the run tells it. */
interface Renewable {
  renew(pass: ServicePass): void;
}

export interface ServeDeps {
  readonly startBenchHub: (
    options: BenchHubOptions,
  ) => Promise<Disposable & { readonly url: string }>;
  readonly startAzureSignalr: (
    options: AzureSignalrOptions,
  ) => Promise<Disposable & { readonly connectionString: string }>;
  readonly startAppServer: (
    options: AppServerOptions,
  ) => Promise<Disposable & Renewable & { readonly url: string }>;
  /** Serves the application's side of a service, as its environment says. */
  readonly startUpstreamHandler: (
    settings: string | undefined,
    port: number,
    onProblem: (text: string) => void,
  ) => Promise<Disposable & Renewable & { readonly url: string }>;
  readonly startWebPubSubEmulator: (
    options: WebPubSubEmulatorOptions,
  ) => Promise<Disposable & { readonly connectionString: string }>;
  /** Settles when standard input has ended; tells each line before. */
  readonly stdinEnded: (told: (line: string) => void) => Promise<void>;
}

/**
 * Serves a hub with the bench methods on loopback until a signal comes. Its first line on standard
 * output is `{"url":…}`.
 */
export function serveHubCommand(
  { port, exitWithStdin, ...knobs }: ServeHubFlags,
  io: ProcessIo,
  deps: ServeDeps,
): Promise<number> {
  return serve(exitWithStdin, io, deps, async () => {
    const hub = await deps.startBenchHub({ port, ...parseBenchHubFlags(knobs) });
    const note = 'Serving the bench methods; Ctrl+C ends it.';
    return { firstLine: { url: hub.url }, note, dispose: () => hub.dispose() };
  });
}

/**
 * Serves an emulator of Azure SignalR Service on loopback until a signal comes. Its first line on
 * standard output is `{"connectionString":…}`.
 */
export function serveAzureSignalrCommand(
  { port, exitWithStdin, ...flags }: ServeAzureSignalrFlags,
  io: ProcessIo,
  deps: ServeDeps,
): Promise<number> {
  return serve(exitWithStdin, io, deps, async () => {
    const options = { port, ...parseAzureSignalrFlags(flags) };
    const service = await deps.startAzureSignalr(options);
    const { connectionString } = service;
    const note =
      'Serving an emulator of Azure SignalR Service; Ctrl+C ends it. Times measured here are those of the emulator, not of Azure.';
    return { firstLine: { connectionString }, note, dispose: () => service.dispose() };
  });
}

/**
 * Serves an emulator of Azure Web PubSub on loopback until a signal comes. Its first line on standard
 * output is `{"connectionString":…}`.
 */
export function serveWebPubSubCommand(
  { port, exitWithStdin, ...flags }: ServeWebPubSubFlags,
  io: ProcessIo,
  deps: ServeDeps,
): Promise<number> {
  return serve(exitWithStdin, io, deps, async () => {
    const options = { port, ...parseWebPubSubFlags(flags) };
    const service = await deps.startWebPubSubEmulator(options);
    const { connectionString } = service;
    const note =
      'Serving an emulator of Azure Web PubSub; Ctrl+C ends it. Times measured here are those of the emulator, not of Azure.';
    return { firstLine: { connectionString }, note, dispose: () => service.dispose() };
  });
}

/**
 * Serves the bench hub behind Azure SignalR Service, for the run that has started this process and has
 * put the options into the environment, where no list of processes shows the key. Its first line on
 * standard output is `{"url":…}`.
 */
export function serveAppServerCommand(
  { exitWithStdin }: Pick<ServeFlags, 'exitWithStdin'>,
  io: ProcessIo,
  deps: ServeDeps,
): Promise<number> {
  return serve(exitWithStdin, io, deps, async () => {
    const options = io.env[appServerVariable];
    if (options === undefined)
      throw new ExpectedError('bad-option', 'An app server is started by a run, not by hand.');
    const problems = problemsTo(io);
    const server = await deps.startAppServer({
      ...(JSON.parse(options) as AppServerOptions),
      onProblem: (text) => problems.tell(redactText(text)),
    });
    const note = 'Serving the bench methods behind Azure SignalR Service; Ctrl+C ends it.';
    const dispose = (): Promise<void> => server.dispose().finally(() => problems.flush());
    return { firstLine: { url: server.url }, note, told: renewing(server), dispose };
  });
}

/**
 * Serves the application's side of a service until its run is over. Its first line on standard output is
 * `{"url":…}`.
 */
export function serveUpstreamCommand(
  { port, exitWithStdin }: ServeFlags,
  io: ProcessIo,
  deps: ServeDeps,
): Promise<number> {
  return serve(exitWithStdin, io, deps, async () => {
    const problems = problemsTo(io);
    const settings = io.env[upstreamVariable];
    const handler = await deps.startUpstreamHandler(settings, port, (text) =>
      problems.tell(redactText(text)),
    );
    const note = 'Serving the bench methods as an upstream handler; Ctrl+C ends it.';
    const dispose = (): Promise<void> => handler.dispose().finally(() => problems.flush());
    return { firstLine: { url: handler.url }, note, told: renewing(handler), dispose };
  });
}

/** Each as a line of JSON, for the run that has started this process. */
const problemsTo = ({ stdout }: ProcessIo): ProblemLines =>
  new ProblemLines((line) => stdout.write(`${JSON.stringify(line)}\n`));

/** What a run says to its servers is the pass of a sign-in that was renewed. */
const renewing =
  (server: Renewable) =>
  (line: string): void =>
    server.renew(JSON.parse(line) as ServicePass);

interface Served extends Disposable {
  readonly firstLine: object;
  readonly note: string;
  /** Takes a line from whoever has started this process. */
  readonly told?: (line: string) => void;
}

/** Starts something, prints its line, and keeps it until it has to stop. */
async function serve(
  exitWithStdin: boolean | undefined,
  { stdout, stderr, onSignal }: ProcessIo,
  deps: ServeDeps,
  start: () => Promise<Served>,
): Promise<number> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const subscription = onSignal((signal) => {
    // Ctrl+C reaches every process of a terminal; a server that belongs to a run outlives its orderly end.
    if (signal === 'SIGTERM' || !exitWithStdin) stop();
  });
  try {
    const server = await start();
    try {
      stdout.write(`${JSON.stringify(server.firstLine)}\n`);
      if (exitWithStdin) void deps.stdinEnded(server.told ?? (() => undefined)).then(stop);
      else stderr.write(`${server.note}\n`);
      await stopped;
    } finally {
      await server.dispose();
    }
  } finally {
    subscription.dispose();
  }
  return exitCode.done;
}
