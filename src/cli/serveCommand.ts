import type {
  BenchHubFlags,
  BenchHubOptions,
  parseBenchHubFlags,
} from '../servers/benchHubOptions';
import { exitCode } from './exitCode';
import type { Surroundings } from './surroundings';

export interface ServeHubFlags extends BenchHubFlags {
  /** 0 takes any free port. */
  readonly port: number;
  /** End when standard input closes: whoever started this process is gone. */
  readonly exitWithStdin?: boolean;
}

export interface ServeDeps {
  readonly startBenchHub: (
    options: BenchHubOptions,
  ) => Promise<{ readonly url: string; dispose(): Promise<void> }>;
  readonly parseBenchHubFlags: typeof parseBenchHubFlags;
  /** Settles when standard input has ended. */
  readonly stdinEnded: () => Promise<void>;
}

/**
 * Serves a hub with the bench methods on loopback until a signal comes. Its first line on standard
 * output is `{"url":…}`.
 */
export async function serveHubCommand(
  { port, exitWithStdin, ...knobs }: ServeHubFlags,
  { stdout, stderr, onSignal }: Surroundings,
  deps: ServeDeps,
): Promise<number> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  const subscription = onSignal((signal) => {
    // Ctrl+C reaches every process of a terminal; a hub that belongs to a run outlives its orderly end.
    if (signal === 'SIGTERM' || !exitWithStdin) stop();
  });
  try {
    const hub = await deps.startBenchHub({ port, ...deps.parseBenchHubFlags(knobs) });
    try {
      stdout.write(`${JSON.stringify({ url: hub.url })}\n`);
      if (exitWithStdin) void deps.stdinEnded().then(stop);
      else stderr.write('Serving the bench methods; Ctrl+C ends it.\n');
      await stopped;
    } finally {
      await hub.dispose();
    }
  } finally {
    subscription.dispose();
  }
  return exitCode.done;
}
