/** What `serve` offers: the hub and the emulators for people, and the servers that runs start. */
import { type Command, Option } from 'commander';
import type * as Commands from '../commands/serveCommand';
import type { ServeDeps } from '../commands/serveCommand';
import { stdinEnded } from '../io';
import { wholeNumber, withExample, type AddCommands } from './commandTree';

type ServeCommands = Pick<
  typeof Commands,
  'serveHub' | 'serveAzureSignalr' | 'serveWebPubSub' | 'serveAppServer' | 'serveUpstream'
>;

export const addServe: AddCommands<ServeCommands> = (program, carryOut) => {
  const serve = withExample(program.command('serve'), 'serve hub --port 0').description(
    'Serve something to put load on, on this machine only.',
  );
  // For the processes that runs start.
  const server = (name: string, hidden = false): Command =>
    serve
      .command(name, { hidden })
      .addOption(new Option('--exit-with-stdin', 'end when standard input ends').hideHelp());
  const onPort = (command: Command, port: number): Command =>
    command.option(
      '--port <n>',
      'port on loopback, 0 for any free one',
      wholeNumber(0, 65_535),
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

/** What `serve` works with. */
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
