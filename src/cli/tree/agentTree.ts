/** Options and commands for runs on several machines. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { AttachFlags } from '../commands/attachCommand';
import type { ViewParts } from '../../run/viewedRun';
import type { ProcessIo } from '../io';
import type { OnDemand } from '../loadOnDemand';
import { parseDurationFlag, wholeNumberParser, withExample, type AddCommands } from './commandTree';
import { ExpectedError } from '../../base/expectedError';

type WorkedWith = [io: ProcessIo, deps: ViewParts];

const agentPlaces = ['hosts', 'kubernetes'] as const;
const cluster = ['kubernetes'] as const;
const busWords = 'NATS server where agents and run meet (default: SIGNALR_BENCH_BUS)';

const placeOptions = [
  ['--namespace <name>', 'namespace of the cluster (default: that of the context)'],
  ['--context <name>', 'context of kubectl (default: the current one)'],
  ['--kubectl <program>', 'kubectl to use (default: the one on the path)'],
] as const;

function addOptions(command: Command, options: readonly Option[]): Command {
  for (const option of options) command.addOption(option);
  return command;
}

const addPlaceOptions = (command: Command): Command =>
  addOptions(
    command,
    placeOptions.map(([flags, words]) => new PlacedOption(cluster, flags, words)),
  );

const addImageOptions = (command: Command): Command =>
  addOptions(command, [
    new PlacedOption(cluster, '--image <image>', 'image with Node 20 or newer').default(
      'node:22-slim',
    ),
    new PlacedOption(cluster, '--bus-image <image>', 'image of the NATS server').default(
      'nats:2.12',
    ),
  ]);

const agentCount = wholeNumberParser(1, 1000);

export const addClusterOptions = (doctor: Command): Command =>
  refuseMisplaced(
    addImageOptions(
      addPlaceOptions(
        addOptions(doctor, [
          new Option('--on <where>', 'say whether a run would start in a cluster').choices(cluster),
          new PlacedOption(
            cluster,
            '--agents <n>',
            'how many agents it must have room for (default: 1)',
            agentCount,
          ),
          new PlacedOption(
            cluster,
            '--manifest',
            'print the objects that a run makes there, as JSON, and ask nobody',
          ),
        ]),
      ),
    ),
  );

export const addAgentOptions = (run: Command): Command => {
  addOptions(run, [
    new Option(
      '--on <where>',
      'generate the load on agents: hosts that wait on a bus, or kubernetes',
    ).choices(agentPlaces),
    new PlacedOption(agentPlaces, '--agents <n>', 'how many agents share the load', agentCount),
    new PlacedOption(['hosts'], '--bus <url>', busWords),
    new PlacedOption(agentPlaces, '--run <id>', 'id of the run on the bus (default: a new one)'),
    new PlacedOption(
      agentPlaces,
      '--join-within <duration>',
      'time for agents to come (default: 3m)',
      parseDurationFlag,
    ),
    new PlacedOption(
      agentPlaces,
      '--agent-timeout <duration>',
      'silence after which an agent is lost (default: 30s)',
      parseDurationFlag,
    ),
  ]);
  addOptions(addImageOptions(addPlaceOptions(run)), [
    new PlacedOption(
      cluster,
      '--secret <name>',
      'Secret of the cluster whose keys are environment variables',
    ),
    new PlacedOption(
      ['hosts'],
      '--publish',
      'show the run on the bus, for attach, and wait until its end was seen',
    ),
  ]);
  return refuseMisplaced(run);
};

export const addAgents: AddCommands<OnDemand> = (program, carryOut) => {
  withExample(program.command('agent'), 'agent --bus nats://10.0.0.4:4222')
    .description('Generate load for runs that are started elsewhere with run --on hosts.')
    .option('--bus <url>', busWords)
    .option('--run <id>', 'take part in this run only, and end with it')
    .option(
      '--env <name>',
      'let runs refer to this environment variable, beside SIGNALR_BENCH_SECRET_…; may be repeated',
      variable,
    )
    .option(
      '--allow-target <host>',
      'send load to this host, or host:port, and this machine only (default: to any); may be repeated',
      host,
    )
    .option(
      '--alone-after <duration>',
      'stop when nothing was heard of the run for so long (default: 60s)',
      parseDurationFlag,
    )
    .action(carryOut(({ agentCommand }) => agentCommand));
  const attach = withExample(
    program.command('attach'),
    'attach 3f9a2c1b --bus nats://10.0.0.4:4222\n  signalr-bench attach 3f9a2c1b --on kubernetes --namespace load',
    'Examples',
  )
    .description(
      'Show a run that goes on elsewhere, with run --publish or in a cluster, and keep its result.',
    )
    .argument('<run>', 'id of the run')
    .addOption(new PlacedOption(['here'], '--bus <url>', busWords))
    .addOption(new Option('--on <where>', 'look at a run of a cluster').choices(cluster))
    .option('--out <dir>', 'folder the result folders are made in', '.signalr-bench')
    .option('--json', 'print the result as JSON on standard output and nothing else there')
    .action(
      carryOut(
        ({ attachCommand, attachInCluster }) =>
          (run: string, flags: AttachFlags & { readonly on?: string }, ...more: WorkedWith) =>
            (flags.on === undefined ? attachCommand : attachInCluster)(run, flags, ...more),
      ),
    );
  refuseMisplaced(addPlaceOptions(attach));
  addAgentsOf(program, carryOut);
};

const addAgentsOf: AddCommands<OnDemand> = (program, carryOut) => {
  const agents = withExample(
    program.command('agents'),
    'agents list --namespace load\n  signalr-bench agents logs 3f9a2c1b --namespace load',
    'Examples',
  ).description('Look at the agents of runs in a cluster, and remove what one has left.');
  addPlaceOptions(
    withExample(agents.command('list'), 'agents list --namespace load --context aks-load'),
  )
    .description('List the runs of a namespace with their pods, or the agents that wait on a bus.')
    .addOption(
      new Option('--bus <url>', 'list the agents that wait on this NATS server instead').conflicts([
        'namespace',
        'context',
        'kubectl',
      ]),
    )
    .option('--json', 'print them as JSON')
    .action(carryOut(({ listAgents }) => listAgents));
  addPlaceOptions(
    withExample(agents.command('logs'), 'agents logs 3f9a2c1b x7k2p --namespace load'),
  )
    .description('Print the last lines that the pods of a run have written.')
    .argument('<run>', 'id of the run')
    .argument('[agent]', 'name in the list, bus or coordinator (default: all)')
    .option('--tail <n>', 'lines of each pod', wholeNumberParser(1, 10_000), 100)
    .action(carryOut(({ agentLogs }) => agentLogs));
  addPlaceOptions(withExample(agents.command('remove'), 'agents remove 3f9a2c1b --namespace load'))
    .description('Remove a run from a cluster with all that it has there.')
    .argument('<run>', 'id of the run')
    .action(carryOut(({ removeAgents }) => removeAgents));
};

function variable(text: string, before: readonly string[] = []): readonly string[] {
  if (!/^[A-Za-z_]\w*$/.test(text))
    throw new InvalidArgumentError('Expected the name of an environment variable, without value.');
  return [...before, text];
}

function host(text: string, before: readonly string[] = []): readonly string[] {
  const url = `https://${text}`;
  if (!/^[^\s/?#@]+$/.test(text) || !URL.canParse(url))
    throw new InvalidArgumentError('Expected a host, such as hub.example.com, or host:port.');
  const [port = ''] = /:\d{1,5}$/.exec(text) ?? [];
  return [...before, new URL(url).hostname + port];
}

type Place = 'here' | 'hosts' | 'kubernetes';

/** An option for some places only; refused elsewhere, where it would be ignored. */
export class PlacedOption extends Option {
  constructor(
    readonly places: readonly Place[],
    flags: string,
    description: string,
    parse?: (text: string) => unknown,
  ) {
    super(flags, description);
    if (parse !== undefined) this.argParser(parse);
  }
}

/** The hook throws an ExpectedError `flag-without-effect`. */
const refuseMisplaced = (command: Command): Command =>
  command.hook('preAction', () => {
    const on = command.getOptionValue('on') as Exclude<Place, 'here'> | undefined;
    for (const option of command.options) {
      if (!(option instanceof PlacedOption) || option.places.includes(on ?? 'here')) continue;
      if (command.getOptionValueSource(option.attributeName()) === 'cli')
        throw new ExpectedError('flag-without-effect', misplaced(option, on));
    }
  });

function misplaced({ long, places }: PlacedOption, on: string | undefined): string {
  return places.includes('here')
    ? `${long} has no effect with --on ${on}. Nothing was started.`
    : `${long} belongs to ${places.map((place) => `--on ${place}`).join(' or ')}. Nothing was started.`;
}
