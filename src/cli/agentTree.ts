/** Runs on several machines: what `run` offers for them, and the commands of the other sides. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../base/units';
import type { agentCommand } from './commands/agentCommand';
import type { attachCommand, AttachFlags } from './commands/attachCommand';
import type { ViewParts } from '../session/viewedRun';
import type { ProcessIo } from './io';
import type { onCluster } from './loadOnCluster';
import { wholeNumber, withExample, type AddCommands } from './commandTree';

interface AgentCommands {
  readonly agentCommand: typeof agentCommand;
  readonly attachCommand: typeof attachCommand;
  readonly onCluster: typeof onCluster;
}

/** What every command gets beside its words and flags. */
type WorkedWith = [io: ProcessIo, deps: ViewParts];
type Cluster = Awaited<ReturnType<typeof onCluster>>;

// Written out: where they are defined comes with code that only some commands load.
const agentPlaces = ['hosts', 'kubernetes'];
const busWords = 'NATS server on which they meet (default: SIGNALR_BENCH_BUS)';

/** Which cluster, and where in it. */
const addPlaceOptions = (command: Command): Command =>
  command
    .option('--namespace <name>', 'namespace of the cluster (default: that of the context)')
    .option('--context <name>', 'context of kubectl (default: the current one)')
    .option('--kubectl <program>', 'kubectl to use (default: the one on the path)');

const addImageOptions = (command: Command): Command =>
  command
    .option('--image <image>', 'image with Node 20 or newer', 'node:22-slim')
    .option('--bus-image <image>', 'image of the NATS server', 'nats:2.12');

const agentCount = wholeNumber(1, 1000);

/** What `doctor` says of a cluster. */
export const addClusterOptions = (doctor: Command): Command =>
  addImageOptions(
    addPlaceOptions(
      doctor
        .addOption(
          new Option('--on <where>', 'say whether a run would start in a cluster').choices([
            'kubernetes',
          ]),
        )
        .option('--agents <n>', 'how many agents it shall have room for (default: 1)', agentCount)
        .option('--manifest', 'print the objects that a run makes there, as JSON, and ask nobody'),
    ),
  );

export const addAgentOptions = (run: Command): Command => {
  run
    .addOption(
      new Option(
        '--on <where>',
        'generate the load on agents: hosts that wait on a bus, or kubernetes',
      ).choices(agentPlaces),
    )
    .option('--agents <n>', 'how many agents share the load', agentCount)
    .option('--bus <url>', busWords)
    .option('--run <id>', 'id of the run on the bus (default: a new one)')
    .option('--join-within <duration>', 'time for agents to come (default: 3m)', duration)
    .option(
      '--agent-timeout <duration>',
      'silence after which an agent is lost (default: 30s)',
      duration,
    );
  return addImageOptions(addPlaceOptions(run))
    .option('--secret <name>', 'Secret of the cluster whose keys are environment variables')
    .option('--publish', 'show the run on the bus, for attach, and wait until its end was seen');
};

export const addAgents: AddCommands<AgentCommands> = (program, carryOut) => {
  withExample(program.command('agent'), 'agent --bus nats://10.0.0.4:4222')
    .description('Generate load for runs that are started elsewhere with run --on hosts.')
    .option('--bus <url>', busWords)
    .option('--run <id>', 'take part in this run only, and end with it')
    .option(
      '--alone-after <duration>',
      'stop when nothing was heard of the run for so long (default: 60s)',
      duration,
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
    .option('--bus <url>', busWords)
    .addOption(new Option('--on <where>', 'look at a run of a cluster').choices(['kubernetes']))
    .option('--out <dir>', 'folder the result folders are made in', '.signalr-bench')
    .option('--json', 'print the result as JSON on standard output and nothing else there')
    .action(
      carryOut(
        ({ attachCommand, onCluster }) =>
          async (run: string, flags: AttachFlags & { readonly on?: string }, ...more: WorkedWith) =>
            flags.on === undefined
              ? attachCommand(run, flags, ...more)
              : (await onCluster()).attachInCluster(run, flags, ...more),
      ),
    );
  addPlaceOptions(attach);
  addAgentsOf(program, carryOut);
};

/** Runs of a cluster, whoever has started them. */
const addAgentsOf: AddCommands<AgentCommands> = (program, carryOut) => {
  const agents = withExample(
    program.command('agents'),
    'agents list --namespace load\n  signalr-bench agents logs 3f9a2c1b --namespace load',
    'Examples',
  ).description('Look at the agents of runs in a cluster, and remove what one has left.');
  addPlaceOptions(
    withExample(agents.command('list'), 'agents list --namespace load --context aks-load'),
  )
    .description('List the runs of a namespace with their pods, or the agents that wait on a bus.')
    .option('--bus <url>', 'list the agents that wait on this NATS server instead')
    .option('--json', 'print them as JSON')
    .action(
      carryOut(
        ({ onCluster }) =>
          async (...given: Parameters<Cluster['listAgents']>) =>
            (await onCluster()).listAgents(...given),
      ),
    );
  addPlaceOptions(
    withExample(agents.command('logs'), 'agents logs 3f9a2c1b x7k2p --namespace load'),
  )
    .description('Print the last lines that the pods of a run have written.')
    .argument('<run>', 'id of the run')
    .argument('[agent]', 'name in the list, bus or coordinator (default: all)')
    .option('--tail <n>', 'lines of each pod', wholeNumber(1, 10_000), 100)
    .action(
      carryOut(
        ({ onCluster }) =>
          async (...given: Parameters<Cluster['agentLogs']>) =>
            (await onCluster()).agentLogs(...given),
      ),
    );
  addPlaceOptions(withExample(agents.command('remove'), 'agents remove 3f9a2c1b --namespace load'))
    .description('Remove a run from a cluster with all that it has there.')
    .argument('<run>', 'id of the run')
    .action(
      carryOut(
        ({ onCluster }) =>
          async (...given: Parameters<Cluster['removeAgents']>) =>
            (await onCluster()).removeAgents(...given),
      ),
    );
};

/** Milliseconds, at least a second. */
function duration(text: string): number {
  const value = parseDurationMs(text.trim());
  if (value === undefined || value < 1000)
    throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s.');
  return value;
}
