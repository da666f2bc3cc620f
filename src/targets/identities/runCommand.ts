import { spawn } from 'node:child_process';
import { ExpectedError } from '../../base/expectedError';
import { isSecretName } from '../../base/secretName';
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

/** Up to the closing quote, or else up to a space: where a value without quotes ends is not known. */
const namedValue =
  /(["']?([\w-]{1,60})["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?:(?:Bearer|Basic)\s+)?\S+)/gi;

/** Commands repeat what they were given or have read, which nobody has named as a secret. */
const withoutNamedSecrets = (text: string): string =>
  text.replace(namedValue, (all, lead: string, name: string) =>
    isSecretName(name) ? `${lead}(redacted)` : all,
  );

/**
 * What a program prints; no shell is involved.
 * @throws ExpectedError `identities` when it cannot be started. @throws CommandFailure
 */
export function runCommand(
  [program = '', ...args]: readonly string[],
  { folder, env, timeoutMs, mostBytes }: CommandWay,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
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
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= mostBytes) chunks.push(chunk);
      else end(new CommandFailure(`the command prints more than ${mostBytes / 1024} KB`));
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < mostComplaint) complaint += chunk.toString('utf8');
    });
    child.once('error', ({ code, message }: NodeJS.ErrnoException) =>
      end(
        new ExpectedError(
          'identities',
          code === 'ENOENT'
            ? `There is no program ${shownText(program)} for the command of identities.`
            : `The command of identities cannot be started: ${shownText(message)}.`,
        ),
      ),
    );
    child.once('close', (code, killedBy) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', leave);
      if (code === 0) {
        resolve(Buffer.concat(chunks).toString('utf8'));
        return;
      }
      const how = code === null ? `was ended by ${killedBy ?? 'a signal'}` : `ended with ${code}`;
      const line = complaint.trim().split('\n')[0] ?? '';
      const said = line === '' ? '' : `: ${shownText(withoutNamedSecrets(line))}`;
      reject(new CommandFailure(`the command ${how}${said}`));
    });
  });
}
