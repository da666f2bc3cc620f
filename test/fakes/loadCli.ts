import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** What a command line left behind. */
export interface CliResult {
  /** Exit code; null when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that is going on. */
export interface CliProcess {
  readonly child: ChildProcess;
  readonly finished: Promise<CliResult>;
  /** Settles as soon as standard error or standard output holds the text. */
  said(text: string | RegExp): Promise<void>;
}

export interface CliOptions {
  /** Working folder. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Script, by default the built command line. */
  readonly script?: string;
}

export const cliScript = path.resolve('dist', 'cli.js');

/** Starts `signalr-bench` as it is built, with its output in pipes and no input. */
export function startCli(args: readonly string[], options: CliOptions): CliProcess {
  const child = spawn(process.execPath, [options.script ?? cliScript, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      for (const look of waiting) look();
    });
  }
  const finished = once(child, 'close').then(([code, signal]) => ({
    ...output,
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return {
    child,
    finished,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = output.stdout + output.stderr;
          if (typeof text === 'string' ? !all.includes(text) : !text.test(all)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        void finished.then(({ stderr }) => {
          reject(new Error(`it ended without saying ${String(text)}: ${stderr}`));
        });
        look();
      }),
  };
}

/** Runs `signalr-bench` to its end. */
export function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  return startCli(args, options).finished;
}
