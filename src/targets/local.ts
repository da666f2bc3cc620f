import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../base/expectedError';
import { resolveEndpoint, secretsOf } from './resolveEndpoint';
import type { Target } from './target';

const startMs = 15_000;
const stopMs = 3000;
const keptErrorBytes = 4096;

/** The embedded hub on loopback. */
export const local: Target = {
  kind: 'local',
  open: async (scenario, context) => {
    const { url, dispose } = await startLocalHub(context.serverScript);
    try {
      const endpoint = await resolveEndpoint([url], scenario, context);
      return {
        kind: 'local',
        endpoint,
        secrets: secretsOf(endpoint),
        url,
        loopback: true,
        dispose,
      };
    } catch (error) {
      await dispose();
      throw error;
    }
  },
};

/**
 * Starts the embedded hub in a process of its own, so that it does not share a thread with the load.
 *
 * @param serverScript script that understands `serve hub`
 * @throws ExpectedError `local-hub` with what the process said
 */
export async function startLocalHub(
  serverScript: string,
): Promise<{ readonly url: string; readonly dispose: () => Promise<void> }> {
  const child = spawn(
    process.execPath,
    [serverScript, 'serve', 'hub', '--port', '0', '--exit-with-stdin'],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // In the editor's host the same executable is Electron.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
    },
  );
  try {
    return { url: await firstUrl(child), dispose: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** The URL the server prints once it listens. */
function firstUrl(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      if (errors.length < keptErrorBytes) errors += chunk.toString('utf8');
    });
    const fail = (why: string): void => {
      clearTimeout(timer);
      reject(
        new ExpectedError(
          'local-hub',
          `The embedded hub did not start: ${why}. ${errors.slice(0, keptErrorBytes).trim()}`.trim(),
        ),
      );
    };
    const timer = setTimeout(() => {
      fail(`it did not answer within ${startMs / 1000} s`);
    }, startMs);
    child.once('error', (error) => {
      fail(error.message);
    });
    // Not `exit`: what it wrote about its end may still be on its way then.
    child.once('close', (code) => {
      fail(`it ended with code ${String(code)}`);
    });
    createInterface({ input: child.stdout! }).once('line', (line) => {
      const url = urlIn(line);
      if (url === undefined) {
        fail('it printed no URL');
        return;
      }
      clearTimeout(timer);
      resolve(url);
    });
  });
}

function urlIn(line: string): string | undefined {
  try {
    const { url } = JSON.parse(line) as { url?: unknown };
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}

/** Closing its input ends the server; one that does not end is killed. */
function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined)
    return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.stdin?.end();
  });
}
