/** Runs command lines with common exit codes and messages. */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { ExpectedError } from '../../base/expectedError';
import { parseDurationMs, parseShare } from '../../base/units';
import { redactText } from '../../results/redact';
import { toolVersion } from '../../results/result';
import { exitCode, exitCodeForError, SignalError } from '../exitCode';
import { type ProcessIo, stdinEnded } from '../io';
import { printable } from '../views/line';
import type * as Commands from '../commands/serveCommand';
import type { ServeDeps } from '../commands/serveCommand';

export type CarryOut<Commands> = (
  pick: (commands: Commands) => (...args: never[]) => number | Promise<number>,
) => (...parsed: unknown[]) => Promise<void>;

export type AddCommands<Commands> = (program: Command, carryOut: CarryOut<Commands>) => void;

/** Runs a command line and returns its exit code. Never throws. */
export async function runTree<Commands>(
  args: readonly string[],
  io: ProcessIo,
  {
    deps,
    commands,
    grow,
    failed,
  }: {
    readonly deps: object;
    readonly commands: () => Promise<Commands>;
    readonly grow: AddCommands<Commands>;
    /** Called with why a command line failed, without secrets. */
    readonly failed?: (why: string) => Promise<void>;
  },
): Promise<number> {
  const { stdout, stderr } = io;
  let code: number = exitCode.done;
  const carryOut: CarryOut<Commands> =
    (pick) =>
    async (...parsed) => {
      const command = pick(await commands()) as (...args: unknown[]) => number | Promise<number>;
      code = await command(...parsed.slice(0, -1), io, deps);
    };
  const program = new Command('signalr-bench')
    .description('Load test SignalR and Web PubSub, and learn how many Units you need.')
    .version(toolVersion)
    .exitOverride()
    // With arguments the lines would exceed 80 columns.
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
    return isUsage ? exitCode.badInput : exitCodeForError(error);
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export const withExample = (command: Command, example: string, heading = 'Example'): Command =>
  command.addHelpText('after', `\n${heading}:\n  signalr-bench ${example}`);

export const amountParser =
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

export const wholeNumberParser = (least: number, most: number) =>
  amountParser(`a whole number from ${least} to ${most}`, [least, most], parseWhole);

export const parseDurationFlag = amountParser(
  'a duration of at least 1s, such as 30s',
  [1000, Infinity],
  parseDurationMs,
);

export const parseWhole = (text: string): number => (/^\d{1,16}$/.test(text) ? Number(text) : NaN);

const decimal = (text: string): number => (/^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : NaN);

/** `70%` or `0.7`; a bare number above 1 is probably a percentage, and refused. */
export function parseShareFlag(text: string): number {
  const bare = decimal(text);
  return parseShare(text) ?? (bare > 1 ? NaN : bare);
}

export const parseTimes = (text: string): number => decimal(text.replace(/^[x×]|[x×]$/i, ''));

type ServeCommands = Pick<
  typeof Commands,
  'serveHub' | 'serveAzureSignalr' | 'serveWebPubSub' | 'serveAppServer' | 'serveUpstream'
>;

export const addServe: AddCommands<ServeCommands> = (program, carryOut) => {
  const serve = withExample(program.command('serve'), 'serve hub --port 0').description(
    'Serve something to put load on, on this machine only.',
  );
  const server = (name: string, hidden = false): Command =>
    serve
      .command(name, { hidden })
      .addOption(new Option('--exit-with-stdin', 'end when standard input ends').hideHelp());
  const onPort = (command: Command, port: number): Command =>
    command.option(
      '--port <n>',
      'port on loopback, 0 for any free one',
      wholeNumberParser(0, 65_535),
      port,
    );
  const firstLine = (field: string): string =>
    `\n\nThe first line on standard output is {"${field}":…}.`;
  withExample(onPort(server('hub'), 5050), `serve hub --port 5050 --delay 50ms${firstLine('url')}`)
    .description('Serve a SignalR hub with all bench methods.')
    .option('--classic', 'as ASP.NET SignalR (.NET Framework) serves it, below /signalr')
    .option('--delay <duration>', 'answer this much later, such as 50ms')
    .option('--stall <duration>', 'stop once for a while: 2s, or 2s@5s after the first message')
    .option('--drop-every <n>', 'never send every nth delivery')
    .option('--dup-every <n>', 'send every nth delivery twice')
    .option('--close-after <n>', 'close a connection after it has sent n invocations')
    .option('--refuse <n|all>', 'refuse the first n connects with 503, or all')
    .option('--throttle <n>', 'answer the first n connects with 429: 5, or 5@3s with Retry-After')
    .option(
      '--capacity <n/s>',
      'deliver so many in a second, the rest waits: 500/s, or 500/s@200ms to drop what waits longer',
    )
    .option('--dialect <name>', 'only the contract recordLatency or measure')
    .option(
      '--token-key <key>',
      'let in who shows a JSON web token that this key has signed, HS256: a reference, ${env:NAME}',
    )
    .action(carryOut(({ serveHub }) => serveHub));
  const emulator = (name: string, port: number, example: string): Command =>
    withExample(
      onPort(server(name), port),
      `serve ${name} --port 0${example}${firstLine('connectionString')}`,
    );
  const withLimits = (command: Command): Command =>
    command
      .option('--unit <n|free>', 'refuse connections above those of so many Units with 429')
      .option('--limit-connect-rate', 'refuse what connects faster than these Units take');
  const azureSignalr = emulator('azure-signalr', 8888, ' --unit 1')
    .description('Serve an emulator of Azure SignalR Service, default and serverless mode.')
    .option('--mode <mode>', 'default or serverless; by itself a hub goes by its app servers');
  withLimits(azureSignalr)
    .option('--upstream <url>', 'webhook of serverless clients; {hub}, {category}, {event}')
    .action(carryOut(({ serveAzureSignalr }) => serveAzureSignalr));
  withLimits(emulator('web-pubsub', 8080, ''))
    .description('Serve an emulator of Azure Web PubSub.')
    .option('--upstream <url>', 'event handler on this machine; {hub}, {event}')
    .option('--allow-anonymous', 'let clients without a token connect')
    .action(carryOut(({ serveWebPubSub }) => serveWebPubSub));
  server('app-server', true).action(carryOut(({ serveAppServer }) => serveAppServer));
  onPort(server('upstream', true), 0).action(carryOut(({ serveUpstream }) => serveUpstream));
};

const servers = () => import(/* webpackChunkName: "servers" */ '../servers.js');

export const serveDeps: ServeDeps = {
  startBenchHub: async (...options) => (await servers()).startBenchHub(...options),
  startClassicHub: async (...options) => (await servers()).startClassicHub(...options),
  startWebPubSubEmulator: async (...options) =>
    (await servers()).startWebPubSubEmulator(...options),
  startAzureSignalr: async (...options) => (await servers()).startAzureSignalr(...options),
  startAppServer: async (...options) => (await servers()).startAppServer(...options),
  startUpstreamHandler: async (...options) => (await servers()).upstreamHandler(...options),
  stdinEnded,
};
