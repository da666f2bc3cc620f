/** Command lines: a tree of commands, carried out with the exit codes and messages that all of them have. */
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { ExpectedError } from '../../base/expectedError';
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

export function wholeNumber(
  minimum: number,
  maximum: number,
  expected = 'a',
): (text: string) => number {
  return (text) => {
    const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
    if (!(value >= minimum && value <= maximum))
      throw new InvalidArgumentError(
        `Expected ${expected} whole number from ${minimum} to ${maximum}.`,
      );
    return value;
  };
}
