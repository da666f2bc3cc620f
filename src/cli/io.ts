import { inBackground, type Disposable } from '../base/async';
import { breakCommands } from '../base/text';
import { createInterface as createLines } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { redactText } from '../results/redact';
import { describeFileError } from '../results/resultFolder';
import { keepEnvironmentOutOfReports } from '../engine/diagnosticReport';
import { secretVariable } from '../scenario/target/references';
import { exitCode, SignalError, type EndingSignal } from './exitCode';

export interface Output {
  readonly isTerminal: boolean;
  /** Width and height of a terminal; undefined when unknown. */
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  readonly write: (text: string) => void;
}

/** What a command sees of the process it runs in; tests put fakes in its place. */
export interface ProcessIo {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Whether a person can be asked: both ends of {@link ask} are a terminal. */
  readonly interactive: boolean;
  /** Asks on the terminal; undefined when the input ends. @throws SignalError on Ctrl+C */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly onSignal: (listener: (signal: EndingSignal) => void) => Disposable;
  readonly now: () => Date;
}

/** Whether the cursor may be moved: a redirected command gets control sequences on neither stream. */
export function canRedraw({ stdout, stderr, env }: ProcessIo): boolean {
  return stdout.isTerminal && stderr.isTerminal && env['TERM'] !== 'dumb';
}

/** Whether output may be coloured; `NO_COLOR` is honoured when it is not empty. */
export function canColour(io: ProcessIo): boolean {
  return canRedraw(io) && !io.env['NO_COLOR'];
}

export function widthOf(output: Output): number {
  const { columns } = output;
  return output.isTerminal && columns !== undefined && columns > 0 ? columns : 80;
}

/** Value of `${env:NAME}` or `${secret:name}`; undefined when there is none. */
export function referenceValue(
  env: ProcessIo['env'],
  kind: 'env' | 'secret',
  name: string,
): string | undefined {
  return env[kind === 'env' ? name : secretVariable(name)];
}

/** The real process. Streams that take no more are written to in vain, not a crash. */
export function processIo(): ProcessIo {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  return {
    stdout: outputOf(process.stdout, 1),
    stderr: outputOf(process.stderr, 2),
    env: process.env,
    cwd: process.cwd(),
    interactive: isatty(0) && isatty(2),
    ask,
    input: () => process.stdin,
    onSignal(listener) {
      const signals: EndingSignal[] = ['SIGINT', 'SIGTERM'];
      for (const signal of signals) process.on(signal, listener);
      return {
        dispose: () => {
          for (const signal of signals) process.off(signal, listener);
        },
      };
    },
    now: () => new Date(),
  };
}

function outputOf(stream: NodeJS.WriteStream, descriptor: number): Output {
  const isTerminal = isatty(descriptor);
  return {
    isTerminal,
    get columns() {
      return isTerminal ? stream.columns : undefined;
    },
    get rows() {
      return isTerminal ? stream.rows : undefined;
    },
    // Also where somebody looks on: CI services may give a terminal, too.
    write: (text) => {
      stream.write(breakCommands(text));
    },
  };
}

async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      // A terminal in line mode turns Ctrl+C into this event instead of a signal.
      lines.once('SIGINT', () => reject(new SignalError('SIGINT')));
      lines.once('close', () => resolve(undefined));
      lines.question(question).then(resolve, reject);
    });
  } finally {
    lines.close();
  }
}

/** Settles when standard input has ended or cannot be read; calls back with each line of it before. */
export function stdinEnded(onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const { stdin } = process;
    for (const event of ['end', 'close', 'error'] as const) stdin.once(event, () => resolve());
    createLines({ input: stdin }).on('line', onLine);
  });
}

/** Makes a program the whole of its process: what it returns is the exit code, once all is written. */
export function runProcess(program: () => Promise<number>): void {
  // Whatever escapes is a defect of ours.
  process.on('uncaughtException', (error) => {
    outputOf(process.stderr, 2).write(`${redactText(error.stack ?? String(error))}\n`);
    process.exit(exitCode.defect);
  });
  keepEnvironmentOutOfReports();
  inBackground(
    program().then(async (code) => {
      await flushed();
      const failed: NodeJS.ErrnoException | null = process.stdout.errored;
      // Who has stopped reading wants no more.
      if (failed !== null && failed.code !== 'EPIPE')
        process.stderr.write(
          `warning: Standard output is not whole: it cannot be written (${describeFileError(failed)}).\n`,
        );
      process.exit(code);
    }),
  );
}

/** Waits until everything written has left the process, as far as somebody still reads it. */
async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableNeedDrain || stream.writableLength > 0) {
      await new Promise<void>((resolve) => {
        stream.write('', () => resolve());
        stream.once('close', () => resolve());
      });
    }
  }
}
