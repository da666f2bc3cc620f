/** Runs on several machines: what `run` offers for them, and the commands of the other sides. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDurationMs } from '../base/units';
import type { agentCommand } from './commands/agentCommand';
import type { attachCommand } from './commands/attachCommand';
import { wholeNumber, withExample, type AddCommands } from './commandTree';

interface AgentCommands {
  readonly agentCommand: typeof agentCommand;
  readonly attachCommand: typeof attachCommand;
}

// Written out: where they are defined comes with code that only some commands load.
const agentPlaces = ['hosts', 'kubernetes'];
const busWords = 'NATS server on which they meet (default: SIGNALR_BENCH_BUS)';

export const addAgentOptions = (run: Command): Command =>
  run
    .addOption(
      new Option(
        '--on <where>',
        'generate the load on agents: hosts that wait on a bus, or kubernetes',
      ).choices(agentPlaces),
    )
    .option('--agents <n>', 'how many agents share the load', wholeNumber(1, 1000))
    .option('--bus <url>', busWords)
    .option('--run <id>', 'id of the run on the bus (default: a new one)')
    .option('--join-within <duration>', 'time for agents to come (default: 3m)', duration)
    .option(
      '--agent-timeout <duration>',
      'silence after which an agent is lost (default: 30s)',
      duration,
    )
    .option('--namespace <name>', 'namespace of the cluster (default: that of the context)')
    .option('--context <name>', 'context of kubectl (default: the current one)')
    .option('--image <image>', 'image with Node 20 or newer', 'node:22-slim')
    .option('--bus-image <image>', 'image of the NATS server', 'nats:2.12')
    .option('--secret <name>', 'Secret of the cluster whose keys are environment variables')
    .option('--kubectl <program>', 'kubectl to use (default: the one on the path)')
    .option('--publish', 'show the run on the bus, for attach, and wait until its end was seen');

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
  withExample(program.command('attach'), 'attach 3f9a2c1b --bus nats://10.0.0.4:4222')
    .description('Show a run that goes on elsewhere with run --publish, and keep its result.')
    .argument('<run>', 'id of the run')
    .option('--bus <url>', busWords)
    .option('--out <dir>', 'folder the result folders are made in', '.signalr-bench')
    .option('--json', 'print the result as JSON on standard output and nothing else there')
    .action(carryOut(({ attachCommand }) => attachCommand));
};

/** Milliseconds, at least a second. */
function duration(text: string): number {
  const value = parseDurationMs(text.trim());
  if (value === undefined || value < 1000)
    throw new InvalidArgumentError('Expected a duration of at least 1s, such as 30s.');
  return value;
}
