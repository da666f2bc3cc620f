import { createInterface as createLines } from 'node:readline';
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { SignalError, type EndingSignal } from './exitCode';
import type { Output, Surroundings } from './surroundings';

/** The real process. Streams whose reader has gone away are written to in vain, not a crash. */
export function processSurroundings(): Surroundings {
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
    write: (text) => void stream.write(text),
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

/** Settles when standard input has ended or cannot be read; tells each line of it before. */
export function stdinEnded(told: (line: string) => void): Promise<void> {
  return new Promise((resolve) => {
    const { stdin } = process;
    for (const event of ['end', 'close', 'error'] as const) stdin.once(event, () => resolve());
    createLines({ input: stdin }).on('line', told);
  });
}

/** Waits until everything written has left the process, as far as somebody still reads it. */
export async function flushed(): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    if (stream.writableNeedDrain || stream.writableLength > 0) {
      await new Promise<void>((resolve) => {
        stream.write('', () => resolve());
        stream.once('close', () => resolve());
      });
    }
  }
}
