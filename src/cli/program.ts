import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { azureServices, defaultService } from '../base/serviceTraits';
import { signalrEditions } from '../capacity/model';
import type { GroupShape } from '../capacity/start/preset';
import type { Override } from '../scenario/read/overrides';
import { searchKinds } from '../base/searchSummary';
import type { Shell } from './tree/completion';
import type { DoctorDeps } from './commands/doctorCommand';
import type { EstimateDeps } from './commands/estimateCommand';
import { exporters } from '../run/export/exporters';
import { runCommand, type RunDeps } from './commands/runCommand';
import { reportFailure } from './commands/runReports';
import type { ServeDeps } from './commands/serveCommand';
import type { ValidateDeps } from './commands/validateCommand';
import {
  type AddCommands,
  amountParser,
  type CarryOut,
  runTree,
  parseShareFlag,
  parseTimes,
  parseWhole,
  wholeNumberParser,
  withExample,
  addServe,
} from './tree/commandTree';
import { exitCodeText } from './exitCode';
import type { ProcessIo } from './io';
import { onDemand, type OnDemand } from './loadOnDemand';
import { addAgentOptions, addAgents, addClusterOptions, PlacedOption } from './tree/agentTree';
import { parseDurationMs } from '../base/units';
import { fastestReplay, slowestReplay } from '../usecases/cases/session';

// Repeated here: their definitions load code that few commands need.
const shells: readonly Shell[] = ['bash', 'zsh', 'fish', 'pwsh'];
const groupShapes: readonly GroupShape[] = ['small', 'big', 'tiny'];
/** Hidden command of the completion scripts: a line per candidate, with a tab before its description. */
const askingCommand = '__complete';

export type CommandDeps = RunDeps & EstimateDeps & ValidateDeps & DoctorDeps & ServeDeps;

/** Runs a command line and returns its exit code. Never throws. */
export const runProgram = (
  args: readonly string[],
  io: ProcessIo,
  deps: CommandDeps,
  commands = onDemand,
): Promise<number> =>
  runTree<OnDemand>(args, io, {
    deps,
    commands,
    ...(args[0] === 'run' && { failed: (why: string) => reportFailure(args, why, io) }),
    grow: (program, carryOut) => {
      withExample(program, `run examples/echo.yaml --target local\n${exitCodeText}`);
      for (const add of [
        addRun,
        addAgents,
        addInit,
        addReading,
        addComparing,
        addFormats,
        addServe,
        addRecord,
        addDoctor,
      ])
        add(program, carryOut);
      addShellCommands(program, carryOut, io);
    },
  });

type Add = AddCommands<OnDemand>;

const notInCluster = (...option: [string, string, ((text: string) => unknown)?]): PlacedOption =>
  new PlacedOption(['here', 'hosts'], ...option);

const here = (...option: [string, string, (text: string) => unknown]): PlacedOption =>
  new PlacedOption(['here'], ...option);

const tolerance = amountParser('a percentage, such as 10%', [0, 10], parseShareFlag);
const price = amountParser('an amount, such as 1.2', [0, Infinity]);

const replayOptions = (): readonly Option[] => [
  here(
    '--clients <times>',
    'of a recording: replay each client this many times, such as x50',
    amountParser('how often, from x1 to x1000000, such as x50', [1, 1_000_000], (text) =>
      parseWhole(String(parseTimes(text))),
    ),
  ),
  here(
    '--speed <factor>',
    'of a recording: so many times as fast, such as 2',
    amountParser(
      `a number from ${slowestReplay} to ${fastestReplay}, such as 2`,
      [slowestReplay, fastestReplay],
      parseTimes,
    ),
  ),
  here(
    '--spread <duration>',
    'of a recording: replays of one client begin over this time (default: 1s)',
    amountParser('a duration from 0s to 24h, such as 10s', [0, 86_400_000], parseDurationMs),
  ),
];

const addRun: Add = (program, carryOut) => {
  const run = withExample(
    program.command('run'),
    `run chat-room.yaml --target http://localhost:5050/signalrbench --set config.connections=100\n${exitCodeText}`,
  )
    .description('Run a scenario file, show it live, and keep its result.')
    .argument('<file>', 'scenario file, - for standard input; or a recording, to replay it')
    .option(
      '--target <target>',
      'local, a hub URL or a connection string, in place of the one in the file',
    )
    .option('--set <key=value>', 'override any key of the file; may be repeated', setKey)
    .option('--out <dir>', 'folder the result folders are made in', '.signalr-bench')
    .option('--json', 'print the result as JSON on standard output and nothing else there')
    .option('--seed <n>', 'seed of everything random', wholeNumberParser(0, 4_294_967_295))
    .option(
      '--workers <n>',
      'worker threads; default: one less than the cores',
      wholeNumberParser(1, 256),
    )
    .option(
      '--processes <n>',
      'processes that share the load, with one worker each; auto: as many as it takes',
      amountParser('auto, or a whole number from 1 to 256', [0, 256], (text) =>
        text === 'auto' ? 0 : parseWhole(text),
      ),
    )
    .addOption(
      new Option(
        '--search [what]',
        'find the highest value that keeps the objectives, of senders unless the file or this says else',
      ).choices(searchKinds),
    )
    .option('--no-search', 'run the steps of a file that has a search')
    .option('--budget <duration>', 'time for a search, such as 10m')
    .option('--precision <share>', 'width of the interval at which a search ends, such as 5%')
    .option(
      '--repeat <n>',
      'run all steps this many times, and say how far they lie apart',
      wholeNumberParser(1, 100),
    )
    .addOption(
      notInCluster(
        '--baseline <which>',
        'compare with an earlier run: last, best, kept (made by baseline) or a result',
      ),
    )
    .addOption(
      notInCluster(
        '--tolerance <share>',
        'change up to which nothing is called worse than the baseline (default: 10%)',
        tolerance,
      ),
    )
    .option('--keep-going', 'go on after a step that missed an objective')
    .addOption(
      notInCluster('--html <file>', 'write a report as a page with charts, whatever the verdict'),
    )
    .addOption(
      notInCluster('--md <file>', 'write a report as Markdown, such as for a pull request'),
    )
    .addOption(notInCluster('--junit <file>', 'write the objectives as JUnit test cases, for CI'))
    .addOption(
      notInCluster(
        '--metrics-port <n>',
        'serve OpenMetrics on this port of loopback during the run, 0 for any free one',
        wholeNumberParser(0, 65_535),
      ),
    )
    .addOption(
      notInCluster('--otlp <url>', 'push metrics to an OpenTelemetry collector during the run'),
    )
    .option('--yes', 'agree to other machines and to commands of the scenario')
    .action(carryOut(() => runCommand));
  for (const option of replayOptions()) run.addOption(option);
  addAgentOptions(run);
};

const addInit: Add = (program, carryOut) => {
  withExample(program.command('init'), 'init rooms.yaml --use-case sendToGroup --unit 10')
    .description('Write a scenario file with the set-up of the performance guides for a size.')
    .argument('[file]', 'file to write; without it the scenario goes to standard output')
    .option(
      '--use-case <name>',
      'use case, such as broadcast (default: echo, for webpubsub sendToGroup)',
    )
    .option('--unit <n>', 'size in Units', wholeNumberParser(1, 1000), 1)
    .addOption(
      new Option('--service <name>', 'service whose published tables count')
        .choices(azureServices)
        .default(defaultService),
    )
    .addOption(
      new Option(
        '--groups <size>',
        'small: ten members each; big: ten groups; tiny: a group for each connection',
      )
        .choices(groupShapes)
        .default('small'),
    )
    .option('--force', 'replace a file that is there')
    .action(carryOut(({ initCommand }) => initCommand));
};

const addReading: Add = (program, carryOut) => {
  withExample(program.command('validate'), 'validate examples/*.yaml')
    .description('List the problems of scenario files.')
    .argument('<file...>', 'scenario files, - for standard input')
    .option('--json', 'print the problems as a JSON list')
    .action(carryOut(({ validateCommand }) => validateCommand));
  withExample(program.command('estimate'), 'estimate chat-room.yaml --headroom 0.7')
    .description('Say how many Units a scenario needs, from the published tables.')
    .argument('<file>', 'scenario file, - for standard input')
    .addOption(
      new Option('--edition <name>', 'edition of the SignalR guide').choices(signalrEditions),
    )
    .option(
      '--headroom <share>',
      'share of the limits to plan for, such as 0.7',
      amountParser('a number above 0 and up to 1, such as 0.7', [1e-6, 1], parseShareFlag),
    )
    .option('--message-price <amount>', 'price of a million messages beyond the included', price)
    .option('--unit-price <amount>', 'price of one Unit for an hour', price)
    .option(
      '--hours <n>',
      'hours that the prices are for (default: 720, 30 days)',
      amountParser('a number of hours, above 0 and up to 87600', [1e-6, 87_600]),
    )
    .option('--json', 'print the estimate as JSON')
    .action(carryOut(({ estimateCommand }) => estimateCommand));
  withExample(program.command('show'), 'show .signalr-bench/2026-11-21T14-02-11-echo')
    .description('Show the last screen of a stored run.')
    .argument('<result>', 'result folder or result.json')
    .option(
      '--summary',
      'print a short summary in the order of the Azure SignalR benchmark instead',
    )
    .action(carryOut(({ showCommand }) => showCommand));
};

const addComparing: Add = (program, carryOut) => {
  withExample(
    program.command('compare'),
    `compare .signalr-bench/2026-11-21T14-02-11-echo .signalr-bench/2026-11-22T09-15-00-echo\n${exitCodeText}`,
  )
    .description('Say whether a run is worse than an earlier one, beyond what chance does.')
    .argument('<baseline>', 'result folder or result.json that the others are compared with')
    .argument('<result...>', 'result folders or result.json')
    .option(
      '--tolerance <share>',
      'change up to which nothing is called better or worse (default: 10%)',
      tolerance,
    )
    .option('--json', 'print the comparison as JSON')
    .addOption(
      new Option('--format <format>', 'md: a comment for a pull request').choices([
        'text',
        'json',
        'md',
      ]),
    )
    .action(carryOut(({ compareCommand }) => compareCommand));
  withExample(program.command('baseline'), 'baseline .signalr-bench/2026-11-21T14-02-11-echo')
    .description('Make a result the baseline of its scenario, for run --baseline kept.')
    .argument('<result>', 'result folder')
    .action(carryOut(({ baselineCommand }) => baselineCommand));
};

const addFormats: Add = (program, carryOut) => {
  const words = exporters.map((exporter) => `${exporter.name}: ${exporter.words}`).join('; ');
  withExample(
    program.command('export'),
    'export .signalr-bench/2026-11-21T14-02-11-echo --format csv',
  )
    .description('Write a stored run in another format.')
    .argument('<result>', 'result folder or result.json')
    .addOption(
      new Option('--format <format>', words)
        .choices(exporters.map(({ name }) => name))
        .makeOptionMandatory(),
    )
    .option('--out <file>', 'file to write (default: standard output)')
    .action(carryOut(({ exportCommand }) => exportCommand));
  withExample(program.command('import'), 'import chat.recording.jsonl --out chat.signalr.yaml')
    .description(
      'Make a scenario of what clients did: of a recording, a HAR file or a log of the JavaScript client. Or summarize a counter file of the Azure SignalR benchmark.',
    )
    .argument('<file>', 'recording, HAR file, log, or counters.txt')
    .option('--out <file>', 'scenario file to write (default: standard output)')
    .option('--force', 'replace a file that is there')
    .option('--json', 'print what was recognised, or the summary, as JSON')
    .action(carryOut(({ importCommand }) => importCommand));
};

const addDoctor: Add = (program, carryOut) => {
  const doctor = withExample(
    program.command('doctor'),
    "doctor --target http://localhost:5050/signalrbench\n  signalr-bench doctor --target '${env:AZURE_SIGNALR}'\n  signalr-bench doctor --on kubernetes --namespace load --agents 5",
    'Examples',
  )
    .description(
      'Say what this machine can do, whether a hub can be measured or a service accepts the key, or whether a run would start in a cluster.',
    )
    .option(
      '--target <url>',
      "URL of a hub (C# of one with all methods is printed where it lacks some), or a service's connection string",
    )
    .addOption(
      new PlacedOption(
        ['here'],
        '--set <key=value>',
        'key of a scenario that the target needs, such as config.insecureTls=true; may be repeated',
        setKey,
      ),
    )
    .option('--json', 'print the findings as JSON')
    .option('--yes', 'connect to another machine that the hub redirects to without asking')
    .action(carryOut(({ doctorCommand }) => doctorCommand));
  addClusterOptions(doctor);
};

function addShellCommands(program: Command, carryOut: CarryOut<OnDemand>, io: ProcessIo): void {
  withExample(program.command('keys'), 'keys config.arrivingRate')
    .description('List the keys of scenario files, or say all about one.')
    .argument('[key]', 'such as config.arrivingRate, or config for all below it')
    .option('--json', 'print the keys as a JSON list')
    .action(carryOut(({ keysCommand }) => keysCommand));
  program
    .command('completion')
    .description('Print the script that completes commands, options and keys in a shell.')
    .addHelpText('after', '\nExample:\n  source <(signalr-bench completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action(
      carryOut(
        ({ printScript }) =>
          (shell: Shell) =>
            printScript(shell, askingCommand, io),
      ),
    );
  program
    .command(askingCommand, { hidden: true })
    .argument('[words...]')
    .action(
      carryOut(
        ({ completeWords }) =>
          (words: readonly string[]) =>
            completeWords(program, words, io),
      ),
    );
}

function setKey(text: string, previous: readonly Override[] = []): readonly Override[] {
  const equals = text.indexOf('=');
  const path = text.slice(0, Math.max(0, equals)).trim();
  if (path === '')
    throw new InvalidArgumentError('Expected key=value, such as config.connections=100.');
  return [...previous, { path, value: text.slice(equals + 1) }];
}

const addRecord: AddCommands<OnDemand> = (program, carryOut) => {
  withExample(
    program.command('record'),
    'record --target http://localhost:5050/chat --out chat.signalr.yaml\n\nThe first line on standard output is {"url":…}: what clients use in place of the target.',
  )
    .description('Record what clients of a hub do, through a proxy on this machine.')
    .requiredOption(
      '--target <url>',
      'URL that clients begin with: of the hub, or of what answers negotiate',
    )
    .option('--port <n>', 'port on loopback, 0 for any free one', wholeNumberParser(0, 65_535), 0)
    .option('--out <file>', 'scenario to write; the recording goes beside it')
    .option(
      '--for <duration>',
      'end by itself, such as 60s',
      amountParser(
        'a duration from 1s to 168h, such as 60s',
        [1000, 7 * 24 * 3_600_000],
        parseDurationMs,
      ),
    )
    .option('--until-gone', 'end when all clients have been gone for 5 s')
    .option('--ca-file <file>', "authority of the target's certificate, in PEM form")
    .option('--insecure-tls', 'accept any certificate of the target, for test systems only')
    .option('--force', 'replace files that are there')
    .option('--json', 'print what was recorded as JSON')
    .addOption(new Option('--exit-with-stdin').hideHelp())
    .action(carryOut(({ recordCommand }) => recordCommand));
};
