import { execFile, type ExecFileException } from 'node:child_process';
import { promisify } from 'node:util';
import { redacted, replaceSecretValues } from '../../base/secrets';
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

interface CommandWay {
  readonly folder: string;
  /** Beside the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly mostBytes: number;
}

const execute = promisify(execFile);

/**
 * What a program prints; no shell is involved.
 * @throws CommandFailure
 */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  { folder, env, timeoutMs, mostBytes }: CommandWay,
  signal: AbortSignal,
): Promise<string> {
  const options = {
    ...{ cwd: folder, env: { ...process.env, ...env }, timeout: timeoutMs, signal },
    // It may complain at length, and answer all the same.
    maxBuffer: 16 * mostBytes,
    killSignal: 'SIGKILL',
    windowsHide: true,
  } as const;
  let answer: string;
  try {
    const running = execute(program, args, options);
    running.child.stdin?.end();
    answer = (await running).stdout;
  } catch (error) {
    throw failureOf(error as ExecFileException, program, timeoutMs, mostBytes);
  }
  if (Buffer.byteLength(answer) > mostBytes) throw tooLong(mostBytes);
  return answer;
}

const tooLong = (mostBytes: number): CommandFailure =>
  new CommandFailure(`the command prints more than ${mostBytes / 1024} KB`);

function failureOf(
  { code, killed, signal, message, stderr = '' }: ExecFileException,
  program: string,
  timeoutMs: number,
  mostBytes: number,
): CommandFailure {
  if (code === 'ABORT_ERR') return new CommandFailure('the run is over');
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER')
    return message.startsWith('stderr')
      ? new CommandFailure('the command complains without end')
      : tooLong(mostBytes);
  if (killed === true)
    return new CommandFailure(`the command did not end within ${timeoutMs / 1000} s`, true);
  // Node's own words may have arguments.
  if (code === 'ENOENT') return new CommandFailure(`there is no program ${shownText(program)}`);
  if (typeof code === 'string')
    return new CommandFailure(`${shownText(program)} cannot be started (${code})`);
  const how =
    typeof code === 'number' ? `ended with ${code}` : `was ended by ${signal ?? 'a signal'}`;
  const line = stderr.trim().split('\n')[0] ?? '';
  // Commands repeat what they were given or have read, which nobody has named as a secret.
  const said = line === '' ? '' : `: ${shownText(replaceSecretValues(line, () => redacted))}`;
  return new CommandFailure(`the command ${how}${said}`);
}
