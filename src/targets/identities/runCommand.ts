import type { Readable } from 'node:stream';
import { spawn, type ChildProcessByStdio, type SpawnOptions } from 'node:child_process';
import { redacted, replaceNamed } from '../../base/secretName';
import { shownText } from '../../wire/connectFailure';

/** A command that gave no answer, in words without its arguments. */
export class CommandFailure extends Error {
  constructor(
    message: string,
    readonly isLate = false,
  ) {
    super(message);
    this.name = 'CommandFailure';
  }
}

export interface CommandWay {
  readonly folder: string;
  /** Beside the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

/** What is kept of what a command complains of. */
const mostComplaint = 2000;

/**
 * What a program prints; no shell is involved.
 * @throws CommandFailure
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  { folder, env, timeoutMs, mostBytes }: CommandWay,
  signal: AbortSignal,
): Promise<string> {
  const child = await started(program, args, { cwd: folder, env: { ...process.env, ...env } });
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let [length, complaint] = [0, ''];
    const end = (failure: Error): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      child.kill('SIGKILL');
      // What the program has started may hold them open.
      child.stdout.destroy();
      child.stderr.destroy();
      reject(failure);
    };
    const leave = (): void => end(new CommandFailure('the run is over'));
    const timer = setTimeout(
      () => end(new CommandFailure(`the command did not end within ${timeoutMs / 1000} s`, true)),
      timeoutMs,
    );
    signal.addEventListener('abort', leave, { once: true });
    // Over while it was being started.
    if (signal.aborted) leave();
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= mostBytes) chunks.push(chunk);
      else end(new CommandFailure(`the command prints more than ${mostBytes / 1024} KB`));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < mostComplaint) complaint += chunk.toString('utf8');
    });
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      if (code === 0) {
        resolve(Buffer.concat(chunks).toString('utf8'));
        return;
      }
      const how = code === null ? `was ended by ${killedBy ?? 'a signal'}` : `ended with ${code}`;
      const line = complaint.trim().split('\n')[0] ?? '';
      // Commands repeat what they were given or have read, which nobody has named as a secret.
      const said = line === '' ? '' : `: ${shownText(replaceNamed(line, () => redacted))}`;
      reject(new CommandFailure(`the command ${how}${said}`));
    });
  });
}

/**
 * A program that runs: without one `spawn` throws, or reports an error, and its child then may not even have streams.
 * @throws CommandFailure
 */
function started(
  program: string,
  args: readonly string[],
  options: SpawnOptions,
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const trying = new Promise<ChildProcessByStdio<null, Readable, Readable>>((resolve, reject) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    child.once('spawn', () => resolve(child));
    child.on('error', reject);
  });
  return trying.catch((error: unknown) => {
    const { code = 'other' } = error as NodeJS.ErrnoException;
    // Node's own words may have arguments.
    const words =
      code === 'ENOENT'
        ? `there is no program ${shownText(program)}`
        : `${shownText(program)} cannot be started (${code})`;
    throw new CommandFailure(words);
  });
}
