import type { Command } from 'commander';
import { askingCommand, shells, type Shell } from './commands/completionShells';
import { exitCode } from './exitCode';
import { lazyCommands } from './loadLazyCommands';
import type { Surroundings } from './surroundings';

/** The commands for people at a shell: what keys there are, and what may be written next. */
export function addShellCommands(
  program: Command,
  surroundings: Surroundings,
  done: (code: number) => void,
): void {
  const { stdout } = surroundings;
  program
    .command('keys')
    .description('List the keys of scenario files, or say all about one.')
    .argument('[key]', 'such as config.arrivingRate, or config for all below it')
    .option('--json', 'print the keys as a JSON list')
    .addHelpText('after', '\nExample:\n  signalr-bench keys config.arrivingRate')
    .action(async (name: string | undefined, flags: { json?: boolean }) => {
      const { keysCommand } = await lazyCommands();
      done(keysCommand(name, flags, surroundings));
    });
  const completion = program
    .command('completion')
    .description('Print the script that completes commands, options and keys in a shell.')
    .addHelpText('after', '\nExample:\n  source <(signalr-bench completion bash)');
  completion
    .addArgument(completion.createArgument('<shell>', 'the shell').choices(shells))
    .action(async (shell: Shell) => {
      const { completionScripts } = await lazyCommands();
      stdout.write(completionScripts[shell]);
      done(exitCode.done);
    });
  program
    .command(askingCommand, { hidden: true })
    .argument('[words...]')
    .action(async (words: readonly string[]) => {
      const { completeWords } = await lazyCommands();
      const found = completeWords(program, words);
      stdout.write(found.map(({ value, text = '' }) => `${value}\t${text}\n`).join(''));
      done(exitCode.done);
    });
}
