import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { Emitter } from '../../src/base/async';
import type { EndingSignal } from '../../src/cli/exitCode';
import type { Output, ProcessIo } from '../../src/cli/io';
import { runProgram } from '../../src/cli/program';
import { shippedDeps } from '../../src/cli/shippedDeps';

/** What a command line left behind. */
export interface CliResult {
  /** Exit code; null when a signal ended the process. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command line that is going on. */
interface GoingCli {
  readonly finished: Promise<CliResult>;
  /** Settles as soon as standard error or standard output holds the text, with what of it was meant. */
  said(text: string | RegExp): Promise<string>;
}

/** One in a process of its own. */
export interface CliProcess extends GoingCli {
  readonly child: ChildProcess;
}

/** One in this process. */
export interface CliHere extends GoingCli {
  /** As if the process got it. */
  signal(name: EndingSignal): void;
}

export interface CliOptions {
  /** Working folder. */
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Script of the process, or of the servers that a run in this process starts; by default the built command line. */
  readonly script?: string;
  /** Command that starts the process of its own, with its flags. */
  readonly under?: readonly string[];
}

export const cliScript = path.resolve('dist', 'cli.js');
export const workerScript = path.resolve('dist', 'worker.js');

/** Starts `signalr-bench` as it is built, with its output in pipes and no input. */
export function startCli(args: readonly string[], options: CliOptions): CliProcess {
  const words = [...(options.under ?? []), process.execPath, options.script ?? cliScript, ...args];
  const child = spawn(words[0]!, words.slice(1), {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said = new Said();
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => said.add(name, text));
  const finished = once(child, 'close').then(([code, signal]) => ({
    ...said.output,
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  return { child, finished, said: (text) => said.until(text, finished) };
}

/**
 * Carries a command line out in this process, with all the parts of the shipped one: for whatever does not hang on the
 * process itself, and takes a fraction of the time.
 */
export function startHere(
  args: readonly string[],
  { cwd, env, script = cliScript }: CliOptions,
): CliHere {
  const said = new Said();
  const signals = new Emitter<EndingSignal>();
  const output = (name: 'stdout' | 'stderr'): Output => ({
    ...{ isTerminal: false, columns: undefined, rows: undefined },
    write: (text) => said.add(name, text),
  });
  const io: ProcessIo = {
    ...{ stdout: output('stdout'), stderr: output('stderr'), cwd, interactive: false },
    env: { ...process.env, ...env },
    ask: () => Promise.resolve(undefined),
    input: async function* () {},
    onSignal: signals.event,
    now: () => new Date(),
  };
  const deps = shippedDeps({ workerScript, serverScript: script });
  const finished = runProgram(args, io, deps).then((code) => ({
    ...said.output,
    ...{ code, signal: null },
  }));
  return {
    finished,
    said: (text) => said.until(text, finished),
    signal: (name) => signals.fire(name),
  };
}

/** What a command line has written so far. */
class Said {
  readonly output = { stdout: '', stderr: '' };
  private readonly waiting = new Set<() => void>();

  add(name: keyof Said['output'], text: string): void {
    this.output[name] += text;
    for (const look of this.waiting) look();
  }

  /** Settles as soon as it holds the text; fails when it is finished without. */
  until(text: string | RegExp, finished: Promise<CliResult>): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const all = this.output.stdout + this.output.stderr;
        const [found] =
          typeof text !== 'string' ? (text.exec(all) ?? []) : all.includes(text) ? [text] : [];
        if (found === undefined) return;
        this.waiting.delete(look);
        resolve(found);
      };
      this.waiting.add(look);
      void finished.then(({ stderr }) => {
        reject(new Error(`it ended without saying ${String(text)}: ${stderr}`));
      });
      look();
    });
  }
}
