import { Command, CommanderError } from 'commander';
import { ExpectedError } from '../base/expectedError';
import type { Edition } from '../capacity/estimate';
import { redactText } from '../results/redact';
import { toolVersion } from '../results/toolVersion';
import { doctorCommand, type DoctorDeps, type DoctorFlags } from './doctorCommand';
import { estimateCommand, type EstimateDeps, type EstimateFlags } from './estimateCommand';
import { exitCode, exitCodeOfError, SignalError } from './exitCode';
import { edition, headroom, setKey, wholeNumber } from './flagValue';
import { printable } from './line';
import { runCommand, type RunDeps, type RunFlags } from './runCommand';
import { serveHubCommand, type ServeDeps, type ServeHubFlags } from './serveCommand';
import { showCommand } from './showCommand';
import type { Surroundings } from './surroundings';
import { validateCommand, type ValidateDeps } from './validateCommand';

/** Everything the commands are made of. */
export type CommandDeps = RunDeps & EstimateDeps & ValidateDeps & DoctorDeps & ServeDeps;

/**
 * Carries out one command line and returns its exit code. Never throws: what is expected becomes a
 * sentence on standard error, everything else a stack and exit code 5.
 *
 * @param args without program and script
 */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings,
  deps: CommandDeps,
): Promise<number> {
  const { stderr } = surroundings;
  let code: number = exitCode.done;
  try {
    const program = commandTree(surroundings, deps, (result) => {
      code = result;
    });
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) {
      return error.exitCode === 0 ? exitCode.done : exitCode.badInput;
    }
    if (error instanceof ExpectedError) {
      stderr.write(`${printable(redactText(error.message))}\n`);
    } else if (!(error instanceof SignalError)) {
      stderr.write(`${redactText(stackOf(error))}\n`);
    }
    return exitCodeOfError(error);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function commandTree(
  surroundings: Surroundings,
  deps: CommandDeps,
  done: (code: number) => void,
): Command {
  const { stdout, stderr } = surroundings;
  const program = new Command('signalr-bench')
    .description('Load test SignalR and Web PubSub, and learn how many Units you need.')
    .version(toolVersion)
    .exitOverride()
    .showHelpAfterError('(--help shows what there is)')
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(text),
    })
    .addHelpText('after', '\nExample:\n  signalr-bench run examples/echo.yaml --target local');
  addRun(program, surroundings, deps, done);
  addReading(program, surroundings, deps, done);
  addServe(program, surroundings, deps, done);
  addDoctor(program, surroundings, deps, done);
  return program;
}

type Add = (
  program: Command,
  surroundings: Surroundings,
  deps: CommandDeps,
  done: (code: number) => void,
) => void;

const addRun: Add = (program, surroundings, deps, done) => {
  program
    .command('run')
    .description('Run a scenario file, show it live, and keep its result.')
    .argument('<file>', 'scenario file')
    .option(
      '--target <target>',
      'local, a hub URL or a connection string, in place of the one in the file',
    )
    .option('--set <key=value>', 'override any key of the file; may be repeated', setKey)
    .option('--out <dir>', 'folder the result folders are made in', '.signalr-bench')
    .option('--json', 'print the result as JSON on standard output and nothing else there')
    .option('--seed <n>', 'seed of everything random', wholeNumber(0, 4_294_967_295))
    .option(
      '--workers <n>',
      'worker threads; default: one less than the cores',
      wholeNumber(1, 256),
    )
    .option('--keep-going', 'go on after a step that missed an objective')
    .option('--yes', 'do not ask before putting load on another machine')
    .addHelpText(
      'after',
      '\nExample:\n  signalr-bench run chat-room.yaml --target http://localhost:5050/signalrbench --set config.connections=100',
    )
    .action(async (file: string, flags: RunFlags) => {
      done(await runCommand(file, flags, surroundings, deps));
    });
};

const addReading: Add = (program, surroundings, deps, done) => {
  program
    .command('validate')
    .description('List the problems of scenario files.')
    .argument('<file...>', 'scenario files')
    .option('--json', 'print the problems as a JSON list')
    .addHelpText('after', '\nExample:\n  signalr-bench validate examples/*.yaml')
    .action(async (files: string[], flags: { json?: boolean }) => {
      done(await validateCommand(files, flags, surroundings, deps));
    });
  program
    .command('estimate')
    .description('Say how many Units a scenario needs, from the published tables.')
    .argument('<file>', 'scenario file')
    .option<Edition>('--edition <name>', 'edition of the SignalR guide: sr2023 or later', edition)
    .option('--headroom <share>', 'share of the limits to plan for, such as 0.7', headroom)
    .option('--json', 'print the estimate as JSON')
    .addHelpText('after', '\nExample:\n  signalr-bench estimate chat-room.yaml --headroom 0.7')
    .action(async (file: string, flags: EstimateFlags) => {
      done(await estimateCommand(file, flags, surroundings, deps));
    });
  program
    .command('show')
    .description('Show the last screen of a stored run.')
    .argument('<result>', 'result folder or result.json')
    .addHelpText(
      'after',
      '\nExample:\n  signalr-bench show .signalr-bench/2026-11-21T14-02-11-echo',
    )
    .action(async (location: string) => {
      done(await showCommand(location, surroundings));
    });
};

const addServe: Add = (program, surroundings, deps, done) => {
  const serve = program
    .command('serve')
    .description('Serve something to put load on, on this machine only.')
    .addHelpText('after', '\nExample:\n  signalr-bench serve hub --port 0');
  const hub = serve
    .command('hub')
    .description('Serve a SignalR hub with all bench methods.')
    .option('--port <n>', 'port on loopback, 0 for any free one', wholeNumber(0, 65_535), 5050)
    .option('--delay <duration>', 'answer this much later, such as 50ms')
    .option('--stall <duration>', 'stop once for a while: 2s, or 2s@5s after the first message')
    .option('--drop-every <n>', 'never send every nth delivery')
    .option('--dup-every <n>', 'send every nth delivery twice')
    .option('--close-after <n>', 'close a connection after it has sent n invocations')
    .option('--refuse <n|all>', 'refuse the first n connects with 503, or all')
    .option('--throttle <n>', 'answer the first n connects with 429: 5, or 5@3s with Retry-After')
    .addHelpText(
      'after',
      '\nExample:\n  signalr-bench serve hub --port 5050 --delay 50ms\n\nThe first line on standard output is {"url":…}.',
    );
  hub.addOption(hub.createOption('--exit-with-stdin', 'end when standard input ends').hideHelp());
  hub.action(async (flags: ServeHubFlags) => {
    done(await serveHubCommand(flags, surroundings, deps));
  });
};

const addDoctor: Add = (program, surroundings, deps, done) => {
  program
    .command('doctor')
    .description('Say what this machine can do, and whether a hub can be measured.')
    .option('--target <url>', 'hub to look at; the code it lacks is printed')
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  signalr-bench doctor --target http://localhost:5050/signalrbench',
    )
    .action(async (flags: DoctorFlags) => {
      done(await doctorCommand(flags, surroundings, deps));
    });
};
