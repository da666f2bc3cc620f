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
  readonly columns: number | undefined;
  readonly rows: number | undefined;
  readonly write: (text: string) => void;
}

/** The process as commands see it; tests put fakes in its place. */
export interface ProcessIo {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly interactive: boolean;
  /** Undefined when the input ends. @throws SignalError on Ctrl+C */
  readonly ask: (question: string) => Promise<string | undefined>;
  readonly input: () => AsyncIterable<Uint8Array>;
  readonly onSignal: (listener: (signal: EndingSignal) => void) => Disposable;
  readonly now: () => Date;
}

/** Whether the cursor may be moved; redirected output gets no control sequences. */
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

/** The real process; a closed stream is no crash. */
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
    write: (text) => {
      stream.write(breakCommands(text));
    },
  };
}

async function ask(question: string): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      // In line mode Ctrl+C is this event, not a signal.
      lines.once('SIGINT', () => reject(new SignalError('SIGINT')));
      lines.once('close', () => resolve(undefined));
      lines.question(question).then(resolve, reject);
    });
  } finally {
    lines.close();
  }
}

/** Settles when standard input has ended; calls back for each line. */
export function stdinEnded(onLine: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const { stdin } = process;
    for (const event of ['end', 'close', 'error'] as const) stdin.once(event, () => resolve());
    createLines({ input: stdin }).on('line', onLine);
  });
}

/** Runs a program as the whole process and exits with its code once all is written. */
export function runProcess(program: () => Promise<number>): void {
  process.on('uncaughtException', (error) => {
    outputOf(process.stderr, 2).write(`${redactText(error.stack ?? String(error))}\n`);
    process.exit(exitCode.defect);
  });
  keepEnvironmentOutOfReports();
  inBackground(
    program().then(async (code) => {
      await flushed();
      const failed: NodeJS.ErrnoException | null = process.stdout.errored;
      if (failed !== null && failed.code !== 'EPIPE')
        process.stderr.write(
          `warning: Standard output is not whole: it cannot be written (${describeFileError(failed)}).\n`,
        );
      process.exit(code);
    }),
  );
}

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
