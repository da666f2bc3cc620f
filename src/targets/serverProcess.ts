import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { ExpectedError } from '../base/expectedError';

const startMs = 15_000;
const stopMs = 3000;
const keptErrorBytes = 4096;

/** What `serve` of this program is asked for, how people call it, and what its first line tells. */
export interface ServedThing {
  readonly args: readonly string[];
  readonly name: string;
  readonly tells: 'url' | 'connectionString';
}

/**
 * Starts a server in a process of its own, so that it does not share a thread with the load.
 *
 * @param serverScript script that understands `serve`
 * @param env what no other user of this machine may read: arguments can be listed
 * @returns the URL or connection string of its first line
 * @throws ExpectedError `local-hub` with what the process said
 */
export async function startServerProcess(
  serverScript: string,
  served: ServedThing,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly value: string; readonly dispose: () => Promise<void> }> {
  const child = spawn(
    process.execPath,
    [serverScript, 'serve', ...served.args, '--exit-with-stdin'],
    {
      stdio: ['pipe', 'pipe', 'pipe'],
      // In the editor's host the same executable is Electron.
      env: { ...process.env, ELECTRON_RUN_AS_NODE: '1', ...env },
    },
  );
  try {
    return { value: await firstValue(child, served), dispose: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** What the server prints once it listens. */
function firstValue(child: ChildProcess, { name, tells }: ServedThing): Promise<string> {
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
          `The ${name} did not start: ${why}. ${reasonIn(errors)}`.trim(),
          { cause: new Error(errors.slice(0, keptErrorBytes).trim()) },
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
      const value = valueIn(line, tells);
      if (value === undefined) {
        fail(tells === 'url' ? 'it printed no URL' : 'it printed no connection string');
        return;
      }
      clearTimeout(timer);
      resolve(value);
    });
  });
}

/** The line that says why, of what a program wrote at its end: a stack stands around it. */
function reasonIn(errors: string): string {
  const lines = errors.slice(0, keptErrorBytes).split('\n');
  return (lines.find((line) => /^\w*Error\b.*: /.test(line)) ?? lines[0]!).trim();
}

function valueIn(line: string, name: ServedThing['tells']): string | undefined {
  try {
    const value = (JSON.parse(line) as Partial<Record<typeof name, unknown>>)[name];
    return typeof value === 'string' ? value : undefined;
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
