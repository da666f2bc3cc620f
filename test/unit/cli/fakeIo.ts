import type { EndingSignal } from '../../../src/cli/exitCode';
import type { Output, ProcessIo } from '../../../src/cli/io';

export interface FakeIo extends ProcessIo {
  /** What was written so far, escape characters as ␛. */
  readonly out: () => string;
  readonly err: () => string;
  readonly questions: string[];
  signal(name: EndingSignal): void;
  readonly listeners: () => number;
}

export interface FakeOptions {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: ProcessIo['env'];
  readonly cwd?: string;
  readonly input?: string;
  /** Answer to every question; absent: nobody can be asked. */
  readonly answer?: string;
}

export function fakeIo(options: FakeOptions = {}): FakeIo {
  const { terminal = false, columns = 80, rows = 24, env = {}, cwd = process.cwd() } = options;
  const listeners = new Set<(signal: EndingSignal) => void>();
  const written = { out: '', err: '' };
  const questions: string[] = [];
  const output = (key: 'out' | 'err'): Output => ({
    isTerminal: terminal,
    columns: terminal ? columns : undefined,
    rows: terminal ? rows : undefined,
    write: (text) => {
      written[key] += text;
    },
  });
  return {
    stdout: output('out'),
    stderr: output('err'),
    env,
    cwd,
    interactive: options.answer !== undefined,
    ask: (question) => {
      questions.push(question);
      return Promise.resolve(options.answer);
    },
    input: async function* () {
      yield Buffer.from(options.input ?? '');
    },
    onSignal: (listener) => {
      listeners.add(listener);
      return { dispose: () => listeners.delete(listener) };
    },
    now: () => new Date('2026-11-21T14:02:11Z'),
    out: () => written.out.replaceAll('\x1b', '␛'),
    err: () => written.err.replaceAll('\x1b', '␛'),
    questions,
    signal: (name) => {
      for (const listener of [...listeners]) listener(name);
    },
    listeners: () => listeners.size,
  };
}
