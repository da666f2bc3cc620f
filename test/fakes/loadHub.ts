import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** The embedded hub in a process of its own, so that it shares no thread with the load. */
export interface LoadHub {
  readonly url: string;
  /** Ends the process without a word, as a crash would. */
  crash(): Promise<void>;
  dispose(): Promise<void>;
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

/** Runs the body with a hub and stops the hub whatever happens. */
export async function withHub<T>(knobs: string, body: (hub: LoadHub) => Promise<T>): Promise<T> {
  const hub = await startHub(knobs);
  try {
    return await body(hub);
  } finally {
    await hub.dispose();
  }
}
