import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { skipAloud } from '../fakes/skipAloud';

/** A running server of SignalR, in .NET, with the bench hub. */
export interface AspNetServer {
  /** The hub's URL. */
  readonly url: string;
  dispose(): Promise<void>;
}

export interface AspNetServerOptions {
  /** Port on 127.0.0.1; 0, the default, takes any free one. */
  readonly port?: number;
  /** `MaximumReceiveMessageSize` of the hub, default 1 MiB. */
  readonly maxMessageBytes?: number;
  /** Transports it offers, separated by commas; all of them by default. */
  readonly transports?: string;
  /** `KeepAliveInterval` and `ClientTimeoutInterval` of the hub, `PollTimeout` of long polling. */
  readonly keepAliveMs?: number;
  readonly clientTimeoutMs?: number;
  readonly pollTimeoutMs?: number;
  /** Who may come in: whoever brings the token, the cookie that `POST /signin` gives, or a token that is signed. */
  readonly auth?: 'bearer' | 'cookie' | 'jwt';
  /** With `jwt` the key that signs. */
  readonly token?: string;
  readonly issuer?: string;
  readonly audience?: string;
  /** A cookie of negotiate has to come back with all further requests. */
  readonly affinity?: boolean;
  /** Folders whose files it has below `/pages`, separated by commas. */
  readonly pages?: string;
}

/** Most threads of the pool of .NET, in hexadecimal; by default it adds threads as it sees fit. */
export type PoolSize = `0x${string}`;

/** A page for the hub at `/chat`, and the official client that it loads. */
const chatPages = [
  join('test', 'interop', 'chatPage'),
  ...['signalr', 'signalr-protocol-msgpack'].map((name) =>
    join('node_modules', '@microsoft', name, 'dist', 'browser'),
  ),
].join(',');
const assembly = join('out', 'interop', 'aspnetcore', 'benchServer.dll');
const startTimeoutMs = 20_000;
const stopTimeoutMs = 5_000;

let available: boolean | undefined;

/** Whether the server is built (`scripts/buildInterop.mjs`) and there is a .NET runtime to run it. */
export function aspNetAvailable(): boolean {
  available ??= existsSync(assembly) && spawnSync('dotnet', ['--version']).status === 0;
  return available;
}

/** For `before` of a suite: skips it when the server is not available, fails it with `CI=true`. */
export function requireAspNet(context: Mocha.Context): void {
  if (aspNetAvailable()) return;
  skipAloud(context, 'the ASP.NET Core interop server is not built: node scripts/buildInterop.mjs');
}

/** The URL in the first line on standard output; fails when the process ends or stays silent. */
async function readUrl(child: ChildProcessWithoutNullStreams): Promise<string> {
  let stderr = '';
  child.stderr.on('data', (text: Buffer) => (stderr = (stderr + text.toString()).slice(-2000)));
  let timer: NodeJS.Timeout | undefined;
  try {
    const line = await new Promise<string>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error('the server printed no URL')), startTimeoutMs);
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${stderr}`)));
      createInterface({ input: child.stdout }).once('line', resolve);
    });
    return (JSON.parse(line) as { url: string }).url;
  } finally {
    clearTimeout(timer);
  }
}

/** Closes standard input, which ends the server; kills it when it does not listen. */
async function stop(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.stdin.end();
  });
}

let shared: Promise<AspNetServer> | undefined;
// Of mocha's root: the files run one after the other in one process.
after(async () => (await shared)?.dispose());

/**
 * Called in a `describe`, which it skips where there is no server: the server with the pages of the chat and no other options, one for all files. Nobody
 * ends it; whoever aborts its connections is alone with it.
 */
export function sharedAspNetServer(): { readonly url: string } {
  let url = '';
  before(async function () {
    requireAspNet(this);
    shared ??= startAspNetServer({ pages: chatPages });
    ({ url } = await shared);
  });
  return {
    get url() {
      return url;
    },
  };
}

/** Starts the server in a process of its own and waits until it listens. */
export async function startAspNetServer(
  options: AspNetServerOptions = {},
  poolSize?: PoolSize,
): Promise<AspNetServer> {
  const flags = Object.entries(options).flatMap(([name, value]) => [
    `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`,
    String(value),
  ]);
  const pool = { DOTNET_ThreadPool_ForceMaxWorkerThreads: poolSize };
  return startDotnetServer([assembly, ...flags], pool);
}

/** Starts a server that prints its URL in its first line and ends when its standard input ends. */
export async function startDotnetServer(
  args: readonly string[],
  ownEnv: NodeJS.ProcessEnv = {},
): Promise<AspNetServer> {
  // It lives too short a time for measuring what to compile better.
  const env = { ...process.env, DOTNET_TieredPGO: '0', ...ownEnv };
  const child = spawn('dotnet', args, { env });
  try {
    const url = await readUrl(child);
    return { url, dispose: () => stop(child) };
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}
