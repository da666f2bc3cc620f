import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { startHere } from './loadCli';

/** An embedded hub. */
export interface HubHere {
  readonly url: string;
  dispose(): Promise<unknown>;
}

/** One in a process of its own, for whatever judges times and for what dies. */
export interface LoadHub extends HubHere {
  /** Ends the process without a word, as a crash would. */
  crash(): Promise<void>;
}

const startMs = 20_000;
const script = path.resolve('dist', 'cli.js');

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}

/** Starts the hub on a free port with knobs as `serve hub` takes them, such as `--drop-every 3`. */
export async function startHub(knobs = ''): Promise<LoadHub> {
  const args = knobs === '' ? [] : knobs.split(' ');
  const child = spawn(
    process.execPath,
    [script, 'serve', 'hub', '--port', '0', '--exit-with-stdin', ...args],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const lines = createInterface({ input: child.stdout });
  const [line] = (await once(lines, 'line', { signal: AbortSignal.timeout(startMs) })) as [string];
  return {
    url: (JSON.parse(line) as { url: string }).url,
    crash: async () => {
      child.kill('SIGKILL');
      await ended(child);
    },
    dispose: async () => {
      child.stdin.end();
      await ended(child);
    },
  };
}

/** Starts the hub in this process: enough where counts are judged, since the load has threads of its own. */
export async function startHubHere(knobs = ''): Promise<HubHere> {
  const args = ['serve', 'hub', '--port', '0', ...(knobs === '' ? [] : knobs.split(' '))];
  const serving = startHere(args, { cwd: process.cwd() });
  const { url } = JSON.parse(await serving.said(/^\{.*\}$/m)) as { url: string };
  return {
    url,
    dispose: () => {
      serving.signal('SIGTERM');
      return serving.finished;
    },
  };
}

/** Runs the body with a hub in this process and stops it whatever happens. */
export async function withHubHere<T>(
  knobs: string,
  body: (hub: HubHere) => Promise<T>,
): Promise<T> {
  const hub = await startHubHere(knobs);
  try {
    return await body(hub);
  } finally {
    await hub.dispose();
  }
}

/** Runs the body with a hub and stops the hub whatever happens. */
export async function withHub<T>(knobs: string, body: (hub: LoadHub) => Promise<T>): Promise<T> {
  const hub = await startHub(knobs);
  try {
    return await body(hub);
  } finally {
    await hub.dispose();
  }
}
