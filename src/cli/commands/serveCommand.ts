import { inBackground, deferred } from '../../base/async';
import type { ServicePass } from '../../base/endpoint';
import { ExpectedError } from '../../base/expectedError';
import { redactText } from '../../results/redact';
import type { AppServerOptions } from '../../servers/appServer/appServer';
import {
  parseAzureSignalrFlags,
  type AzureSignalrFlags,
  type AzureSignalrOptions,
  parseWebPubSubFlags,
  type WebPubSubEmulatorOptions,
  type WebPubSubFlags,
} from '../../servers/service/emulatorOptions';
import {
  parseBenchHubFlags,
  type BenchHubFlags,
  type BenchHubOptions,
} from '../../servers/hub/benchHubOptions';
import type { UpstreamHandlerOptions } from '../../servers/upstream/upstreamHandler';
import { exitCode } from '../exitCode';
import { resolveReferences, type ReferenceLookup } from '../../scenario/target/references';
import { referenceValue, type ProcessIo } from '../io';

interface ServeFlags {
  readonly port: number;
  /** End with standard input: the parent is gone. */
  readonly exitWithStdin?: boolean;
}

interface Disposable {
  dispose(): Promise<void>;
}

interface RunServer extends Disposable {
  readonly url: string;
  renew(pass: ServicePass): void;
}

type Emulator = Disposable & { readonly connectionString: string };

export interface ServeDeps {
  readonly startBenchHub: (options: BenchHubOptions) => Promise<Disposable & { url: string }>;
  readonly startClassicHub: (options: BenchHubOptions) => Promise<Disposable & { url: string }>;
  readonly startAzureSignalr: (options: AzureSignalrOptions) => Promise<Emulator>;
  readonly startAppServer: (options: AppServerOptions) => Promise<RunServer>;
  readonly startUpstreamHandler: (
    settings: UpstreamHandlerOptions,
    port: number,
    onProblem: (text: string) => void,
  ) => Promise<RunServer>;
  readonly startWebPubSubEmulator: (options: WebPubSubEmulatorOptions) => Promise<Emulator>;
  /** Settles when standard input has ended; calls back for each line. */
  readonly stdinEnded: (onLine: (line: string) => void) => Promise<void>;
}

export const serveHub = serving<BenchHubFlags & ServeFlags & { readonly classic?: boolean }>(
  'Serving the bench methods; Ctrl+C ends it.',
  ({ port, classic = false, tokenKey, ...knobs }, { startBenchHub, startClassicHub }, { env }) => {
    const key = tokenKey === undefined ? {} : { tokenKey: keyIn(tokenKey, env) };
    const options = parseBenchHubFlags({ ...knobs, ...key });
    return (classic ? startClassicHub : startBenchHub)({ port, ...options });
  },
);

/** Others can list arguments: a key is best a reference. @throws ExpectedError `missing-reference` */
function keyIn(text: string, env: ProcessIo['env']): string {
  const lookup: ReferenceLookup = (kind, name) => referenceValue(env, kind, name);
  const { text: key, missing } = resolveReferences(text, lookup);
  const [first] = missing;
  if (first === undefined) return key;
  throw new ExpectedError(
    'missing-reference',
    `--token-key refers to ${first.kind} ${first.name}, which is not set.`,
  );
}

const notOfAzure = 'Times measured here are those of the emulator, not of Azure.';

export const serveAzureSignalr = serving<AzureSignalrFlags & ServeFlags>(
  `Serving an emulator of Azure SignalR Service; Ctrl+C ends it. ${notOfAzure}`,
  ({ port, ...flags }, { startAzureSignalr }) =>
    startAzureSignalr({ port, ...parseAzureSignalrFlags(flags) }),
);

export const serveWebPubSub = serving<WebPubSubFlags & ServeFlags>(
  `Serving an emulator of Azure Web PubSub; Ctrl+C ends it. ${notOfAzure}`,
  ({ port, ...flags }, { startWebPubSubEmulator }) =>
    startWebPubSubEmulator({ port, ...parseWebPubSubFlags(flags) }),
);

export const serveAppServer = servingRun(
  'An app server',
  ({ startAppServer }, settings, _port, onProblem) =>
    startAppServer({ ...(settings as AppServerOptions), onProblem }),
);

export const serveUpstream = servingRun(
  'An upstream handler',
  ({ startUpstreamHandler }, settings, ...how) =>
    startUpstreamHandler(settings as UpstreamHandlerOptions, ...how),
);

/** The first line on standard output is `{"url":…}` or `{"connectionString":…}`. */
type Served = Disposable & {
  readonly inputEnded?: Promise<void>;
} & ({ readonly url: string } | { readonly connectionString: string });

/**
 * A server of the run that started this process. Standard input has lines of JSON, since others can read arguments and
 * environment: its settings with the key, then renewed sign-ins. Problems are written as lines of JSON.
 */
function servingRun(
  name: string,
  start: (
    deps: ServeDeps,
    settings: unknown,
    port: number,
    onProblem: (text: string) => void,
  ) => Promise<RunServer>,
) {
  const forPeople = '';
  return serving<ServeFlags>(forPeople, async ({ port }, deps, { stdout }, isOfRun) => {
    const refusal = new ExpectedError('bad-option', `${name} is started by a run, not by hand.`);
    if (!isOfRun) throw refusal;
    const lines: string[] = [];
    let take = (line: string): void => {
      lines.push(line);
    };
    const { promise: first, resolve: come } = deferred();
    const inputEnded = deps.stdinEnded((line) => {
      take(line);
      come();
    });
    await Promise.race([first, inputEnded]);
    const settings = lines.shift();
    if (settings === undefined) throw refusal;
    const problems = new ProblemLines((line) => stdout.write(`${JSON.stringify(line)}\n`));
    const report = (text: string): void => problems.report(redactText(text));
    const server = await start(deps, JSON.parse(settings), port, report);
    take = (line) => server.renew(JSON.parse(line) as ServicePass);
    lines.forEach(take);
    return {
      url: server.url,
      inputEnded,
      dispose: () => server.dispose().finally(() => problems.flush()),
    };
  });
}

function serving<Flags extends ServeFlags>(
  note: string,
  start: (
    flags: Omit<Flags, 'exitWithStdin'>,
    deps: ServeDeps,
    io: ProcessIo,
    isOfRun: boolean,
  ) => Promise<Served>,
): (flags: Flags, io: ProcessIo, deps: ServeDeps) => Promise<number> {
  return async ({ exitWithStdin = false, ...flags }, io, deps) => {
    const { stdout, stderr, onSignal } = io;
    const { promise: stopped, resolve: stop } = deferred();
    const subscription = onSignal((signal) => {
      // Ctrl+C reaches all processes of a terminal; a server outlives the orderly end of its run.
      if (signal === 'SIGTERM' || !exitWithStdin) stop();
    });
    try {
      const server = await start(flags, deps, io, exitWithStdin);
      try {
        const first =
          'url' in server ? { url: server.url } : { connectionString: server.connectionString };
        stdout.write(`${JSON.stringify(first)}\n`);
        if (exitWithStdin)
          inBackground((server.inputEnded ?? deps.stdinEnded(() => undefined)).then(() => stop()));
        else stderr.write(`${note}\n`);
        await stopped;
      } finally {
        await server.dispose();
      }
    } finally {
      subscription.dispose();
    }
    return exitCode.done;
  };
}

const everyMs = 250;
/** Different sentences at a time; others count with the last. */
const mostAtOnce = 20;

export interface ProblemLine {
  readonly problem: string;
  readonly count: number;
}

/** Writes each sentence with its count, so that many failures are few lines. */
export class ProblemLines {
  private readonly counts = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly write: (line: ProblemLine) => void) {}

  report(text: string): void {
    const isKnown = this.counts.has(text) || this.counts.size < mostAtOnce;
    const key = isKnown ? text : [...this.counts.keys()].at(-1)!;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    this.timer ??= setTimeout(() => this.flush(), everyMs);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [problem, count] of this.counts) this.write({ problem, count });
    this.counts.clear();
  }
}
