/** Command lines: a tree of commands, carried out with the exit codes and messages that all of them have. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { ExpectedError } from '../../base/expectedError';
import { parseDurationMs, parseShare } from '../../base/units';
import { redactText } from '../../results/redact';
import { toolVersion } from '../../results/result';
import { exitCode, exitCodeOfError, SignalError } from '../exitCode';
import type { ProcessIo } from '../io';
import { printable } from '../views/line';

/** Loads a command when it is called and keeps its exit code. Each takes words, flags, and what it works with. */
export type CarryOut<Commands> = (
  pick: (commands: Commands) => (...args: never[]) => number | Promise<number>,
) => (...parsed: unknown[]) => Promise<void>;

export type AddCommands<Commands> = (program: Command, carryOut: CarryOut<Commands>) => void;

/** Carries out one command line and returns its exit code. Never throws. */
export async function runTree<Commands>(
  args: readonly string[],
  io: ProcessIo,
  {
    deps,
    commands,
    grow,
    failed,
  }: {
    /** What each command works with, after its words, flags and `io`. */
    readonly deps: object;
    readonly commands: () => Promise<Commands>;
    readonly grow: AddCommands<Commands>;
    /** Hears why a command line came to nothing, in words without secrets. */
    readonly failed?: (why: string) => Promise<void>;
  },
): Promise<number> {
  const { stdout, stderr } = io;
  let code: number = exitCode.done;
  const carryOut: CarryOut<Commands> =
    (pick) =>
    async (...parsed) => {
      const command = pick(await commands()) as (...args: unknown[]) => number | Promise<number>;
      // The last one is what the parser knows of the command.
      code = await command(...parsed.slice(0, -1), io, deps);
    };
  const program = new Command('signalr-bench')
    .description('Load test SignalR and Web PubSub, and learn how many Units you need.')
    .version(toolVersion)
    .exitOverride()
    // With their arguments beside them the lines of a list would be too long to be wrapped at 80 columns.
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    });
  try {
    grow(program, carryOut);
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return exitCode.done;
    const isUsage = error instanceof CommanderError;
    if (error instanceof ExpectedError) {
      stderr.write(`${printable(redactText(error.message))}\n`);
    } else if (!isUsage && !(error instanceof SignalError)) {
      stderr.write(`${redactText(stackOf(error))}\n`);
    }
    await failed?.(redactText(error instanceof Error ? error.message : String(error)));
    return isUsage ? exitCode.badInput : exitCodeOfError(error);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export const withExample = (command: Command, example: string, heading = 'Example'): Command =>
  command.addHelpText('after', `\n${heading}:\n  signalr-bench ${example}`);

/** What a flag takes as an amount, within bounds. */
export const amount =
  (
    expected: string,
    [least, most]: readonly [number, number],
    read: (text: string) => number | undefined = decimal,
  ) =>
  (text: string): number => {
    const value = read(text.trim()) ?? NaN;
    if (value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected ${expected}.`);
  };

export const wholeNumber = (least: number, most: number) =>
  amount(`a whole number from ${least} to ${most}`, [least, most], whole);

export const duration = amount(
  'a duration of at least 1s, such as 30s',
  [1000, Infinity],
  parseDurationMs,
);

export const whole = (text: string): number => (/^\d{1,16}$/.test(text) ? Number(text) : NaN);

const decimal = (text: string): number => (/^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN);

/** `70%` or `0.7`; a bare number above 1 is most likely meant as a percentage. */
export function share(text: string): number {
  const bare = decimal(text);
  return parseShare(text) ?? (bare > 1 ? NaN : bare);
}

/** `x50`, `50`. */
export const times = (text: string): number => decimal(text.replace(/^[x×]|[x×]$/i, ''));
